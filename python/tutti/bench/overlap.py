"""Calls beside computations (`tutti bench --overlap`).

Each kind is measured beside two loops, one bound by arithmetic and one bound by memory: the
computation alone; the blocking call, then the computation; and the start, the computation and the
wait. All numbers are whole times. A percentage of overlap would look the better the slower the call
is. All variants compute for the same time, which is given or is that of the best peer's blocking
call in a job before the others.
"""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tutti.bench.driver import run, run_job
from tutti.bench.forms import host_of, in_forms, ratios_json
from tutti.bench.measurements import Cell, Measurements, Settings
from tutti.bench.peers import peers_of
from tutti.bench.results import Comparison, comparison_of, measured_ranks
from tutti.bench.statistics import centre
from tutti.bench.variants import Variant

WAYS = {
    "blocking": "call, then compute",
    "nonblocking": "start, compute, wait",
    "persistent": "start, compute, wait (persistent)",
}


def peers(settings: Settings, ranks: int) -> list[Variant]:
    return [variant for variant in settings.variants(ranks) if not variant.tutti]


def jobs(settings: Settings) -> int:
    """The number of jobs, with those that find the durations."""
    return settings.jobs + sum(len(peers(settings, ranks)) for ranks in settings.ranks)


def find_durations(settings: Settings, before_job: Callable[[str], None]) -> dict[int, list[float]]:
    """For each rank count and kind, the microseconds of the best peer's blocking call."""
    alone = replace(settings, overlap=False, forms=())
    result = {}
    with tempfile.TemporaryDirectory(prefix="tutti-bench-") as directory:
        for ranks in settings.ranks:
            times = []
            for variant in peers(settings, ranks):
                before_job(f"how long to compute, {ranks} ranks, {variant.label}")
                cells = run_job(alone, ranks, variant, Path(directory))["cells"]
                times.append([cell["median_us"] for cell in cells])
            result[ranks] = [min(of_kind) for of_kind in zip(*times, strict=True)]
    return result


def measure(
    settings: Settings, microseconds: float | None, before_job: Callable[[str], None]
) -> Measurements:
    """Runs all jobs; the computations take so many microseconds, or as long as a call."""
    if microseconds is not None:
        durations = {ranks: [microseconds] for ranks in settings.ranks}
    else:
        durations = find_durations(settings, before_job)
    return run(replace(settings, durations=durations), before_job)


@dataclass(frozen=True)
class OverlapRow:
    """One kind beside one loop in one form other than blocking, of one variant.

    Each comparison has the variant's whole time as `other`.
    """

    variant: Variant
    cell: Cell  # with its form and loop
    computing: float  # microseconds that the computation was to take
    alone: float  # and took
    over_blocking: Comparison  # `base`: the variant's blocking call, then the computation
    over_host: Comparison | None  # `base`: the host MPI in the same form
    best_peer: Variant | None  # the fastest peer, in whichever form is fastest
    best_form: str
    over_best: Comparison | None  # `base`: that peer in that form


def _row(measurements: Measurements, cell: Cell, variant: Variant) -> OverlapRow:
    cells = measurements.cells
    mine = cells[cell][variant.key]
    host = host_of(measurements, cell.ranks, variant)
    ways = [
        (peer, form)
        for form in ("blocking", *measurements.settings.forms)
        for peer in (peers_of(measurements, cell.ranks) if variant.tutti else [])
        if peer.key in cells.get(cell.in_form(form), {})
    ]
    best = min(
        ways, key=lambda way: centre(cells[cell.in_form(way[1])][way[0].key].median), default=None
    )
    return OverlapRow(
        variant,
        cell,
        measurements.computing[cell],
        centre(cells[cell.in_form("none")][variant.key].median),
        comparison_of(cell, cells[cell.in_form("blocking")][variant.key], mine),
        comparison_of(cell, cells[cell][host.key], mine)
        if host is not None and host.key in cells[cell]
        else None,
        best[0] if best else None,
        best[1] if best else "",
        comparison_of(cell, cells[cell.in_form(best[1])][best[0].key], mine) if best else None,
    )


def overlap_rows(measurements: Measurements, ranks: int, variant: Variant) -> list[OverlapRow]:
    return [
        _row(measurements, cell, variant)
        for cell in in_forms(measurements, ranks, beside=True)
        if variant.key in measurements.cells[cell]
    ]


def _row_json(row: OverlapRow) -> dict[str, Any]:
    mine = row.over_blocking.other
    best = None
    if row.over_best is not None and row.best_peer is not None:
        best = {"peer": row.best_peer.key, "form": row.best_form} | ratios_json(row.over_best)
    return row.cell.words | {
        "variant": row.variant.key,
        "computing_us": row.computing,
        "alone_us": row.alone,
        "median_us": centre(mine.median),
        "mean_us": centre(mine.mean),
        "over_blocking": ratios_json(row.over_blocking),
        "over_host": ratios_json(row.over_host) if row.over_host else None,
        "over_best_peer": best,
    }


def overlap_json(measurements: Measurements) -> dict[str, Any] | None:
    """None if nothing was measured beside computations."""
    if not measurements.settings.overlap:
        return None
    return {
        "durations_us": {str(ranks): times
                         for ranks, times in measurements.settings.durations.items()},
        "rows": [
            _row_json(row)
            for ranks in measured_ranks(measurements)
            for variant in measurements.settings.variants(ranks)
            for row in overlap_rows(measurements, ranks, variant)
        ],
    }  # fmt: skip
