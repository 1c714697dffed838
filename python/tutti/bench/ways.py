"""Calls in several ways: non-blocking and persistent beside blocking ones (`tutti bench forms`),
beside computations (`tutti bench overlap`), and exchanges of ghost cells (`tutti bench halo`).

Each call of a variant is compared with the kind's usual way, with the host MPI in the same way, and
with the best peer. Times are compared repetition by repetition. Beside a computation all numbers
are whole times: a percentage of overlap would look the better the slower the call is.

In an exchange of ghost cells the ranks form a periodic Cartesian communicator, and each exchanges
the six faces of a cube with its neighbours, as a 7-point stencil needs it. Each rank rewrites its
cells before each exchange, and every ghost cell is verified after it.
"""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from tutti.bench.measurements import HALO, NAMES, Cell, Measurements
from tutti.bench.peers import AgainstBest, against_best, peers_of
from tutti.bench.remarks import loaded, show_notes
from tutti.bench.results import (
    Comparison,
    by_collective,
    comparison_of,
    measured_ranks,
    ratios_json,
)
from tutti.bench.statistics import Ratio, centre, geometric_mean
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
from tutti.figures import MARKERS, Line, Panel, draw_panels
from tutti.tables import Column, Table, number, table_of, words

BY_HAND = "isend_irecv"
# The ways to exchange ghost cells: one call of MPI_Neighbor_alltoallw with subarray types, in its
# three forms; messages by hand with the same types; and faces packed by hand.
WAYS = {
    "neighbor_alltoallw": "alltoallw",
    "ineighbor_alltoallw": "Ialltoallw",
    "neighbor_alltoallw_init": "alltoallw_init",
    BY_HAND: "Isend, Irecv",
    "packed_neighbor_alltoall": "packed alltoall",
    "packed_neighbor_alltoallv": "packed alltoallv",
}
WORKS = ("arithmetic", "memory")  # the loops that are computed


@dataclass(frozen=True)
class Row:
    """One call of a variant in one way. Each comparison has it as `other`."""

    variant: Variant
    cell: Cell
    start: float | None  # microseconds until the start returned; None without a sample
    computing: float | None  # microseconds that the computation beside it was to take
    alone: float | None  # and took
    over_usual: Comparison  # `base`: the usual way
    over_host: Comparison | None  # `base`: the host MPI in the same way; None without Tutti
    over_best: AgainstBest | None  # None with too few peers, or without Tutti

    @property
    def over_peers(self) -> Comparison | None:
        """Against the best peer, or the host MPI if there is no other."""
        return self.over_best.comparison if self.over_best else self.over_host


@dataclass(frozen=True)
class Kind:
    """A kind of measurement, and its view: the ways, and what each is compared with."""

    usual: str  # the way that others are compared with
    usual_of_host: bool  # True: the usual way is that of the host MPI, not of the same variant
    best_way: str  # the word for the best peer's way in JSON; empty: the same way
    over_usual: str  # the word for the usual way in JSON
    title: str
    columns: Callable[[Measurements], list[Column]]
    section: Callable[[Row], Any]
    names_of_ways: Callable[[str], str]  # for the best peer's way
    notes: tuple[str, ...]
    with_hosts: bool  # a table of its own for each MPI alone
    head: Callable[[Measurements, Row], dict[str, Any]]  # the first words of JSON
    unit: str  # the plot's unit
    panels: Callable[[Measurements, int], Iterator[Panel]]


def ways_of(measurements: Measurements) -> tuple[str, ...]:
    return (
        tuple(WAYS) if measurements.settings.faces else ("blocking", *measurements.settings.forms)
    )


def kind_of(measurements: Measurements) -> Kind:
    settings = measurements.settings
    if settings.faces:
        return EXCHANGES
    return BESIDE if settings.overlap else FORMS


def host_of(measurements: Measurements, ranks: int, variant: Variant) -> Variant | None:
    """The variant without Tutti of the same MPI and setting; None if `variant` is without Tutti."""
    return next(
        (
            one
            for one in peers_of(measurements, ranks)
            if variant.tutti and (one.mpi, one.setting) == (variant.mpi, variant.setting)
        ),
        None,
    )


def _row(measurements: Measurements, kind: Kind, cell: Cell, variant: Variant) -> Row:
    cells, mine = measurements.cells, measurements.cells[cell][variant.key]
    host = host_of(measurements, cell.ranks, variant)
    usual = host if kind.usual_of_host and host else variant
    ways = ways_of(measurements) if kind.best_way else (cell.form,)
    peers = peers_of(measurements, cell.ranks) if variant.tutti else []
    here = sum(peer.key in cells[cell] for peer in peers)
    in_host = cells[cell].get(host.key) if host else None
    return Row(
        variant,
        cell,
        centre(mine.start) if mine.start else None,
        measurements.computing.get(cell),
        centre(cells[cell.in_form("none")][variant.key].median) if cell.work != "none" else None,
        comparison_of(cell, cells[cell.in_form(kind.usual)][usual.key], mine),
        comparison_of(cell, in_host, mine) if in_host else None,
        against_best(measurements, cell, peers, variant, ways)
        if peers and (kind.best_way or here > 1)
        else None,
    )


def cells_of(measurements: Measurements, ranks: int, kind: Kind) -> list[Cell]:
    """The calls that have rows, by kind and way.

    An MPI without persistent collectives may have run first, so the order is not that in which
    cells were added.
    """
    settings = measurements.settings
    ways = WAYS if settings.faces else settings.forms
    return [
        cell.in_form(way)
        for cell in measurements.cells
        if (cell.ranks, cell.form, cell.work != "none") == (ranks, kind.usual, kind is BESIDE)
        for way in ways
        if cell.in_form(way) in measurements.cells
    ]


def rows_of(
    measurements: Measurements, ranks: int, variant: Variant, kind: Kind | None = None
) -> list[Row]:
    """The rows of all calls of a variant, by kind and way; `kind`: that which is shown if None."""
    kind = kind or kind_of(measurements)
    return [
        _row(measurements, kind, cell, variant)
        for cell in cells_of(measurements, ranks, kind)
        if variant.key in measurements.cells[cell]
    ]


def every_row(measurements: Measurements, kind: Kind | None = None) -> list[Row]:
    return [
        row
        for ranks in measured_ranks(measurements)
        for variant in measurements.settings.variants(ranks)
        for row in rows_of(measurements, ranks, variant, kind)
    ]


@dataclass(frozen=True)
class FormMeans:
    """Geometric means over the calls of one variant in one form under one condition."""

    ranks: int
    variant: Variant
    form: str
    condition: str
    rows: list[Row]
    over_usual: Ratio | None
    over_host: Ratio | None
    over_best: Ratio | None

    @property
    def behind(self) -> list[Row]:
        """The calls whose whole interval against the best peer (or host) is below 1."""
        return [row for row in self.rows if row.over_peers and row.over_peers.ratio.behind]


def _mean(comparisons: list[Comparison]) -> Ratio | None:
    return geometric_mean([one.times for one in comparisons]) if comparisons else None


def form_means(measurements: Measurements) -> list[FormMeans]:
    """For each rank count, variant with Tutti, form and condition."""
    groups: dict[tuple[int, Variant, str, str], list[Row]] = {}
    for row in every_row(measurements, FORMS):
        if row.variant.tutti:
            group = row.cell.ranks, row.variant, row.cell.form, row.cell.condition
            groups.setdefault(group, []).append(row)
    return [
        FormMeans(
            *group,
            rows,
            _mean([row.over_usual for row in rows]),
            _mean([row.over_host for row in rows if row.over_host]),
            _mean([row.over_best.comparison for row in rows if row.over_best]),
        )
        for group, rows in groups.items()
    ]


def _orders(measurements: Measurements) -> list[Column]:
    several = len(measurements.settings.conditions) > 1
    order = words("order", lambda row: NAMES[row.cell.condition], no_wrap=True)
    return [order] if several else []


def _kind_and_form(measurements: Measurements) -> list[Column]:
    return [
        words("kind", lambda row: kind_text(row.cell), no_wrap=True),
        words("form", lambda row: row.cell.form, no_wrap=True),
        *_orders(measurements),
    ]


def _best(row: Row) -> Comparison | None:
    return row.over_best.comparison if row.over_best else None


def _whole(row: Row) -> float:
    return centre(row.over_usual.other.median)


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
        *_kind_and_form(measurements),
        number("start", lambda row: optional_time(row.start)),
        number("start+wait", lambda row: time_text(_whole(row))),
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
    kind, first = kind_of(measurements), rows[0]
    under_load = ", load" if loaded(measurements, first.cell.ranks, first.variant) else ""
    columns = kind.columns(measurements)
    if first.variant.tutti and kind.best_way:
        columns += _hosts_and_best(kind.names_of_ways)
    title = f"{first.cell.ranks} ranks: {first.variant.label}, {kind.title}{under_load}"
    return table_of(title, columns, rows, kind.section)


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
        times = (row.start, _whole(row), centre(row.over_usual.base.median))
        return " / ".join(map(optional_time, times))

    order = words("order", lambda cell: NAMES[cell.condition], no_wrap=True)
    columns = [
        words("kind", kind_text, no_wrap=True),
        words("form", lambda cell: cell.form, no_wrap=True),
        *([order] if len(measurements.settings.conditions) > 1 else []),
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
    settings, kind = measurements.settings, kind_of(measurements)
    means = form_means(measurements) if kind is FORMS else []
    for ranks in measured_ranks(measurements):
        variants = settings.variants(ranks)
        hosts = [variant for variant in variants if not variant.tutti]
        for variant in in_detail(variants) + (hosts if kind.with_hosts else []):
            if rows := rows_of(measurements, ranks, variant):
                console.print(ways_table(measurements, rows))
        if not kind.with_hosts:
            console.print(hosts_table(measurements, ranks, hosts))
    if means:
        console.print(form_means_table(means))
    first = [without_persistent_text(measurements), *behind_texts(means)]
    first += [in_order_text(measurements), *kind.notes]
    usual = [row.over_usual for row in every_row(measurements)]
    show_notes(measurements, console, [*first], usual)


def _row_json(measurements: Measurements, kind: Kind, row: Row) -> dict[str, Any]:
    best = row.over_best
    way = {kind.best_way: best.way} if best and kind.best_way else {}
    return kind.head(measurements, row) | {
        "median_us": _whole(row),
        "mean_us": centre(row.over_usual.other.mean),
        kind.over_usual: ratios_json(row.over_usual),
        "over_host": ratios_json(row.over_host) if row.over_host else None,
        "over_best_peer": {"peer": best.peer.key} | way | ratios_json(best.comparison)
        if best
        else None,
    }


def _means_json(means: FormMeans) -> dict[str, Any]:
    usual = by_collective([row.over_usual for row in means.rows])
    return {
        "ranks": means.ranks,
        "variant": means.variant.key,
        "form": means.form,
        "condition": means.condition,
        "over_blocking": asdict(means.over_usual) if means.over_usual else None,
        "over_host": asdict(means.over_host) if means.over_host else None,
        "over_best_peer": asdict(means.over_best) if means.over_best else None,
        "over_blocking_by_collective": {name: asdict(ratio) for name, ratio in usual.items()},
        "behind": len(means.behind),
    }


def ways_json(measurements: Measurements) -> dict[str, Any]:
    """The documents of the three kinds, by name; None for those that were not measured."""
    settings = measurements.settings

    def rows(kind: Kind) -> list[dict[str, Any]]:
        return [_row_json(measurements, kind, row) for row in every_row(measurements, kind)]

    without_persistent = sorted(measurements.without_persistent)
    forms = {
        "calls": rows(FORMS),
        "geometric_means": [_means_json(means) for means in form_means(measurements)],
        "without_persistent": without_persistent,
    }
    durations = {str(ranks): times for ranks, times in settings.durations.items()}
    return {
        "forms": forms if settings.forms else None,
        "overlap": {"durations_us": durations, "rows": rows(BESIDE)} if settings.overlap else None,
        "halo": {"rows": rows(EXCHANGES), "without_persistent": without_persistent}
        if settings.faces
        else None,
    }


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
    settings, kind = measurements.settings, kind_of(measurements)
    panels = [
        panel
        for ranks in measured_ranks(measurements)
        for panel in kind.panels(measurements, ranks)
    ]
    columns = min(3, len(settings.mpis)) if settings.faces else min(4, len(settings.collectives))
    return draw_panels(panels, kind.unit, stem, columns)


FORMS = Kind(
    usual="blocking",
    usual_of_host=False,
    best_way="",
    over_usual="over_blocking",
    title="us, medians of the slowest rank",
    columns=form_columns,
    section=lambda row: row.cell.collective,
    names_of_ways=str,
    notes=(
        "start: until the call that starts the operation returned; ratios are times over that of "
        "start+wait",
    ),
    with_hosts=False,
    head=lambda measurements, row: (
        row.cell.words | {"variant": row.variant.key, "start_us": row.start}
    ),
    unit="start+wait, us",
    panels=lambda measurements, ranks: _collective_panels(measurements, ranks, "none", {}),
)
BESIDE = Kind(
    usual="blocking",
    usual_of_host=False,
    best_way="form",
    over_usual="over_blocking",
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
    head=lambda measurements, row: (
        row.cell.words
        | {"variant": row.variant.key, "computing_us": row.computing, "alone_us": row.alone}
    ),
    unit="whole time, us",
    panels=_overlap_panels,
)
EXCHANGES = Kind(
    usual=BY_HAND,
    usual_of_host=True,
    best_way="way",
    over_usual="over_by_hand",
    title="exchange of six faces, us, medians of the slowest rank",
    columns=halo_columns,
    section=lambda row: row.cell.bytes,
    names_of_ways=lambda name: WAYS[name],
    notes=(
        "the ways but Isend, Irecv are neighbourhood collectives; by hand (Isend, Irecv on the "
        "host MPI), host, best peer: their times over the row's time",
    ),
    with_hosts=True,
    head=lambda measurements, row: {
        "ranks": row.cell.ranks,
        "face_bytes": row.cell.bytes,
        "way": row.cell.form,
        "variant": row.variant.key,
        "in_order": (row.variant.key, row.cell.form) in measurements.in_order,
        "start_us": row.start,
    },
    unit="exchange of six faces, us",
    panels=_halo_panels,
)
