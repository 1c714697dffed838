"""Compares Tutti with the best peer of each cell.

The best peer is the fastest of the MPIs and settings that a user could choose instead.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tutti.bench.measurements import Cell, Measurements
from tutti.bench.results import (
    Comparison,
    Means,
    comparison_of,
    means_json,
    plain_ranks,
    ratios_json,
)
from tutti.bench.statistics import centre
from tutti.bench.variants import Variant


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
