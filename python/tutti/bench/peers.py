"""Compares Tutti with the best peer of each cell.

The best peer is the fastest of the MPIs and settings that a user could choose instead.
"""

from dataclasses import asdict, dataclass
from typing import Any

from tutti.bench.measurements import Cell, Measurements
from tutti.bench.results import (
    SHORT_BYTES,
    Comparison,
    by_collective,
    comparison_of,
    plain_ranks,
)
from tutti.bench.statistics import Ratio, centre, geometric_mean
from tutti.bench.variants import Variant


@dataclass(frozen=True)
class AgainstBest:
    """One cell: the time of the best peer over the time of a variant with Tutti.

    The best peer has the smallest median over the repetitions.
    """

    peer: Variant
    comparison: Comparison


@dataclass(frozen=True)
class BestPeers:
    """The plain cells of one rank count and variant, in the order measured."""

    ranks: int
    variant: Variant
    cells: list[AgainstBest]

    @property
    def every(self) -> Ratio:
        return self._mean([entry.comparison for entry in self.cells])

    @property
    def short(self) -> Ratio | None:
        """The geometric mean over the cells up to 64 KiB; None if there are none."""
        cells = [
            entry.comparison for entry in self.cells if entry.comparison.cell.bytes <= SHORT_BYTES
        ]
        return self._mean(cells) if cells else None

    @property
    def of_collectives(self) -> dict[str, Ratio]:
        return by_collective([entry.comparison for entry in self.cells])

    @property
    def slower_cells(self) -> int:
        return sum(entry.comparison.ratio.slower for entry in self.cells)

    @staticmethod
    def _mean(comparisons: list[Comparison]) -> Ratio:
        return geometric_mean([c.times for c in comparisons])


def peers_of(measurements: Measurements, ranks: int) -> list[Variant]:
    return [variant for variant in measurements.settings.variants(ranks) if not variant.tutti]


def against_best(
    measurements: Measurements, cell: Cell, peers: list[Variant], variant: Variant
) -> AgainstBest:
    by_variant = measurements.cells[cell]
    peers = [one for one in peers if one.key in by_variant]
    peer = min(peers, key=lambda one: centre(by_variant[one.key].median))
    return AgainstBest(peer, comparison_of(cell, by_variant[peer.key], by_variant[variant.key]))


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
    return comparison.cell.words | {
        "peer": entry.peer.key,
        "peer_median_us": centre(comparison.base.median),
        "median_us": centre(comparison.other.median),
        "ratio_of_medians": asdict(comparison.by_median),
        "ratio_of_means": asdict(comparison.by_mean),
        "two_modes": any(comparison.modes),
        "slower": comparison.ratio.slower,
    }


def best_peers_json(measurements: Measurements) -> list[dict[str, Any]]:
    return [
        {
            "ranks": best.ranks,
            "variant": best.variant.key,
            "up_to_64_KiB": asdict(best.short) if best.short else None,
            "all_cells": asdict(best.every),
            "by_collective": {name: asdict(ratio) for name, ratio in best.of_collectives.items()},
            "slower_cells": best.slower_cells,
            "cells": [against_best_json(entry) for entry in best.cells],
        }
        for best in best_peers(measurements)
    ]
