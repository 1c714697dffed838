"""What measurements say: ratios of host to Tutti cell by cell, geometric means, and all of it as JSON."""

import os
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from tutti import __version__
from tutti.bench.driver import Cell, Measurements, Samples
from tutti.bench.statistics import Ratio, centre, compare, geometric_mean
from tutti.bench.variants import Variant

SHORT_BYTES = 65536


@dataclass(frozen=True)
class Comparison:
    """One cell of a host MPI without and with Tutti, under the same setting."""

    cell: Cell
    base: Samples
    other: Samples
    by_median: Ratio
    by_mean: Ratio


@dataclass(frozen=True)
class Summary:
    """Geometric means over the cells of one rank count: of `base` over `other`."""

    ranks: int
    base: Variant
    other: Variant
    short: Ratio | None  # of medians, cells up to SHORT_BYTES
    every: Ratio  # of medians, all cells
    by_mean: Ratio  # of means, all cells
    by_collective: dict[str, Ratio]  # of medians, all sizes of each
    slower_cells: int  # whose interval lies below 0.95


def measured_ranks(measurements: Measurements) -> list[int]:
    """The rank counts with any cell: with many ranks, every size may have been left out."""
    return [ranks for ranks in measurements.settings.ranks if any(cell.ranks == ranks for cell in measurements.cells)]


def pairs(measurements: Measurements, ranks: int) -> list[tuple[Variant, Variant]]:
    """(host, host with Tutti) for every MPI and setting measured with so many ranks."""
    variants = measurements.settings.variants(ranks)
    by_key = {variant.key: variant for variant in variants}
    return [(v, by_key[v.key + "+tutti"]) for v in variants if not v.tutti and v.key + "+tutti" in by_key]


def compare_cells(measurements: Measurements, ranks: int, base: Variant, other: Variant) -> list[Comparison]:
    """In the order measured."""
    result = []
    for cell, by_variant in measurements.cells.items():
        if cell.ranks != ranks:
            continue
        one, two = by_variant[base.key], by_variant[other.key]
        result.append(Comparison(cell, one, two, compare(one.median, two.median), compare(one.mean, two.mean)))
    return result


def _medians(comparisons: Sequence[Comparison]) -> list[tuple[list[float], list[float]]]:
    return [(c.base.median, c.other.median) for c in comparisons]


def by_collective(comparisons: Sequence[Comparison]) -> dict[str, Ratio]:
    """The geometric mean over the sizes of each collective, of medians, in the order measured."""
    names = dict.fromkeys(c.cell.collective for c in comparisons)
    return {name: geometric_mean(_medians([c for c in comparisons if c.cell.collective == name])) for name in names}


def summarise(measurements: Measurements, ranks: int, base: Variant, other: Variant) -> Summary:
    comparisons = compare_cells(measurements, ranks, base, other)
    short = [c for c in comparisons if c.cell.bytes <= SHORT_BYTES]
    return Summary(
        ranks,
        base,
        other,
        geometric_mean(_medians(short)) if short else None,
        geometric_mean(_medians(comparisons)),
        geometric_mean([(c.base.mean, c.other.mean) for c in comparisons]),
        by_collective(comparisons),
        sum(c.by_median.slower for c in comparisons),
    )


def summaries(measurements: Measurements) -> list[Summary]:
    """Tutti against its own hosts, then against the other MPIs, under the same kind of setting."""
    own, others = [], []
    for ranks in measured_ranks(measurements):
        own += [summarise(measurements, ranks, base, other) for base, other in pairs(measurements, ranks)]
        variants = measurements.settings.variants(ranks)
        for other in (v for v in variants if v.tutti and v.setting == "default"):
            for base in (v for v in variants if not v.tutti and v.mpi != other.mpi):
                others.append(summarise(measurements, ranks, base, other))
    return own + others


@dataclass(frozen=True)
class Nearness:
    """How many times the machine's flag exchange a short collective of two ranks takes."""

    cell: Cell
    variant: Variant
    ratio: Ratio


def nearness(measurements: Measurements) -> list[Nearness]:
    """Of barrier and 8-byte allreduce, each job against the flag exchange on its own cores."""
    return [
        Nearness(cell, variant, compare(by_variant[variant.key].median, measurements.flags[cell.ranks, variant.key]))
        for cell, by_variant in measurements.cells.items()
        if (cell.collective, cell.bytes) in (("allreduce", 8), ("barrier", 0))
        for variant in measurements.settings.variants(cell.ranks)
        if (cell.ranks, variant.key) in measurements.flags
    ]


def typical_limits(limits: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The median of each value over the repetitions; None where it could not be measured."""
    result: dict[str, Any] = {}
    for name, value in limits[0].items():
        values = [entry[name] for entry in limits]
        if isinstance(value, dict):
            result[name] = typical_limits(values)
        elif isinstance(value, (int, float)) or value is None:
            known = [v for v in values if v is not None]
            result[name] = median(known) if known else None
        else:
            result[name] = value
    return result


def _cell_json(cell: Cell, by_variant: dict[str, Samples]) -> dict[str, Any]:
    return asdict(cell) | {
        "variants": {
            key: {
                "median_us": samples.median,
                "mean_us": samples.mean,
                "min_us": samples.least,
                "p95_us": samples.percentile_95,
            }
            for key, samples in by_variant.items()
        }
    }


def _comparison_json(base: Variant, other: Variant, comparison: Comparison) -> dict[str, Any]:
    return asdict(comparison.cell) | {
        "base": base.key,
        "other": other.key,
        "base_median_us": centre(comparison.base.median),
        "other_median_us": centre(comparison.other.median),
        "ratio_of_medians": asdict(comparison.by_median),
        "ratio_of_means": asdict(comparison.by_mean),
        "slower": comparison.by_median.slower,
    }


def _summary_json(summary: Summary) -> dict[str, Any]:
    return {
        "ranks": summary.ranks,
        "base": summary.base.key,
        "other": summary.other.key,
        "up_to_64_KiB": asdict(summary.short) if summary.short else None,
        "all_cells": asdict(summary.every),
        "means": asdict(summary.by_mean),
        "by_collective": {name: asdict(ratio) for name, ratio in summary.by_collective.items()},
        "slower_cells": summary.slower_cells,
    }


def as_json(measurements: Measurements) -> dict[str, Any]:
    settings = measurements.settings
    variants = {v.key: v for ranks in settings.ranks for v in settings.variants(ranks)}
    return {
        "format": "tutti-bench 1",
        "tutti": __version__,
        "machine": {"processor": processor_name(), "cores": settings.cores, "system": platform.platform()},
        "settings": {
            "ranks": settings.ranks,
            "collectives": settings.collectives,
            "sizes": settings.sizes,
            "repetitions": settings.repetitions,
            "dirty": settings.dirty,
            "peer_settings": settings.peer_settings,
            "bind": settings.bind,
            "budget_ms": settings.budget_ms,
        },
        "variants": {
            key: {"label": v.label, "mpi": v.mpi.name, "version": v.mpi.version, "setting": v.setting,
                  "tutti": v.tutti, "library": measurements.libraries.get(key)}
            for key, v in variants.items()
        },
        "flag_exchange_us": [
            {"ranks": ranks, "variant": key, "by_repetition": times} for (ranks, key), times in measurements.flags.items()
        ],
        "cells": [_cell_json(cell, by_variant) for cell, by_variant in measurements.cells.items()],
        "left_out": [asdict(cell) for cell in measurements.left_out],
        "comparisons": [
            _comparison_json(base, other, comparison)
            for ranks in settings.ranks
            for base, other in pairs(measurements, ranks)
            for comparison in compare_cells(measurements, ranks, base, other)
        ],
        "geometric_means": [_summary_json(summary) for summary in summaries(measurements)],
        "limits": typical_limits(measurements.limits),
        "times_flag_exchange": [
            {"collective": near.cell.collective, "bytes": near.cell.bytes, "variant": near.variant.key} | asdict(near.ratio)
            for near in nearness(measurements)
        ],
    }  # fmt: skip


def processor_name() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or os.uname().machine
