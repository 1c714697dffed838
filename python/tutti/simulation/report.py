"""The tables of simulations and of the known machines, and plots of time over size."""

from pathlib import Path

from rich.console import Console

from tutti.bench.statistics import SLOWER_BELOW
from tutti.bench.texts import in_colour, size_text, time_text
from tutti.figures import Line, Panel, draw_panels
from tutti.simulation.jobs import Cell
from tutti.simulation.machines import Machine, Memory, Network
from tutti.simulation.results import BEST, Results, notes
from tutti.simulation.variants import TUTTI, Variant
from tutti.tables import Table, table_of, words


def machines_table(machines: list[Machine]) -> Table:
    def link(one: Network | Memory) -> str:
        return f"{one.latency_us + 2 * one.overhead_us:g} us, {one.gigabytes:g} GB/s"

    columns = [
        words("name", lambda one: one.name),
        words("nodes x cores", lambda one: f"{one.nodes} x {one.cores}"),
        words("between nodes", lambda one: link(one.network)),
        words(
            "within a node",
            lambda one: f"{link(one.memory)}, {one.memory.shared_gigabytes:g} shared",
        ),
    ]
    return table_of("Clusters that `tutti sim --machine` knows", columns, machines)


def microseconds_text(time: float | None) -> str:
    return "-" if time is None else time_text(time)


def ratio_text(ratio: float | None) -> str:
    if ratio is None:
        return "-"
    return in_colour(ratio, ratio < SLOWER_BELOW, ratio > 1)


def variant_label(key: str | None) -> str:
    if key is None:
        return "-"
    return "best" if key == BEST else Variant(key).label


def _title(results: Results) -> str:
    settings, machine = results.settings, results.settings.machine
    clusters = f" in {machine.clusters.count} clusters" if machine.clusters.count > 1 else ""
    compared = ", and how many times faster Tutti is" if results.tutti and results.others else ""
    where = f"{machine.name}, {machine.nodes} nodes of {machine.cores}{clusters}"
    return f"{settings.ranks} simulated ranks on {where}: microseconds{compared}"


def _row(results: Results, cell: Cell, roots: bool) -> list[str]:
    row = [cell.collective, "-" if cell.collective == "barrier" else size_text(cell.bytes)]
    if roots:
        row.append(str(cell.root))
    if results.tutti:
        row.append(microseconds_text(results.time(TUTTI, cell)))
    for key in results.compared if results.tutti else results.others:
        row.append(
            variant_label(results.best(cell))
            if key == BEST
            else microseconds_text(results.time(key, cell))
        )
        if results.tutti:
            row.append(ratio_text(results.ratio(key, cell)))
    return row


def _mean_row(results: Results, collective: str, roots: bool) -> list[str]:
    cells = [cell for cell in results.settings.cells if collective in ("all", cell.collective)]
    row = [f"{collective}, mean", *[""] * (2 if roots else 1), ""]
    for key in results.compared:
        row += ["", ratio_text(results.mean(key, cells))]
    return row


def results_table(results: Results) -> Table:
    cells = results.settings.cells
    roots = any(cell.root != 0 for cell in cells)
    table = Table(title=_title(results), title_justify="left")
    for column in ("collective", "size", *(["root"] if roots else [])):
        table.add_column(column)
    for key in [
        *([TUTTI] if results.tutti else []),
        *(results.compared if results.tutti else results.others),
    ]:
        table.add_column(variant_label(key), justify="right")
        if results.tutti and key != TUTTI:
            table.add_column("", justify="right")
    collectives = list(dict.fromkeys(cell.collective for cell in cells))
    for collective in collectives:
        own = [cell for cell in cells if cell.collective == collective]
        for cell in own:
            table.add_row(*_row(results, cell, roots))
        if results.tutti and results.others and len(own) > 1:
            table.add_row(*_mean_row(results, collective, roots), style="bold")
        table.add_section()
    if results.tutti and results.others and len(collectives) > 1:
        table.add_row(*_mean_row(results, "all", roots), style="bold")
    return table


def show(results: Results, console: Console) -> None:
    console.print(results_table(results))
    for note in notes(results):
        console.print(f"note: {note}", highlight=False, markup=False, soft_wrap=True)


def _panel(results: Results, collective: str, root: int, roots: bool) -> Panel:
    settings = results.settings
    cells = [one for one in settings.cells if (one.collective, one.root) == (collective, root)]
    lines = [
        Line(
            Variant(key).label,
            [results.time(key, cell) for cell in cells],
            place,
            "-" if key == TUTTI else "--",
            "o" if key == TUTTI else "x",
            at=(place + 0.5) / len(results.runs) - 0.5,
        )
        for place, key in enumerate(results.runs)
    ]
    title = f"{collective}, root {root}" if roots else collective
    return Panel(title, [cell.bytes for cell in cells], lines)


def draw(results: Results, stem: Path) -> list[Path]:
    """Draws a panel for each collective and root into STEM.png and STEM.svg."""
    settings = results.settings
    roots = any(cell.root != 0 for cell in settings.cells)
    panels = dict.fromkeys((cell.collective, cell.root) for cell in settings.cells)
    return draw_panels(
        [_panel(results, collective, root, roots) for collective, root in panels],
        "simulated us",
        stem,
        title=f"{settings.ranks} simulated ranks on {settings.machine.name}",
    )
