"""The tables and plots of `tutti bench calls`: single calls of collectives, repeated."""

from pathlib import Path
from typing import Any

from rich.console import Console

from tutti.bench.bounds import bounded, tutti_variants
from tutti.bench.conditions import condition_summaries, means_table, show_conditions
from tutti.bench.measurements import DEFAULT_COLLECTIVES, ROOTED, Cell, Measurements
from tutti.bench.remarks import loaded, remark, show_notes
from tutti.bench.results import (
    BestPeers,
    Nearness,
    Summary,
    best_peers,
    compare_cells,
    measured_ranks,
    nearness,
    pairs,
    summaries,
    typical,
)
from tutti.bench.roots import roots_tables, spread
from tutti.bench.statistics import centre
from tutti.bench.texts import (
    call_columns,
    cells_text,
    factor_text,
    interval_text,
    ratio_columns,
    ratio_text,
    sides_columns,
    size_text,
    time_text,
)
from tutti.bench.variants import Variant, binding_for
from tutti.bench.ways_report import draw_ways, show_ways
from tutti.figures import Line, Panel, draw_panels
from tutti.tables import Column, Table, number, table_of, words


def _of_collective(entry: Any) -> str:
    return str(entry.cell.collective)


def comparison_table(
    measurements: Measurements, ranks: int, base: Variant, other: Variant
) -> Table:
    settings = measurements.settings
    binding = binding_for(settings.bind, settings.oversubscribed(ranks))
    bound = {"core": "bound to cores", "none": "not bound"}.get(
        binding, "bound by the MPI's default"
    )
    under_load = loaded(measurements, ranks, base, other)
    columns = [
        *sides_columns(lambda row: row),
        number("host mean", lambda row: time_text(centre(row.base.mean)), spare=True),
        number("Tutti mean", lambda row: time_text(centre(row.other.mean)), spare=True),
        number("ratio", lambda row: ratio_text(row.by_mean), spare=True),
        words("", lambda row: remark(row, under_load)),
    ]
    title = (
        f"{ranks} ranks on {settings.cores} cores: {base.label}, without and with Tutti ({bound})"
    )
    rows = compare_cells(measurements, ranks, base, other)
    return table_of(title, columns, rows, _of_collective)


def host_table(measurements: Measurements, ranks: int, variant: Variant) -> Table:
    """The table of an MPI that is measured without Tutti only."""
    names = {"median": "median", "mean": "mean", "min": "least", "p95": "percentile_95"}
    columns = [
        *call_columns(lambda row: row[0]),
        *(
            number(f"{head}, us", lambda row, name=name: time_text(centre(getattr(row[1], name))))
            for head, name in names.items()
        ),
    ]
    rows = [
        (cell, by_variant[variant.key])
        for cell, by_variant in measurements.cells.items()
        if cell.ranks == ranks
    ]
    return table_of(
        f"{ranks} ranks on {measurements.settings.cores} cores: {variant.label}", columns, rows
    )


def _means_columns(with_mean: bool) -> list[Column]:
    """The columns of a row's means over cells."""
    of_means = number("of means", lambda row: ratio_text(row.means.by_mean), spare=True)
    return [
        *ratio_columns(lambda row: row.means.short, "to 64 KiB"),
        *ratio_columns(lambda row: row.means.every, "all sizes"),
        *([of_means] if with_mean else []),
    ]


def summary_table(rows: list[Summary], against: str) -> Table:
    """Geometric means of Tutti against its host MPIs or other MPIs; `against` is for the title."""

    def of_tutti(row: Summary) -> str:
        return "the same" if row.base.mpi == row.other.mpi else f"on {row.other.mpi.label}"

    def slower(row: Summary) -> str:
        cells = row.means.slower_cells
        many = "s" if cells > 1 else ""
        return f"[red]{cells} cell{many}[/]" if cells else "-"

    columns = [
        number("ranks", lambda row: str(row.ranks)),
        words("without Tutti", lambda row: row.base.label, no_wrap=True),
        words("with Tutti", of_tutti, no_wrap=True),
        *_means_columns(with_mean=True),
        number("slower", slower),
    ]
    title = f"Geometric means of the ratios, Tutti against {against} (above 1: Tutti is faster)"
    return table_of(title, columns, rows)


def collectives_table(rows: list[Summary]) -> Table:
    """A row for each collective, columns for each host MPI; `rows` are of one rank count."""
    columns = [words("collective", str, no_wrap=True)]
    for row in rows:
        means = row.means.by_collective
        columns += ratio_columns(lambda name, means=means: means[name], row.base.label)
    title = f"{rows[0].ranks} ranks: geometric means over the sizes of each collective"
    return table_of(title, columns, rows[0].means.by_collective)


LATENCIES = {
    "line_half_round_trip_ns": "a cache line goes from one core to another",
    "flag_exchange_ns": "two cores each write a line and wait for the other's",
    "flag_exchange_loop_ns": "the same, repeated without a pause",
    "yield_hand_over_ns": "hand-over on one core by sched_yield",
    "futex_hand_over_ns": "hand-over on one core by futex",
    "futex_hand_over_two_cores_ns": "hand-over to a sleeping process on another core by futex",
}
BY_SIZE = {
    "copy_one_core_gb_per_s": ("memcpy, one core", "GB/s"),
    "copy_two_cores_gb_per_s": ("memcpy, two cores together", "GB/s"),
    "copy_rewritten_us": ("copy of data that the other core has just written", "us"),
    "add_rewritten_us": ("sum of such data and own data, doubles", "us"),
    "copy_own_rewritten_us": ("copy of data that the same core has just written", "us"),
    "cma_rewritten_us": ("copy by CMA of data that the other process has just written", "us"),
}


def limits_table(limits: dict[str, Any]) -> Table:
    entries = []
    for name, meaning in LATENCIES.items():
        time = limits.get(name)
        entries.append((meaning, "" if time is None else f"{time / 1000:.3f} us"))
    for name, (meaning, unit) in BY_SIZE.items():
        values = [
            f"{size_text(int(size))}: {value:.3g}"
            for size, value in limits.get(name, {}).items()
            if value is not None
        ]
        entries.append((meaning, f"{', '.join(values)} {unit}" if values else ""))
    columns = [
        words("", lambda entry: entry[0]),
        words("", lambda entry: entry[1] or "not possible here"),
    ]
    title = "Limits of the machine, measured between the jobs"
    return table_of(title, columns, entries, show_header=False)


def nearness_table(rows: list[Nearness]) -> Table:
    """A row for each variant: its times as multiples of the flag exchange."""
    of = {(row.variant, row.cell.collective): row.ratio for row in rows}
    columns = [words("", lambda variant: variant.label)]
    for name in dict.fromkeys(map(_of_collective, rows)):
        head = "allreduce, 8 B" if name == "allreduce" else name
        columns += [
            number(head, lambda one, name=name: factor_text(of[one, name].value) + "x"),
            number("95%", lambda one, name=name: interval_text(of[one, name])),
        ]
    title = "Two ranks: times as multiples of the machine's flag exchange"
    return table_of(title, columns, dict.fromkeys(row.variant for row in rows))


def best_peers_table(measurements: Measurements, best: BestPeers) -> Table:
    """A row for each cell: its fastest peer, and Tutti."""

    def under_load(entry: Any) -> bool:
        return loaded(measurements, best.ranks, entry.peer, best.variant)

    sides = sides_columns(lambda entry: entry.comparison, "peer")
    columns = [
        *sides[:2],
        words("best peer", lambda entry: entry.peer.label),
        *sides[2:],
        words("", lambda entry: remark(entry.comparison, under_load(entry), "peer")),
    ]
    title = f"{best.ranks} ranks: {best.variant.label}, against the best peer in each cell"
    return table_of(title, columns, best.cells, lambda entry: entry.comparison.cell.collective)


def best_peers_summary(rows: list[BestPeers]) -> Table:
    columns = [
        number("ranks", lambda row: str(row.ranks)),
        words("with Tutti", lambda row: row.variant.label, no_wrap=True),
        *_means_columns(with_mean=False),
        number("slower", lambda row: cells_text(row.means.slower_cells, len(row.cells))),
    ]
    title = "Geometric means of the ratios, Tutti against the best peer of each cell"
    return table_of(title, columns, rows)


def bounds_table(measurements: Measurements) -> Table:
    """A row for each cell: the lower bound, and each variant with Tutti as a multiple of it."""
    columns = [
        *call_columns(lambda row: row.cell),
        number("bound, us", lambda row: time_text(row.bound)),
        *(
            number(one.label, lambda row, key=one.key: factor_text(row.times[key]) + "x")
            for one in tutti_variants(measurements)
        ),
    ]
    title = (
        "Two ranks: times as multiples of the lower bound from the machine's copies and additions"
    )
    return table_of(title, columns, bounded(measurements))


def left_out_text(cells: list[Cell]) -> str:
    """One line that tells which cells were not measured, and why."""
    texts = []
    for ranks, collective in dict.fromkeys((cell.ranks, cell.collective) for cell in cells):
        sizes = [
            size_text(cell.bytes)
            for cell in cells
            if (cell.ranks, cell.collective) == (ranks, collective)
        ]
        texts.append(f"{collective} of {', '.join(sizes)} on {ranks} ranks")
    return f"left out, because a rank's buffers would be too large: {'; '.join(texts)}"


def show(measurements: Measurements, console: Console) -> None:
    settings = measurements.settings
    if settings.faces or settings.overlap or settings.forms:
        return show_ways(measurements, console)
    if settings.kinds or len(settings.conditions) > 1:
        return show_conditions(measurements, console)
    for ranks in measured_ranks(measurements):
        for base, other in pairs(measurements, ranks):
            console.print(comparison_table(measurements, ranks, base, other))
        if not settings.tutti:
            for variant in settings.variants(ranks):
                console.print(host_table(measurements, ranks, variant))
        for table in roots_tables(measurements, ranks):
            console.print(table)
    if measurements.left_out:
        console.print(left_out_text(measurements.left_out), highlight=False)
    console.print(limits_table(typical(measurements.limits)))
    if near := nearness(measurements):
        console.print(nearness_table(near))
    if settings.tutti and bounded(measurements):
        console.print(bounds_table(measurements))
    best, rows = best_peers(measurements), summaries(measurements)
    for row in best:
        console.print(best_peers_table(measurements, row))
    own = [row for row in rows if row.base.mpi == row.other.mpi]
    others = [row for row in rows if row.base.mpi != row.other.mpi]
    if len(settings.collectives) > len(DEFAULT_COLLECTIVES):
        for ranks in dict.fromkeys(row.ranks for row in own):
            console.print(collectives_table([row for row in own if row.ranks == ranks]))
    if others:
        console.print(summary_table(others, "the other MPIs"))
    if own:
        console.print(summary_table(own, "the MPI that it runs on"))
    if best:
        console.print(best_peers_summary(best))
    if by_state := [row for row in condition_summaries(measurements) if row.state]:
        console.print(means_table(by_state))
    compared = [c for row in own for c in row.means.comparisons]
    compared += [entry.comparison for row in best for entry in row.cells]
    show_notes(measurements, console, [], compared)


def _style(variant: Variant) -> str:
    if variant.tutti:
        return "-." if variant.heap else "-"
    return "--" if variant.setting in ("default", "best") else ":"


def _line(measurements: Measurements, cells: list[Cell], variant: Variant, place: float) -> Line:
    """The line of a variant; `place`: from -0.5 to 0.5, its place among the variants."""
    samples = [measurements.cells[cell][variant.key] for cell in cells]
    spreads = [found for one in samples if (found := spread(one)) is not None]
    names = [mpi.name for mpi in measurements.settings.mpis]
    marker, alpha = "o" if variant.tutti else "x", 0.55 if variant.setting == "best" else 1.0

    def draw_roots(axes: Any, sizes: Any, colour: str) -> None:
        """A box for the middle half of the roots, whiskers to the fastest and slowest one, and a
        median. Variants are beside each other, so that no whisker hides another."""
        at = [size * 2 ** (0.7 * place) for size in sizes]
        middles = [one.median_us for one in spreads]
        whiskers = [
            [one.median_us - one.min_us for one in spreads],
            [one.max_us - one.median_us for one in spreads],
        ]
        of_whiskers = {"ecolor": colour, "elinewidth": 1, "capsize": 2.5, "alpha": alpha}
        axes.errorbar(at, middles, yerr=whiskers, linestyle="none", **of_whiskers)
        lows, highs = [one.quartile_1_us for one in spreads], [one.quartile_3_us for one in spreads]
        axes.vlines(at, lows, highs, color=colour, linewidth=5, alpha=0.35 * alpha)
        style = {"color": colour, "marker": marker, "markersize": 4, "label": variant.label}
        line = "-" if variant.tutti else ":"
        axes.plot(at, middles, linestyle=line, linewidth=0.7, alpha=alpha, **style)

    return Line(
        variant.label,
        [centre(one.median) for one in samples],
        names.index(variant.mpi.name),
        _style(variant),
        marker,
        alpha,
        0.4 if variant.tutti else -0.4,
        draw_roots if spreads else None,
    )


def _panel(measurements: Measurements, ranks: int, collective: str) -> Panel:
    settings = measurements.settings
    variants = settings.variants(ranks)
    cells = [c for c in measurements.cells if (c.ranks, c.collective) == (ranks, collective)]
    of_roots = ", every root" if settings.every_root and collective in ROOTED else ""
    return Panel(
        f"{collective}, {ranks} ranks{of_roots}",
        [cell.bytes for cell in cells],
        [
            _line(measurements, cells, variant, (place + 0.5) / len(variants) - 0.5)
            for place, variant in enumerate(variants)
        ],
        ("alone", "with Tutti"),
    )


def draw(measurements: Measurements, stem: Path) -> list[Path]:
    """Draws time over size. Each rank count begins a row, with a panel for each collective."""
    settings = measurements.settings
    if settings.faces or settings.overlap or settings.forms:
        return draw_ways(measurements, stem)
    columns = min(4, len(settings.collectives))
    panels: list[Panel | None] = []
    for ranks in settings.ranks:
        panels += [_panel(measurements, ranks, name) for name in settings.collectives]
        panels += [None] * (-len(settings.collectives) % columns)
    unit = "median and span of the roots, us" if settings.every_root else "median, us"
    return draw_panels(panels, unit, stem, columns)
