"""What the machine leaves possible: bounds of two ranks' collectives from its own hand-overs, copies and additions.

With E the exchange of flags between two cores, C(n) the copy of n bytes that the other core has just written, A(n) the
sum of them and one's own, L(n) the copy of what one has written oneself (all measured in the same run, of memory that both
map), a collective of two ranks that starts when both have just written their buffers takes at least:

    barrier                         E
    bcast n                         C(n) + E
    reduce n                        the least of A(n) + E and A(n/2) + C(n/2) + 2 E
    allreduce n                     the same
    gather, scatter n a part        the larger of C(n) and L(n), + E     (two ranks copy, each a part)
    allgather, alltoall n a part    C(n) + L(n) + E
    reduce_scatter_block n a part   A(n) + E
    scan, exscan n                  A(n) + E, C(n) + E

Every rank must see the other's arrival, and every byte of the other's must come over once. In a reduce and an allreduce
either both ranks add everything, or each adds half and one or both fetch the other half.
"""

from dataclasses import asdict, dataclass
from typing import Any

from tutti.bench.driver import Cell, Measurements
from tutti.bench.results import typical_limits
from tutti.bench.statistics import centre
from tutti.bench.variants import Variant


def interpolated(by_size: dict[str, float | None], size: float) -> float | None:
    """Microseconds at a size between two measured ones, in proportion below the least; None beyond the largest."""
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
    """The limits that bounds are made of, in microseconds."""

    exchange: float
    copies: dict[str, float | None]
    sums: dict[str, float | None]
    own_copies: dict[str, float | None]

    def bound(self, collective: str, size: int) -> float | None:
        """None where no formula holds or the machine could not be measured at this size."""
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
            "bcast": copy, "gather": max(copy, own), "scatter": max(copy, own), "allgather": copy + own, "alltoall": copy + own,
            "reduce_scatter_block": total, "scan": total, "exscan": copy,
        }.get(collective)  # fmt: skip
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
    """One cell of two ranks: its bound, and how many times the bound each variant takes."""

    cell: Cell
    bound: float
    times: dict[str, float]  # by variant


def bounded(measurements: Measurements) -> list[Bounded]:
    """Of the cells of two ranks, each on a core of its own, in the order measured."""
    machine = machine_of(typical_limits(measurements.limits)) if measurements.limits else None
    if machine is None or measurements.settings.oversubscribed(2):
        return []
    result = []
    for cell, by_variant in measurements.cells.items():
        bound = machine.bound(cell.collective, cell.bytes) if cell.ranks == 2 else None
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
