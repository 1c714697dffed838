"""What measurements say: ratios of host to Tutti cell by cell, and geometric means."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from tutti.bench.driver import Cell, Measurements, Samples
from tutti.bench.statistics import Ratio, compare, geometric_mean
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
    endings = ("+tutti", "+tutti+heap")
    return [(v, by_key[v.key + end]) for end in endings for v in variants if not v.tutti and v.key + end in by_key]


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
            for base in (v for v in variants if not v.tutti and (v.mpi != other.mpi or v.setting not in ("default", "best"))):
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
