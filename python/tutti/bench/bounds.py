"""Lower bounds on the time of two ranks' collectives, from measured hand-overs, copies and
additions.

E is the time of an exchange of flags between two cores, C(n) of a copy of n bytes that the other
core has just written, A(n) of the sum of n such bytes and n own bytes, and L(n) of a copy of n
bytes that the same core has just written. All four are measured in the same run, in memory that
both processes map. A collective of two ranks that starts when both have just written their buffers
takes at least:

    barrier                         E
    bcast n                         C(n) + E
    reduce n                        the smaller of A(n) + E and A(n/2) + C(n/2) + 2 E
    allreduce n                     the same
    gather, scatter, parts of n     the larger of C(n) and L(n), + E     (each rank copies one part)
    allgather, alltoall, parts of n C(n) + L(n) + E
    reduce_scatter_block, parts of n  A(n) + E
    scan, exscan n                  A(n) + E, C(n) + E

Every rank must see the other's arrival, and every byte of the other rank must be transferred once.
In a reduce or an allreduce, either a rank adds everything, or each rank adds half and one or both
ranks copy the other half.
"""

from dataclasses import dataclass
from typing import Any

from tutti.bench.measurements import Cell, Measurements
from tutti.bench.results import typical
from tutti.bench.statistics import centre
from tutti.bench.variants import Variant


def interpolated(by_size: dict[str, float | None], size: float) -> float | None:
    """Microseconds at a size, by linear interpolation between the measured sizes.

    Below the smallest size the time is proportional to the size. None above the largest size.
    """
    points = sorted((int(name), value) for name, value in by_size.items() if value is not None)
    if not points or size > points[-1][0]:
        return None
    below = (0, 0.0)
    for point in points:
        if size <= point[0]:
            share = (size - below[0]) / (point[0] - below[0])
            return below[1] + share * (point[1] - below[1])
        below = point
    return None


@dataclass(frozen=True)
class Machine:
    """The measured times of which bounds are made, in microseconds; by size in bytes."""

    exchange: float
    copies: dict[str, float | None]
    sums: dict[str, float | None]
    own_copies: dict[str, float | None]

    def bound(self, collective: str, size: int) -> float | None:
        """The bound in microseconds; None without a formula or a measurement at this size."""
        copy, total = interpolated(self.copies, size), interpolated(self.sums, size)
        half_copy, half_sum = interpolated(self.copies, size / 2), interpolated(self.sums, size / 2)
        own = interpolated(self.own_copies, size)
        if collective == "barrier":
            return self.exchange
        if copy is None or total is None or half_copy is None or half_sum is None or own is None:
            return None
        if collective in ("reduce", "allreduce"):
            return min(total + self.exchange, half_sum + half_copy + 2 * self.exchange)
        moved = {
            "bcast": copy,
            "gather": max(copy, own),
            "scatter": max(copy, own),
            "allgather": copy + own,
            "alltoall": copy + own,
            "reduce_scatter_block": total,
            "scan": total,
            "exscan": copy,
        }.get(collective)
        return None if moved is None else moved + self.exchange


def machine_of(limits: dict[str, Any]) -> Machine | None:
    exchange = limits.get("flag_exchange_ns")
    by_size = [
        limits.get(name)
        for name in ("copy_rewritten_us", "add_rewritten_us", "copy_own_rewritten_us")
    ]
    if exchange is None or any(not values for values in by_size):
        return None
    copies, sums, own_copies = (values or {} for values in by_size)
    return Machine(exchange / 1000, copies, sums, own_copies)


@dataclass(frozen=True)
class Bounded:
    """One cell of two ranks: its bound in microseconds, and each variant's time over the bound."""

    cell: Cell
    bound: float
    times: dict[str, float]  # indexed by variant


def bounded(measurements: Measurements) -> list[Bounded]:
    """The cells of two ranks in the order measured; none if the two ranks share a core."""
    machine = machine_of(typical(measurements.limits)) if measurements.limits else None
    if machine is None or measurements.settings.oversubscribed(2):
        return []
    result = []
    for cell, by_variant in measurements.cells.items():
        blocking = cell.ranks == 2 and cell.form == "blocking" and cell.work == "none"
        bound = machine.bound(cell.collective, cell.bytes) if blocking else None
        if bound:
            times = {key: centre(samples.median) / bound for key, samples in by_variant.items()}
            result.append(Bounded(cell, bound, times))
    return result


def tutti_variants(measurements: Measurements) -> list[Variant]:
    return [variant for variant in measurements.settings.variants(2) if variant.tutti]


def bounds_json(measurements: Measurements) -> list[dict[str, Any]]:
    return [
        row.cell.words | {"bound_us": row.bound, "times_bound": row.times}
        for row in bounded(measurements)
    ]
