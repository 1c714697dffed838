"""Non-blocking and persistent calls beside the blocking ones (`tutti bench --form`).

Three questions are asked of each call with Tutti that is waited for at once. How long does its
start take, and the whole? How much faster is it than the same call of the host MPI, and of the best
peer in that form? How does it compare with Tutti's own blocking call? Times are compared repetition
by repetition.
"""

from dataclasses import asdict, dataclass
from typing import Any

from tutti.bench.measurements import Cell, Measurements
from tutti.bench.peers import AgainstBest, against_best, peers_of
from tutti.bench.results import Comparison, by_collective, comparison_of, measured_ranks
from tutti.bench.statistics import Ratio, centre, geometric_mean
from tutti.bench.variants import Variant


@dataclass(frozen=True)
class FormRow:
    """One call of a variant in a form, under one condition. Each comparison has it as `other`."""

    variant: Variant
    cell: Cell
    start: float | None  # microseconds until the start returned; None without a sample
    over_blocking: Comparison  # `base`: the same variant's blocking call
    over_host: Comparison | None  # `base`: the host MPI in the same form; None if not measured
    over_best: AgainstBest | None  # None with fewer than two peers, or without Tutti


def host_of(measurements: Measurements, ranks: int, variant: Variant) -> Variant | None:
    """The variant without Tutti of the same MPI and setting; None if `variant` is without Tutti."""
    if not variant.tutti:
        return None
    return next(
        (
            one
            for one in peers_of(measurements, ranks)
            if (one.mpi, one.setting) == (variant.mpi, variant.setting)
        ),
        None,
    )


def form_row(measurements: Measurements, cell: Cell, variant: Variant) -> FormRow:
    by_variant = measurements.cells[cell]
    mine = by_variant[variant.key]
    blocking = measurements.cells[cell.in_form("blocking")][variant.key]
    host = host_of(measurements, cell.ranks, variant)
    peers = [one for one in peers_of(measurements, cell.ranks) if one.key in by_variant]
    return FormRow(
        variant,
        cell,
        centre(mine.start) if mine.start else None,
        comparison_of(cell, blocking, mine),
        comparison_of(cell, by_variant[host.key], mine) if host in peers and host else None,
        against_best(measurements, cell, peers, variant)
        if variant.tutti and len(peers) > 1
        else None,
    )


def in_forms(measurements: Measurements, ranks: int, beside: bool) -> list[Cell]:
    """The calls in other forms than blocking, beside computations or not, by kind and form.

    An MPI without persistent collectives may have run first, so the order is not that in which
    cells were added.
    """
    return [
        cell.in_form(form)
        for cell in measurements.cells
        if cell.ranks == ranks and cell.form == "blocking" and (cell.work != "none") == beside
        for form in measurements.settings.forms
        if cell.in_form(form) in measurements.cells
    ]


def form_rows(measurements: Measurements, ranks: int, variant: Variant) -> list[FormRow]:
    """The rows of all calls of a variant, by kind and form."""
    return [
        form_row(measurements, cell, variant)
        for cell in in_forms(measurements, ranks, beside=False)
        if variant.key in measurements.cells[cell]
    ]


@dataclass(frozen=True)
class FormMeans:
    """Geometric means over the calls of one variant in one form under one condition."""

    ranks: int
    variant: Variant
    form: str
    condition: str
    over_blocking: Ratio
    over_host: Ratio | None
    over_best: Ratio | None
    behind: list[
        FormRow
    ]  # the calls whose whole interval against the best peer (or host) is below 1


def _mean(comparisons: list[Comparison]) -> Ratio | None:
    return geometric_mean([one.times for one in comparisons]) if comparisons else None


def _is_behind(row: FormRow) -> bool:
    compared = row.over_best.comparison if row.over_best else row.over_host
    return compared is not None and compared.ratio.behind


def form_means(measurements: Measurements) -> list[FormMeans]:
    """For each rank count, variant with Tutti, form and condition."""
    result = []
    for ranks in measured_ranks(measurements):
        for variant in measurements.settings.variants(ranks):
            every = form_rows(measurements, ranks, variant) if variant.tutti else []
            for group in dict.fromkeys((row.cell.form, row.cell.condition) for row in every):
                rows = [row for row in every if (row.cell.form, row.cell.condition) == group]
                over_blocking = _mean([row.over_blocking for row in rows])
                assert over_blocking is not None
                result.append(
                    FormMeans(
                        ranks,
                        variant,
                        *group,
                        over_blocking,
                        _mean([row.over_host for row in rows if row.over_host]),
                        _mean([row.over_best.comparison for row in rows if row.over_best]),
                        [row for row in rows if _is_behind(row)],
                    )
                )
    return result


def ratios_json(comparison: Comparison) -> dict[str, Any]:
    """The times of a comparison and their ratios; `base` is what the variant is compared with."""
    return {
        "base_median_us": centre(comparison.base.median),
        "base_mean_us": centre(comparison.base.mean),
        "ratio_of_medians": asdict(comparison.by_median),
        "ratio_of_means": asdict(comparison.by_mean),
        "two_modes": any(comparison.modes),
    }


def _row_json(row: FormRow) -> dict[str, Any]:
    mine = row.over_blocking.other
    best = row.over_best
    return row.cell.words | {
        "variant": row.variant.key,
        "start_us": row.start,
        "median_us": centre(mine.median),
        "mean_us": centre(mine.mean),
        "over_blocking": ratios_json(row.over_blocking),
        "over_host": ratios_json(row.over_host) if row.over_host else None,
        "over_best_peer": {"peer": best.peer.key} | ratios_json(best.comparison) if best else None,
    }


def _means_json(means: FormMeans, rows: list[FormRow]) -> dict[str, Any]:
    mine = [row for row in rows
            if (row.cell.form, row.cell.condition) == (means.form, means.condition)]  # fmt: skip
    return {
        "ranks": means.ranks,
        "variant": means.variant.key,
        "form": means.form,
        "condition": means.condition,
        "over_blocking": asdict(means.over_blocking),
        "over_host": asdict(means.over_host) if means.over_host else None,
        "over_best_peer": asdict(means.over_best) if means.over_best else None,
        "over_blocking_by_collective": {
            name: asdict(ratio)
            for name, ratio in by_collective([row.over_blocking for row in mine]).items()
        },
        "behind": len(means.behind),
    }


def forms_json(measurements: Measurements) -> dict[str, Any] | None:
    """None if only blocking calls were measured."""
    if not measurements.settings.forms:
        return None
    return {
        "calls": [
            _row_json(row)
            for ranks in measured_ranks(measurements)
            for variant in measurements.settings.variants(ranks)
            for row in form_rows(measurements, ranks, variant)
        ],
        "geometric_means": [
            _means_json(means, form_rows(measurements, means.ranks, means.variant))
            for means in form_means(measurements)
        ],
        "without_persistent": sorted(measurements.without_persistent),
    }
