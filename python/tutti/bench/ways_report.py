"""The tables and plots of calls in several ways (ways.py): a view for each kind."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from tutti.bench.measurements import HALO, NAMES, Cell, Measurements
from tutti.bench.remarks import loaded, show_notes
from tutti.bench.results import Comparison, measured_ranks
from tutti.bench.statistics import centre
from tutti.bench.texts import (
    compared,
    factor_text,
    kind_text,
    optional_time,
    ratio_columns,
    size_text,
    time_text,
    timed,
)
from tutti.bench.variants import Variant, in_detail
from tutti.bench.ways import (
    BESIDE,
    EXCHANGES,
    FORMS,
    WAYS,
    WORKS,
    FormMeans,
    Row,
    every_row,
    form_means,
    kind_of,
    rows_of,
    ways_of,
    whole_of,
)
from tutti.figures import MARKERS, Line, Panel, draw_panels
from tutti.tables import Column, Table, number, table_of, words


@dataclass(frozen=True)
class View:
    """How the rows of a kind are shown."""

    title: str
    columns: Callable[[Measurements], list[Column]]
    section: Callable[[Row], Any]
    names_of_ways: Callable[[str], str]  # for the best peer's way
    notes: tuple[str, ...]
    with_hosts: bool  # a table of its own for each MPI alone
    unit: str  # the plot's unit
    panels: Callable[[Measurements, int], Iterator[Panel]]


def view_of(measurements: Measurements) -> View:
    return VIEWS[kind_of(measurements)]


def _kind_and_form(measurements: Measurements, get: Callable[[Any], Cell]) -> list[Column]:
    several = len(measurements.settings.conditions) > 1
    order = words("order", lambda entry: NAMES[get(entry).condition], no_wrap=True)
    return [
        words("kind", lambda entry: kind_text(get(entry)), no_wrap=True),
        words("form", lambda entry: get(entry).form, no_wrap=True),
        *([order] if several else []),
    ]


def _best(row: Row) -> Comparison | None:
    return row.over_best.comparison if row.over_best else None


def _and_way(names: Callable[[str], str]) -> Callable[[Row], str]:
    """The best peer and the words for its way."""
    return lambda row: (
        f"{row.over_best.peer.key}: {names(row.over_best.way)}" if row.over_best else "-"
    )


def _hosts_and_best(names: Callable[[str], str]) -> list[Column]:
    return [
        *compared(lambda row: row.over_host, "host"),
        *compared(_best, "best peer"),
        words("which", _and_way(names), no_wrap=True),
    ]


def form_columns(measurements: Measurements) -> list[Column]:
    best = [
        *timed(_best, "best peer"),
        words("which", lambda row: row.over_best.peer.key if row.over_best else "-"),
    ]
    several = any(row.over_best for row in every_row(measurements))
    return [
        *_kind_and_form(measurements, lambda row: row.cell),
        number("start", lambda row: optional_time(row.start)),
        number("start+wait", lambda row: time_text(whole_of(row))),
        *timed(lambda row: row.over_usual, "blocking")[:2],
        *timed(lambda row: row.over_host, "host"),
        *(best if several else []),
    ]


def overlap_columns(measurements: Measurements) -> list[Column]:
    return [
        words("kind", lambda row: kind_text(row.cell), no_wrap=True),
        words("bound by", lambda row: row.cell.work, no_wrap=True),
        words("form", lambda row: row.cell.form, no_wrap=True),
        number("alone", lambda row: optional_time(row.alone)),
        number("call, compute", lambda row: time_text(row.over_usual.centres[0])),
        number("start, compute, wait", lambda row: time_text(row.over_usual.centres[1])),
        *compared(lambda row: row.over_usual, "own call"),
    ]


def halo_columns(measurements: Measurements) -> list[Column]:
    return [
        number("face", lambda row: size_text(row.cell.bytes), no_wrap=True),
        words("way", lambda row: WAYS[row.cell.form], no_wrap=True),
        number("start", lambda row: optional_time(row.start, "")),
        number("whole", lambda row: time_text(row.over_usual.centres[1])),
        number("mean", lambda row: time_text(centre(row.over_usual.other.mean))),
        *compared(lambda row: row.over_usual, "by hand"),
    ]


def ways_table(measurements: Measurements, rows: list[Row]) -> Table:
    """A row for each call in each way; `rows` are of one rank count and variant."""
    view, first = view_of(measurements), rows[0]
    under_load = ", load" if loaded(measurements, first.cell.ranks, first.variant) else ""
    columns = view.columns(measurements)
    if first.variant.tutti and kind_of(measurements).best_way:
        columns += _hosts_and_best(view.names_of_ways)
    title = f"{first.cell.ranks} ranks: {first.variant.label}, {view.title}{under_load}"
    return table_of(title, columns, rows, view.section)


def hosts_table(measurements: Measurements, ranks: int, variants: list[Variant]) -> Table:
    """A row for each call in each form: start, whole time and blocking call of the MPIs alone."""
    by_variant = {
        variant: {row.cell: row for row in rows_of(measurements, ranks, variant)}
        for variant in variants
    }

    def texts(cell: Cell, variant: Variant) -> str:
        row = by_variant[variant].get(cell)
        if row is None:
            return "-"
        times = (row.start, whole_of(row), centre(row.over_usual.base.median))
        return " / ".join(map(optional_time, times))

    columns = [
        *_kind_and_form(measurements, lambda cell: cell),
        *(
            number(variant.label, lambda cell, variant=variant: texts(cell, variant))
            for variant in variants
        ),
    ]
    cells = dict.fromkeys(cell for rows in by_variant.values() for cell in rows)
    return table_of(f"{ranks} ranks, us: start / start+wait / blocking", columns, cells)


def form_means_table(means: list[FormMeans]) -> Table:
    columns = [
        number("ranks", lambda row: str(row.ranks)),
        words("Tutti on", lambda row: row.variant.label.replace(", Tutti", ""), no_wrap=True),
        words("form", lambda row: row.form, no_wrap=True),
        words("order", lambda row: NAMES[row.condition], no_wrap=True),
        *ratio_columns(lambda row: row.over_usual, "own blocking"),
        *ratio_columns(lambda row: row.over_host, "host"),
        *ratio_columns(lambda row: row.over_best, "best peer"),
        number("behind", lambda row: f"[red]{len(row.behind)}[/]" if row.behind else "-"),
    ]
    title = "Geometric means over the kinds of calls (above 1: Tutti's start and wait are faster)"
    return table_of(title, columns, means)


def behind_texts(means: list[FormMeans]) -> list[str]:
    """One line for each variant with calls that are slower than the best peer's, or the host's."""
    return [
        f"behind, {row.ranks} ranks, {row.variant.label}, {row.form}, {NAMES[row.condition]}: "
        + ", ".join(
            f"{kind_text(one.cell)} {factor_text(one.over_peers.ratio.value)}x"
            for one in row.behind
            if one.over_peers
        )
        for row in means
        if row.behind
    ]


def without_persistent_text(measurements: Measurements) -> str:
    """One line that names the MPIs without persistent collectives; empty if there are none."""
    labels = [
        variant.label
        for variant in measurements.settings.variants(measurements.settings.ranks[0])
        if variant.key in measurements.without_persistent
    ]
    what = (
        "MPI_Neighbor_alltoallw_init" if measurements.settings.faces else "persistent collectives"
    )
    return f"no {what}, which came with MPI 4.0: {'; '.join(labels)}" if labels else ""


def in_order_text(measurements: Measurements) -> str:
    """One line that names the MPIs that match both faces of one neighbour in order."""
    labels = {v.key: v.label for ranks in measurements.settings.ranks
              for v in measurements.settings.variants(ranks)}  # fmt: skip
    found = sorted(f"{labels[key]} ({WAYS[way]})" for key, way in measurements.in_order)
    if not found:
        return ""
    return (
        "where both neighbours of a dimension are one rank, these match its faces in order, while "
        f"MPI 4.0 asks for the opposite face; they were verified as they match: {'; '.join(found)}"
    )


def show_ways(measurements: Measurements, console: Console) -> None:
    settings, view = measurements.settings, view_of(measurements)
    means = form_means(measurements) if kind_of(measurements) is FORMS else []
    for ranks in measured_ranks(measurements):
        variants = settings.variants(ranks)
        hosts = [variant for variant in variants if not variant.tutti]
        for variant in in_detail(variants) + (hosts if view.with_hosts else []):
            if rows := rows_of(measurements, ranks, variant):
                console.print(ways_table(measurements, rows))
        if not view.with_hosts:
            console.print(hosts_table(measurements, ranks, hosts))
    if means:
        console.print(form_means_table(means))
    first = [without_persistent_text(measurements), *behind_texts(means)]
    first += [in_order_text(measurements), *view.notes]
    usual = [row.over_usual for row in every_row(measurements)]
    show_notes(measurements, console, [*first], usual)


def _line(
    measurements: Measurements, cells: list[Cell], variant: Variant, way: str, label: str
) -> Line:
    """The times of a variant in a way, over the sizes of the cells."""
    settings = measurements.settings
    by_variant = [measurements.cells.get(cell.in_form(way), {}) for cell in cells]
    setting = "" if variant.setting == "default" else f", {variant.setting}"
    who = ("Tutti" if variant.tutti else "host") + setting
    who = who if settings.faces else variant.label
    names = [mpi.name for mpi in settings.mpis]
    place = ways_of(measurements).index(way)
    return Line(
        f"{who}: {label}",
        [centre(one[variant.key].median) if variant.key in one else None for one in by_variant],
        place if settings.faces else names.index(variant.mpi.name),
        "-" if variant.tutti else "--",
        MARKERS[(place + settings.overlap) % len(MARKERS)],
    )


def _collective_panels(
    measurements: Measurements, ranks: int, work: str, names: dict[str, str]
) -> Iterator[Panel]:
    """A panel for each collective, beside a loop or alone."""
    settings = measurements.settings
    variants = settings.variants(ranks)
    shown = in_detail(variants) + [variant for variant in variants if not variant.tutti]
    for collective in settings.collectives:
        cells = [
            cell
            for cell in measurements.cells
            if (cell.ranks, cell.collective, cell.work, cell.form, cell.condition)
            == (ranks, collective, work, "blocking", "plain")
        ]
        bound = f", bound by {work}" if work != "none" else ""
        yield Panel(
            f"{collective}, {ranks} ranks{bound}",
            [cell.bytes for cell in cells],
            [
                _line(measurements, cells, variant, form, names.get(form, form))
                for variant in shown
                for form in ways_of(measurements)
            ],
        )


def _overlap_panels(measurements: Measurements, ranks: int) -> Iterator[Panel]:
    names = {
        "blocking": "call, then compute",
        "nonblocking": "start, compute, wait",
        "persistent": "start, compute, wait (persistent)",
    }
    for work in WORKS:
        yield from _collective_panels(measurements, ranks, work, names)


def _halo_panels(measurements: Measurements, ranks: int) -> Iterator[Panel]:
    settings = measurements.settings
    cells = [Cell(ranks, HALO, face) for face in settings.faces]
    for mpi in settings.mpis:
        lines = [
            _line(measurements, cells, variant, way, words)
            for variant in settings.variants(ranks)
            if variant.mpi == mpi
            for way, words in WAYS.items()
        ]
        yield Panel(f"{mpi.label}, {ranks} ranks", list(settings.faces), lines)


def draw_ways(measurements: Measurements, stem: Path) -> list[Path]:
    """Draws time over size: panels of each rank count."""
    settings, view = measurements.settings, view_of(measurements)
    panels = [
        panel
        for ranks in measured_ranks(measurements)
        for panel in view.panels(measurements, ranks)
    ]
    columns = min(3, len(settings.mpis)) if settings.faces else min(4, len(settings.collectives))
    return draw_panels(panels, view.unit, stem, columns)


VIEWS = {
    FORMS: View(
        title="us, medians of the slowest rank",
        columns=form_columns,
        section=lambda row: row.cell.collective,
        names_of_ways=str,
        notes=(
            "start: until the call that starts the operation returned; ratios are times over that of "
            "start+wait",
        ),
        with_hosts=False,
        unit="start+wait, us",
        panels=lambda measurements, ranks: _collective_panels(measurements, ranks, "none", {}),
    ),
    BESIDE: View(
        title="whole times in us, medians of the slowest rank",
        columns=overlap_columns,
        section=lambda row: row.cell.in_form("").beside(""),
        names_of_ways=str,
        notes=(
            "alone: the computation without a call",
            "own call, host, best peer: their whole times over that of start, compute, wait; the best "
            "peer is the fastest of the MPIs and ways, call and then compute included",
        ),
        with_hosts=True,
        unit="whole time, us",
        panels=_overlap_panels,
    ),
    EXCHANGES: View(
        title="exchange of six faces, us, medians of the slowest rank",
        columns=halo_columns,
        section=lambda row: row.cell.bytes,
        names_of_ways=lambda name: WAYS[name],
        notes=(
            "the ways but Isend, Irecv are neighbourhood collectives; by hand (Isend, Irecv on the "
            "host MPI), host, best peer: their times over the row's time",
        ),
        with_hosts=True,
        unit="exchange of six faces, us",
        panels=_halo_panels,
    ),
}
