"""Tables of non-blocking and persistent calls (`tutti bench --form`)."""

from pathlib import Path

from rich.console import Console

from tutti.bench.conditions_report import NAMES, in_detail
from tutti.bench.forms import FormMeans, FormRow, form_means, form_rows
from tutti.bench.lines import Line, Panel, draw_panels
from tutti.bench.measurements import Cell, Measurements
from tutti.bench.remarks import MODES, load_text, loaded, modes_mark
from tutti.bench.results import Comparison, measured_ranks
from tutti.bench.states import states_of, states_text
from tutti.bench.statistics import centre
from tutti.bench.texts import factor_text, interval_text, kind_text, ratio_text, time_text
from tutti.bench.variants import Variant
from tutti.tables import Table


def ratio_texts(comparison: Comparison | None) -> tuple[str, str]:
    """The ratio and its interval."""
    if comparison is None:
        return "-", "-"
    return modes_mark(comparison) + ratio_text(comparison.ratio), interval_text(comparison.ratio)


def timed_ratio_texts(comparison: Comparison | None) -> tuple[str, str, str]:
    """The time of what a variant is compared with, the ratio and its interval."""
    time = time_text(comparison.centres[0]) if comparison is not None else "-"
    return time, *ratio_texts(comparison)


def _row(row: FormRow, several: bool, with_best: bool) -> list[str]:
    words = [kind_text(row.cell), row.cell.form]
    words += [NAMES[row.cell.condition]] if several else []
    words += [
        time_text(row.start) if row.start is not None else "-",
        time_text(centre(row.over_blocking.other.median)),
        *timed_ratio_texts(row.over_blocking)[:2],
        *timed_ratio_texts(row.over_host),
    ]
    if with_best:
        words += [*timed_ratio_texts(row.over_best.comparison if row.over_best else None)]
        words += [row.over_best.peer.key if row.over_best else "-"]
    return words


def forms_table(measurements: Measurements, rows: list[FormRow]) -> Table:
    """A row for each call in each form; `rows` are of one rank count and variant with Tutti."""
    first = rows[0]
    ranks, variant = first.cell.ranks, first.variant
    several = len(measurements.settings.conditions) > 1
    with_best = any(row.over_best for row in rows)
    under_load = ", load" if loaded(measurements, ranks, variant) else ""
    table = Table(
        title=f"{ranks} ranks: {variant.label}, us, medians of the slowest rank{under_load}",
        title_justify="left",
    )
    for column in ("kind", "form", *(("order",) if several else ())):
        table.add_column(column, no_wrap=True)
    columns = ["start", "start+wait", "blocking", "ratio", "host", "ratio", "95%"]
    for column in columns + (["best peer", "ratio", "95%", "which"] if with_best else []):
        table.add_column(column, justify="left" if column == "which" else "right", no_wrap=True)
    last = None
    for row in rows:
        if last is not None and row.cell.collective != last:
            table.add_section()
        last = row.cell.collective
        table.add_row(*_row(row, several, with_best))
    return table


def host_forms_table(measurements: Measurements, ranks: int, variants: list[Variant]) -> Table:
    """A row for each call in each form: start, whole time and blocking call of the MPIs alone."""
    several = len(measurements.settings.conditions) > 1
    table = Table(title=f"{ranks} ranks, us: start / start+wait / blocking", title_justify="left")
    for column in ("kind", "form", *(("order",) if several else ())):
        table.add_column(column, no_wrap=True)
    by_cell: dict[tuple[str, ...], dict[str, str]] = {}
    for variant in variants:
        table.add_column(variant.label, justify="right")
        for row in form_rows(measurements, ranks, variant):
            order = (NAMES[row.cell.condition],) if several else ()
            name = (kind_text(row.cell), row.cell.form, *order)
            compared = row.over_blocking
            times = (row.start, centre(compared.other.median), centre(compared.base.median))
            texts = ["-" if time is None else time_text(time) for time in times]
            by_cell.setdefault(name, {})[variant.key] = " / ".join(texts)
    for name, cells in by_cell.items():
        table.add_row(*name, *(cells.get(variant.key, "-") for variant in variants))
    return table


def form_means_table(rows: list[FormMeans]) -> Table:
    title = "Geometric means over the kinds of calls (above 1: Tutti's start and wait are faster)"
    table = Table(title=title, title_justify="left")
    table.add_column("ranks", justify="right")
    for column in ("Tutti on", "form", "order"):
        table.add_column(column, no_wrap=True)
    for column in ("own blocking", "95%", "host", "95%", "best peer", "95%", "behind"):
        table.add_column(column, justify="right")
    for row in rows:
        ratios = (row.over_blocking, row.over_host, row.over_best)
        table.add_row(
            str(row.ranks),
            row.variant.label.replace(", Tutti", ""),
            row.form,
            NAMES[row.condition],
            *(
                text
                for ratio in ratios
                for text in ((ratio_text(ratio), interval_text(ratio)) if ratio else ("-", "-"))
            ),
            f"[red]{len(row.behind)}[/]" if row.behind else "-",
        )
    return table


def behind_texts(rows: list[FormMeans]) -> list[str]:
    """One line for each variant with calls that are slower than the best peer's, or the host's."""
    lines = []
    for row in rows:
        if not row.behind:
            continue
        texts = []
        for one in row.behind:
            compared = one.over_best.comparison if one.over_best else one.over_host
            assert compared is not None
            texts.append(f"{kind_text(one.cell)} {factor_text(compared.ratio.value)}x")
        lines.append(
            f"behind, {row.ranks} ranks, {row.variant.label}, {row.form}, {NAMES[row.condition]}: "
            + ", ".join(texts)
        )
    return lines


def without_persistent_text(measurements: Measurements) -> str:
    """One line that names the MPIs without persistent collectives; empty if there are none."""
    labels = [
        variant.label
        for ranks in measurements.settings.ranks[:1]
        for variant in measurements.settings.variants(ranks)
        if variant.key in measurements.without_persistent
    ]
    if not labels:
        return ""
    return f"no persistent collectives, which came with MPI 4.0: {'; '.join(labels)}"


def show_forms(measurements: Measurements, console: Console) -> None:
    settings = measurements.settings
    means = form_means(measurements)
    for ranks in measured_ranks(measurements):
        variants = settings.variants(ranks)
        for variant in in_detail(variants):
            rows = form_rows(measurements, ranks, variant)
            if rows:
                console.print(forms_table(measurements, rows))
        hosts = [variant for variant in variants if not variant.tutti]
        console.print(host_forms_table(measurements, ranks, hosts))
    if means:
        console.print(form_means_table(means))
    states = states_of(measurements)
    notes = [
        without_persistent_text(measurements),
        *behind_texts(means),
        "start: until the call that starts the operation returned; ratios are times over that of "
        "start+wait",
        *(states_text(states, ranks) for ranks in measured_ranks(measurements)),
        load_text(measurements),
        f"seed {measurements.seed}",
        MODES if any(any(row.over_blocking.modes) for row in _all_rows(measurements)) else "",
    ]
    for line in notes:
        if line:
            console.print(line, highlight=False, markup=False, soft_wrap=True)


def _line(measurements: Measurements, cells: list[Cell], key: str, form: str) -> list[float | None]:
    by_variant = [measurements.cells.get(cell.in_form(form), {}) for cell in cells]
    return [centre(samples[key].median) if key in samples else None for samples in by_variant]


def draw_forms(measurements: Measurements, stem: Path) -> list[Path]:
    """Draws time over size: a panel for each rank count and collective, a line for each form."""
    settings = measurements.settings
    names = [mpi.name for mpi in settings.mpis]
    panels = []
    for ranks in measured_ranks(measurements):
        variants = settings.variants(ranks)
        shown = in_detail(variants) + [variant for variant in variants if not variant.tutti]
        for collective in settings.collectives:
            cells = [
                cell
                for cell in measurements.cells
                if cell.plain and (cell.ranks, cell.collective) == (ranks, collective)
            ]
            lines = [
                Line(
                    f"{variant.label}: {form}",
                    _line(measurements, cells, variant.key, form),
                    names.index(variant.mpi.name),
                    variant.tutti,
                    place,
                )
                for variant in shown
                for place, form in enumerate(("blocking", *settings.forms))
            ]
            panels.append(Panel(f"{collective}, {ranks} ranks", [c.bytes for c in cells], lines))
    return draw_panels(panels, min(4, len(settings.collectives)), "start+wait, us", stem)


def _all_rows(measurements: Measurements) -> list[FormRow]:
    return [
        row
        for ranks in measured_ranks(measurements)
        for variant in measurements.settings.variants(ranks)
        for row in form_rows(measurements, ranks, variant)
    ]
