"""Ratios of the host's times to Tutti's, for each cell, and of those of the cell's best peer; and
their geometric means.

The best peer is the fastest of the MPIs and settings that a user could choose instead.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from operator import attrgetter
from statistics import median
from typing import Any

from tutti.bench.measurements import Cell, Measurements, Samples
from tutti.bench.statistics import WIDE, Ratio, centre, compare, geometric_mean, has_two_modes
from tutti.bench.variants import Variant
from tutti.rows import grouped

SHORT_BYTES = 65536


@dataclass(frozen=True)
class Comparison:
    """One cell of two variants: `base` without Tutti and `other` with it."""

    cell: Cell
    base: Samples
    other: Samples
    by_median: Ratio
    by_mean: Ratio

    @property
    def modes(self) -> tuple[bool, bool]:
        """True for `base`, and for `other`, if its times have two modes and the interval is wide.

        Then the ratio of medians means little.
        """
        wide = self.by_median.wider(WIDE)
        return wide and has_two_modes(self.base.median), wide and has_two_modes(self.other.median)

    @property
    def times(self) -> tuple[list[float], list[float]]:
        """The times to compare, by repetition: medians, or means if one side has two modes."""
        return (
            (self.base.mean, self.other.mean)
            if any(self.modes)
            else (self.base.median, self.other.median)
        )

    @property
    def ratio(self) -> Ratio:
        return self.by_mean if any(self.modes) else self.by_median

    @property
    def centres(self) -> tuple[float, float]:
        base, other = self.times
        return centre(base), centre(other)


def comparison_of(cell: Cell, base: Samples, other: Samples) -> Comparison:
    return Comparison(
        cell, base, other, compare(base.median, other.median), compare(base.mean, other.mean)
    )


def ratios_json(comparison: Comparison) -> dict[str, Any]:
    """The times of a comparison and their ratios; `base` is what the variant is compared with."""
    return {
        "base_median_us": centre(comparison.base.median),
        "base_mean_us": centre(comparison.base.mean),
        "ratio_of_medians": asdict(comparison.by_median),
        "ratio_of_means": asdict(comparison.by_mean),
        "two_modes": any(comparison.modes),
    }


def by_collective(comparisons: Sequence[Comparison]) -> dict[str, Ratio]:
    """The geometric mean over the sizes of each collective, in the order measured."""
    return {
        name: geometric_mean([one.times for one in mine])
        for name, mine in grouped(comparisons, attrgetter("cell.collective")).items()
    }


@dataclass(frozen=True)
class Means:
    """Geometric means over cells of the ratios of medians, or of means if times have two modes."""

    comparisons: Sequence[Comparison]

    @property
    def every(self) -> Ratio:
        return geometric_mean([c.times for c in self.comparisons])

    @property
    def short(self) -> Ratio | None:
        """The same over the cells up to 64 KiB; None if there are none."""
        short = [c.times for c in self.comparisons if c.cell.bytes <= SHORT_BYTES]
        return geometric_mean(short) if short else None

    @property
    def by_mean(self) -> Ratio:
        """The ratio of means, over all cells."""
        return geometric_mean([(c.base.mean, c.other.mean) for c in self.comparisons])

    @property
    def by_collective(self) -> dict[str, Ratio]:
        return by_collective(self.comparisons)

    @property
    def slower_cells(self) -> int:
        """The number of cells whose interval is below 0.95."""
        return sum(c.ratio.slower for c in self.comparisons)


def means_json(means: Means) -> dict[str, Any]:
    return {
        "up_to_64_KiB": asdict(means.short) if means.short else None,
        "all_cells": asdict(means.every),
        "by_collective": {name: asdict(ratio) for name, ratio in means.by_collective.items()},
        "slower_cells": means.slower_cells,
    }


@dataclass(frozen=True)
class Summary:
    """Means of `base` over `other`, over the plain cells of one rank count."""

    ranks: int
    base: Variant
    other: Variant
    means: Means


def measured_ranks(measurements: Measurements) -> list[int]:
    """The rank counts with at least one cell. (With many ranks all sizes may be left out.)"""
    return [
        ranks
        for ranks in measurements.settings.ranks
        if any(cell.ranks == ranks for cell in measurements.cells)
    ]


def plain_ranks(measurements: Measurements) -> list[int]:
    """The rank counts with at least one plain cell. (Exchanges of ghost cells are none.)"""
    return [
        ranks
        for ranks in measured_ranks(measurements)
        if any(cell.plain for cell in measurements.cells if cell.ranks == ranks)
    ]


def pairs(measurements: Measurements, ranks: int) -> list[tuple[Variant, Variant]]:
    """(host, host with Tutti) for every MPI and setting that was measured with so many ranks."""
    variants = measurements.settings.variants(ranks)
    by_key = {variant.key: variant for variant in variants}
    endings = ("+tutti", "+tutti+heap")
    return [
        (v, by_key[v.key + end])
        for end in endings
        for v in variants
        if not v.tutti and v.key + end in by_key
    ]


def compare_cells(
    measurements: Measurements, ranks: int, base: Variant, other: Variant
) -> list[Comparison]:
    """The comparisons of all cells of one rank count, in the order measured."""
    result = []
    for cell, by_variant in measurements.cells.items():
        # An MPI without persistent collectives lacks cells.
        if cell.ranks == ranks and base.key in by_variant and other.key in by_variant:
            result.append(comparison_of(cell, by_variant[base.key], by_variant[other.key]))
    return result


def summarise(measurements: Measurements, ranks: int, base: Variant, other: Variant) -> Summary:
    comparisons = compare_cells(measurements, ranks, base, other)
    return Summary(ranks, base, other, Means([c for c in comparisons if c.cell.plain]))


def summaries(measurements: Measurements) -> list[Summary]:
    """Tutti against the MPI that it runs on, then against the other MPIs and settings."""
    own, others = [], []
    for ranks in plain_ranks(measurements):
        own += [
            summarise(measurements, ranks, base, other)
            for base, other in pairs(measurements, ranks)
        ]
        variants = measurements.settings.variants(ranks)
        for other in (v for v in variants if v.tutti and v.setting == "default"):
            for base in (
                v
                for v in variants
                if not v.tutti and (v.mpi != other.mpi or v.setting not in ("default", "best"))
            ):
                others.append(summarise(measurements, ranks, base, other))
    return own + others


@dataclass(frozen=True)
class Nearness:
    """The time of a short collective as a multiple of the machine's flag exchange."""

    cell: Cell
    variant: Variant
    ratio: Ratio


def nearness(measurements: Measurements) -> list[Nearness]:
    """For barrier and 8-byte allreduce: each job's time over the flag exchange on its cores."""
    return [
        Nearness(
            cell,
            variant,
            compare(by_variant[variant.key].median, measurements.flags[cell.ranks, variant.key]),
        )
        for cell, by_variant in measurements.cells.items()
        if cell in (Cell(cell.ranks, "allreduce", 8), Cell(cell.ranks, "barrier", 0))
        for variant in measurements.settings.variants(cell.ranks)
        if (cell.ranks, variant.key) in measurements.flags
    ]


def typical(values: Sequence[Any]) -> Any:
    """The median of numbers, member by member where they are dictionaries; None if none of them
    could be measured; else the first."""
    if isinstance(values[0], dict):
        return {name: typical([one[name] for one in values]) for name in values[0]}
    if isinstance(values[0], (int, float)) or values[0] is None:
        known = [one for one in values if one is not None]
        return median(known) if known else None
    return values[0]


@dataclass(frozen=True)
class AgainstBest:
    """One cell: the time of the best peer over the time of a variant with Tutti.

    The best peer has the smallest median over the repetitions, in whichever way is fastest.
    """

    peer: Variant
    way: str
    comparison: Comparison


@dataclass(frozen=True)
class BestPeers:
    """The plain cells of one rank count and variant, in the order measured."""

    ranks: int
    variant: Variant
    cells: list[AgainstBest]

    @property
    def means(self) -> Means:
        return Means([entry.comparison for entry in self.cells])


def peers_of(measurements: Measurements, ranks: int) -> list[Variant]:
    return [variant for variant in measurements.settings.variants(ranks) if not variant.tutti]


def against_best(
    measurements: Measurements,
    cell: Cell,
    peers: list[Variant],
    variant: Variant,
    ways: Sequence[str] = (),
) -> AgainstBest:
    """`ways`: the ways of a peer to make this call; the same way if there are none."""
    times = {
        (peer, way): measurements.cells[cell.in_form(way)][peer.key]
        for way in ways or (cell.form,)
        for peer in peers
        if peer.key in measurements.cells.get(cell.in_form(way), {})
    }
    peer, way = min(times, key=lambda one: centre(times[one].median))
    mine = measurements.cells[cell][variant.key]
    return AgainstBest(peer, way, comparison_of(cell, times[peer, way], mine))


def best_peers(measurements: Measurements) -> list[BestPeers]:
    """The comparisons for each rank count and each MPI with Tutti; none with fewer than two peers.

    Tutti runs on the MPI's default setting, or on its best setting if the default was not measured.
    """
    result = []
    for ranks in plain_ranks(measurements):
        variants = measurements.settings.variants(ranks)
        peers = peers_of(measurements, ranks)
        if len(peers) < 2:
            continue
        cells = [cell for cell in measurements.cells if cell.ranks == ranks and cell.plain]
        as_they_come = {
            variant.mpi for variant in variants if variant.tutti and variant.setting == "default"
        }
        for variant in variants:
            if variant.tutti and (variant.setting == "default" or variant.mpi not in as_they_come):
                entries = [against_best(measurements, cell, peers, variant) for cell in cells]
                result.append(BestPeers(ranks, variant, entries))
    return result


def against_best_json(entry: AgainstBest) -> dict[str, Any]:
    comparison = entry.comparison
    return (
        comparison.cell.words
        | {"peer": entry.peer.key, "median_us": centre(comparison.other.median)}
        | ratios_json(comparison)
        | {"slower": comparison.ratio.slower}
    )


def best_peers_json(measurements: Measurements) -> list[dict[str, Any]]:
    return [
        {"ranks": best.ranks, "variant": best.variant.key}
        | means_json(best.means)
        | {"cells": [against_best_json(entry) for entry in best.cells]}
        for best in best_peers(measurements)
    ]
