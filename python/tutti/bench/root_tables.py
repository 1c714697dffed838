"""Tables that show how times depend on the root (`tutti bench --every-root`)."""

from tutti.bench.measurements import Measurements
from tutti.bench.results import pairs
from tutti.bench.roots import RootComparison, Spread, compare_roots, spread
from tutti.bench.texts import factor_text, interval_text, ratio_text, size_text, time_text
from tutti.bench.variants import Variant
from tutti.tables import Table


def roots_tables(measurements: Measurements, ranks: int, where: str = "") -> list[Table]:
    """A table for each MPI, without and with Tutti, or without alone if Tutti was not measured.

    `where` begins the titles; it is the number of ranks if empty.
    """
    where = where or f"{ranks} ranks"
    found = [
        roots_table(where, base, compare_roots(measurements, ranks, base, other))
        for base, other in pairs(measurements, ranks)
    ]
    if not measurements.settings.tutti:
        found = [
            host_roots_table(measurements, ranks, variant, where)
            for variant in measurements.settings.variants(ranks)
        ]
    return [table for table in found if table.row_count]


def _spread_texts(found: Spread) -> tuple[str, ...]:
    return (
        *(time_text(time) for time in (found.least, found.middle, found.most)),
        str(found.slowest_root),
        factor_text(found.factor) + "x",
    )


SPREAD_COLUMNS = ("min", "median", "max", "slowest", "max/min")


def roots_table(where: str, base: Variant, rows: list[RootComparison]) -> Table:
    table = Table(title=f"{where}: {base.label}, over the roots, us", title_justify="left")
    for column in ("collective", "size"):
        table.add_column(column)
    for who in ("host", "Tutti"):
        for column in SPREAD_COLUMNS:
            table.add_column(f"{who} {column}", justify="right")
    table.add_column("slowest roots", justify="right")
    table.add_column("95%", justify="right")
    for row in rows:
        table.add_row(
            row.cell.collective,
            size_text(row.cell.bytes),
            *_spread_texts(row.base),
            *_spread_texts(row.other),
            ratio_text(row.of_slowest),
            interval_text(row.of_slowest),
        )
    return table


def host_roots_table(measurements: Measurements, ranks: int, variant: Variant, where: str) -> Table:
    table = Table(title=f"{where}: {variant.label}, over the roots, us", title_justify="left")
    for column in ("collective", "size", *SPREAD_COLUMNS):
        table.add_column(column, justify="left" if column in ("collective", "size") else "right")
    for cell, by_variant in measurements.cells.items():
        found = spread(by_variant[variant.key]) if cell.ranks == ranks else None
        if found is not None:
            table.add_row(cell.collective, size_text(cell.bytes), *_spread_texts(found))
    return table
