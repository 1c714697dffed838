"""Calls in several ways: non-blocking and persistent beside blocking ones (`tutti bench forms`),
beside computations (`tutti bench overlap`), and exchanges of ghost cells (`tutti bench halo`).

Each call of a variant is compared with the kind's usual way, with the host MPI in the same way, and
with the best peer. Times are compared repetition by repetition. Beside a computation all numbers
are whole times: a percentage of overlap would look the better the slower the call is.

In an exchange of ghost cells the ranks form a periodic Cartesian communicator, and each exchanges
the six faces of a cube with its neighbours, as a 7-point stencil needs it. Each rank rewrites its
cells before each exchange, and every ghost cell is verified after it.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from tutti.bench.measurements import Cell, Measurements
from tutti.bench.results import (
    AgainstBest,
    Comparison,
    against_best,
    by_collective,
    comparison_of,
    measured_ranks,
    peers_of,
    ratios_json,
)
from tutti.bench.statistics import Ratio, centre, geometric_mean
from tutti.bench.variants import Variant, host_of
from tutti.rows import grouped

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
    """A kind of measurement: what each way is compared with, and the words for it in JSON."""

    usual: str  # the way that others are compared with
    usual_of_host: bool  # True: the usual way is that of the host MPI, not of the same variant
    best_way: str  # the word for the best peer's way in JSON; empty: the same way
    over_usual: str  # the word for the usual way in JSON
    head: Callable[[Measurements, Row], dict[str, Any]]  # the first words of JSON


FORMS = Kind(
    usual="blocking",
    usual_of_host=False,
    best_way="",
    over_usual="over_blocking",
    head=lambda measurements, row: (
        row.cell.words | {"variant": row.variant.key, "start_us": row.start}
    ),
)
BESIDE = Kind(
    usual="blocking",
    usual_of_host=False,
    best_way="form",
    over_usual="over_blocking",
    head=lambda measurements, row: (
        row.cell.words
        | {"variant": row.variant.key, "computing_us": row.computing, "alone_us": row.alone}
    ),
)
EXCHANGES = Kind(
    usual=BY_HAND,
    usual_of_host=True,
    best_way="way",
    over_usual="over_by_hand",
    head=lambda measurements, row: {
        "ranks": row.cell.ranks,
        "face_bytes": row.cell.bytes,
        "way": row.cell.form,
        "variant": row.variant.key,
        "in_order": (row.variant.key, row.cell.form) in measurements.in_order,
        "start_us": row.start,
    },
)


def ways_of(measurements: Measurements) -> tuple[str, ...]:
    return (
        tuple(WAYS) if measurements.settings.faces else ("blocking", *measurements.settings.forms)
    )


def kind_of(measurements: Measurements) -> Kind:
    settings = measurements.settings
    if settings.faces:
        return EXCHANGES
    return BESIDE if settings.overlap else FORMS


def _row(measurements: Measurements, kind: Kind, cell: Cell, variant: Variant) -> Row:
    cells, mine = measurements.cells, measurements.cells[cell][variant.key]
    host = host_of(peers_of(measurements, cell.ranks), variant) if variant.tutti else None
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


def whole_of(row: Row) -> float:
    """The median of the whole time, in microseconds."""
    return centre(row.over_usual.other.median)


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
    groups = grouped(
        (row for row in every_row(measurements, FORMS) if row.variant.tutti),
        lambda row: (row.cell.ranks, row.variant, row.cell.form, row.cell.condition),
    )
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


def _row_json(measurements: Measurements, kind: Kind, row: Row) -> dict[str, Any]:
    best = row.over_best
    way = {kind.best_way: best.way} if best and kind.best_way else {}
    return kind.head(measurements, row) | {
        "median_us": whole_of(row),
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
