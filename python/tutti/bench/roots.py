"""How a collective's time depends on its root, if every root was measured (`--every-root`), and
tables that show it.

For each root the median over the repetitions is taken, so that the spread shows the roots and not
the noise of the machine.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from statistics import median, quantiles
from typing import Any

from tutti.bench.measurements import Cell, Measurements, Samples
from tutti.bench.results import compare_cells, pairs
from tutti.bench.statistics import Ratio, centre, compare
from tutti.bench.texts import call_columns, factor_text, ratio_columns, time_text
from tutti.bench.variants import Variant
from tutti.tables import Column, Table, number, table_of


@dataclass(frozen=True)
class Spread:
    """Minimum, quartiles and maximum over the roots, in microseconds."""

    min_us: float
    quartile_1_us: float
    median_us: float
    quartile_3_us: float
    max_us: float
    fastest_root: int
    slowest_root: int

    @property
    def factor(self) -> float:
        return self.max_us / self.min_us


def spread(samples: Samples) -> Spread | None:
    """The spread over the roots; None if not every root was measured, or there is no root."""
    if not samples.by_root:
        return None
    times = [centre(by_repetition) for by_repetition in samples.by_root]
    low, high = (
        (times[0], times[0]) if len(times) == 1 else quantiles(times, n=4, method="inclusive")[::2]
    )
    least, most = min(times), max(times)
    return Spread(least, low, median(times), high, most, times.index(least), times.index(most))


@dataclass(frozen=True)
class RootComparison:
    """One cell without and with Tutti: the spreads, and the ratio of the slowest roots' times.

    The ratio is taken repetition by repetition.
    """

    cell: Cell
    base: Spread
    other: Spread
    of_slowest: Ratio


def compare_roots(
    measurements: Measurements, ranks: int, base: Variant, other: Variant
) -> list[RootComparison]:
    """The comparisons of the cells for which every root was measured, in the order measured."""
    result = []
    for one in compare_cells(measurements, ranks, base, other):
        host, tutti = spread(one.base), spread(one.other)
        if host is not None and tutti is not None:
            slowest = one.base.by_root[host.slowest_root], one.other.by_root[tutti.slowest_root]
            result.append(RootComparison(one.cell, host, tutti, compare(*slowest)))
    return result


def root_json(samples: Samples) -> dict[str, Any]:
    """The entries about roots for a cell and variant; none if not every root was measured."""
    found = spread(samples)
    return {} if found is None else {"by_root_us": samples.by_root, "over_roots": asdict(found)}


def root_comparisons_json(measurements: Measurements, ranks: int) -> list[dict[str, Any]]:
    return [
        row.cell.words
        | {"base": base.key, "other": other.key, "ratio_of_slowest_roots": asdict(row.of_slowest)}
        for base, other in pairs(measurements, ranks)
        for row in compare_roots(measurements, ranks, base, other)
    ]


def _spread_columns(get: Callable[[Any], Spread], who: str) -> list[Column]:
    return [
        *(
            number(
                f"{who}{name}", lambda row, name=name: time_text(getattr(get(row), f"{name}_us"))
            )
            for name in ("min", "median", "max")
        ),
        number(f"{who}slowest", lambda row: str(get(row).slowest_root)),
        number(f"{who}max/min", lambda row: factor_text(get(row).factor) + "x"),
    ]


def roots_tables(measurements: Measurements, ranks: int, where: str = "") -> list[Table]:
    """A table for each MPI, without and with Tutti, or without alone if Tutti was not measured.

    `where` begins the titles; it is the number of ranks if empty.
    """
    where = where or f"{ranks} ranks"
    both = [
        *call_columns(lambda row: row.cell),
        *_spread_columns(lambda row: row.base, "host "),
        *_spread_columns(lambda row: row.other, "Tutti "),
        *ratio_columns(lambda row: row.of_slowest, "slowest roots"),
    ]
    alone = [*call_columns(lambda row: row[0]), *_spread_columns(lambda row: row[1], "")]
    entries: list[tuple[Variant, list[Column], list[Any]]] = [
        (base, both, list(compare_roots(measurements, ranks, base, other)))
        for base, other in pairs(measurements, ranks)
    ]
    if not measurements.settings.tutti:
        entries = [
            (variant, alone, _spreads(measurements, ranks, variant))
            for variant in measurements.settings.variants(ranks)
        ]
    return [
        table_of(f"{where}: {variant.label}, over the roots, us", columns, rows)
        for variant, columns, rows in entries
        if rows
    ]


def _spreads(measurements: Measurements, ranks: int, variant: Variant) -> list[Any]:
    """(cell, its spread) for every cell whose roots were measured."""
    found = [
        (cell, spread(by_variant[variant.key]))
        for cell, by_variant in measurements.cells.items()
        if cell.ranks == ranks
    ]
    return [one for one in found if one[1] is not None]
