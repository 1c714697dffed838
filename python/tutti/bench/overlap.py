"""Calls beside computations (`tutti bench overlap`).

Each kind is measured beside two loops, one bound by arithmetic and one bound by memory: the
computation alone; the blocking call, then the computation; and the start, the computation and the
wait. All numbers are whole times. A percentage of overlap would look the better the slower the call
is. All variants compute for the same time, which is given or is that of the best peer's blocking
call in a job before the others.
"""

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from tutti.bench.driver import run, run_job
from tutti.bench.measurements import Measurements, Settings
from tutti.bench.variants import Variant


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
