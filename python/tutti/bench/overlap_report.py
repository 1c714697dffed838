"""Tables of calls beside computations (`tutti bench --overlap`)."""

from pathlib import Path

from rich.console import Console

from tutti.bench.conditions_report import in_detail
from tutti.bench.forms_report import ratio_texts, without_persistent_text
from tutti.bench.lines import Line, Panel, draw_panels
from tutti.bench.measurements import Cell, Measurements
from tutti.bench.overlap import WAYS, OverlapRow, overlap_rows
from tutti.bench.remarks import MODES, load_text, loaded
from tutti.bench.results import measured_ranks
from tutti.bench.states import states_of, states_text
from tutti.bench.statistics import centre
from tutti.bench.texts import kind_text, time_text
from tutti.tables import Table

TIMES = ("alone", "call, compute", "start, compute, wait", "own call", "95%")
OF_TUTTI = ("host", "95%", "best peer", "95%")


def overlap_table(measurements: Measurements, rows: list[OverlapRow]) -> Table:
    """A row for each kind, loop and form; `rows` are of one rank count and variant."""
    first = rows[0]
    under_load = ", load" if loaded(measurements, first.cell.ranks, first.variant) else ""
    table = Table(
        title=f"{first.cell.ranks} ranks: {first.variant.label}, whole times in us, medians of the "
        f"slowest rank{under_load}",
        title_justify="left",
    )
    for column in ("kind", "bound by", "form"):
        table.add_column(column, no_wrap=True)
    with_tutti = first.variant.tutti
    for column in TIMES + (OF_TUTTI if with_tutti else ()):
        table.add_column(column, justify="right", min_width=9 if column == "95%" else 8)
    if with_tutti:
        table.add_column("which")
    last = None
    for row in rows:
        if last is not None and row.cell.in_form("").beside("") != last:
            table.add_section()
        last = row.cell.in_form("").beside("")
        words = [
            kind_text(row.cell),
            row.cell.work,
            row.cell.form,
            time_text(row.alone),
            *map(time_text, row.over_blocking.centres),
            *ratio_texts(row.over_blocking),
        ]
        if with_tutti:
            words += [*ratio_texts(row.over_host), *ratio_texts(row.over_best)]
            words.append(f"{row.best_peer.key}: {row.best_form}" if row.best_peer else "-")
        table.add_row(*words)
    return table


def show_overlap(measurements: Measurements, console: Console) -> None:
    settings = measurements.settings
    every = []
    for ranks in measured_ranks(measurements):
        variants = settings.variants(ranks)
        shown = in_detail(variants) + [variant for variant in variants if not variant.tutti]
        for variant in shown:
            rows = overlap_rows(measurements, ranks, variant)
            every += rows
            if rows:
                console.print(overlap_table(measurements, rows))
    states = states_of(measurements)
    notes = [
        without_persistent_text(measurements),
        "alone: the computation without a call",
        "own call, host, best peer: their whole times over that of start, compute, wait; the best "
        "peer is the fastest of the MPIs and ways, call and then compute included",
        *(states_text(states, ranks) for ranks in measured_ranks(measurements)),
        load_text(measurements),
        f"seed {measurements.seed}",
        MODES if any(any(row.over_blocking.modes) for row in every) else "",
    ]
    for line in notes:
        if line:
            console.print(line, highlight=False, markup=False, soft_wrap=True)


def _line(measurements: Measurements, cells: list[Cell], key: str, form: str) -> list[float | None]:
    result = []
    for cell in cells:
        samples = measurements.cells.get(cell.in_form(form), {}).get(key)
        result.append(centre(samples.median) if samples else None)
    return result


def _panel(measurements: Measurements, ranks: int, collective: str, work: str) -> Panel:
    settings = measurements.settings
    cells = [
        cell
        for cell in measurements.cells
        if (cell.ranks, cell.collective, cell.work, cell.form)
        == (ranks, collective, work, "blocking")
    ]
    names = [mpi.name for mpi in settings.mpis]
    lines = [
        Line(
            f"{variant.label}: {WAYS[form]}",
            _line(measurements, cells, variant.key, form),
            names.index(variant.mpi.name),
            variant.tutti,
            1 + place,
        )
        for variant in in_detail(settings.variants(ranks))
        + [one for one in settings.variants(ranks) if not one.tutti]
        for place, form in enumerate(("blocking", *settings.forms))
    ]
    title = f"{collective}, {ranks} ranks, bound by {work}"
    return Panel(title, [cell.bytes for cell in cells], lines)


def draw_overlap(measurements: Measurements, stem: Path) -> list[Path]:
    """Draws whole time over size, a panel for each rank count, collective and loop."""
    panels = [
        _panel(measurements, ranks, collective, work)
        for ranks in measured_ranks(measurements)
        for work in ("arithmetic", "memory")
        for collective in measurements.settings.collectives
    ]
    columns = min(4, len(measurements.settings.collectives))
    return draw_panels(panels, columns, "whole time, us", stem)
