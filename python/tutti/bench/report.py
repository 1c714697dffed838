"""Prints the tables of a benchmark."""

from typing import Any

from rich.console import Console

from tutti.bench.bounds import Bounded, bounded, tutti_variants
from tutti.bench.conditions import condition_summaries
from tutti.bench.conditions_report import means_table, show_conditions
from tutti.bench.forms_report import show_forms
from tutti.bench.halo import show_halo
from tutti.bench.measurements import DEFAULT_COLLECTIVES, Cell, Measurements
from tutti.bench.overlap_report import show_overlap
from tutti.bench.peers import BestPeers, best_peers
from tutti.bench.remarks import MODES, load_text, loaded, remark
from tutti.bench.results import (
    Comparison,
    Nearness,
    Summary,
    compare_cells,
    measured_ranks,
    nearness,
    pairs,
    summaries,
    typical_limits,
)
from tutti.bench.root_tables import roots_tables
from tutti.bench.states import states_of, states_text
from tutti.bench.statistics import centre
from tutti.bench.texts import factor_text, interval_text, ratio_text, size_text, time_text
from tutti.bench.variants import Variant, binding_for
from tutti.tables import Table


def _comparison_row(comparison: Comparison, under_load: bool) -> list[str]:
    cell, base, other = comparison.cell, comparison.base, comparison.other
    return [
        cell.collective,
        size_text(cell.bytes) if cell.collective != "barrier" else "-",
        *map(time_text, comparison.centres),
        ratio_text(comparison.ratio),
        interval_text(comparison.ratio),
        time_text(centre(base.mean)),
        time_text(centre(other.mean)),
        ratio_text(comparison.by_mean),
        remark(comparison, under_load),
    ]


def comparison_table(
    measurements: Measurements, ranks: int, base: Variant, other: Variant
) -> Table:
    settings = measurements.settings
    binding = binding_for(settings.bind, settings.oversubscribed(ranks))
    bound = {"core": "bound to cores", "none": "not bound"}.get(
        binding, "bound by the MPI's default"
    )
    table = Table(
        title=f"{ranks} ranks on {settings.cores} cores: {base.label}, without and with Tutti "
        f"({bound})",
        title_justify="left",
    )
    for column in ("collective", "size"):
        table.add_column(column)
    for column in ("host, us", "Tutti, us", "ratio", "95%"):
        table.add_column(column, justify="right")
    for column in ("host mean", "Tutti mean", "ratio"):
        table.add_column(column, justify="right", spare=True)
    table.add_column("")
    last = None
    under_load = loaded(measurements, ranks, base, other)
    for comparison in compare_cells(measurements, ranks, base, other):
        if last is not None and comparison.cell.collective != last:
            table.add_section()
        last = comparison.cell.collective
        table.add_row(*_comparison_row(comparison, under_load))
    return table


def host_table(measurements: Measurements, ranks: int, variant: Variant) -> Table:
    """The table of an MPI that is measured without Tutti only."""
    table = Table(
        title=f"{ranks} ranks on {measurements.settings.cores} cores: {variant.label}",
        title_justify="left",
    )
    for column in ("collective", "size", "median, us", "mean, us", "min, us", "p95, us"):
        table.add_column(column, justify="left" if column in ("collective", "size") else "right")
    for cell, by_variant in measurements.cells.items():
        if cell.ranks != ranks:
            continue
        samples = by_variant[variant.key]
        times = (samples.median, samples.mean, samples.least, samples.percentile_95)
        table.add_row(
            cell.collective,
            size_text(cell.bytes) if cell.bytes else "-",
            *(time_text(centre(t)) for t in times),
        )
    return table


def _slower_text(cells: int) -> str:
    if cells == 0:
        return "-"
    return f"[red]{cells} {'cell' if cells == 1 else 'cells'}[/]"


def summary_table(rows: list[Summary], against: str) -> Table:
    """Geometric means of Tutti against its host MPIs or other MPIs; `against` is for the title."""
    table = Table(
        title=f"Geometric means of the ratios, Tutti against {against} (above 1: Tutti is faster)",
        title_justify="left",
    )
    table.add_column("ranks", justify="right")
    table.add_column("without Tutti", no_wrap=True)
    table.add_column("with Tutti", no_wrap=True)
    for column in ("to 64 KiB", "95%", "all sizes", "95%", "of means", "slower"):
        table.add_column(column, justify="right", spare=column == "of means")
    for row in rows:
        short = (ratio_text(row.short), interval_text(row.short)) if row.short else ("-", "-")
        same = row.base.mpi == row.other.mpi
        table.add_row(
            str(row.ranks),
            row.base.label,
            "the same" if same else f"on {row.other.mpi.label}",
            *short,
            ratio_text(row.every),
            interval_text(row.every),
            ratio_text(row.by_mean),
            _slower_text(row.slower_cells),
        )
    return table


def collectives_table(rows: list[Summary]) -> Table:
    """A row for each collective, columns for each host MPI; `rows` are of one rank count."""
    table = Table(
        title=f"{rows[0].ranks} ranks: geometric means over the sizes of each collective",
        title_justify="left",
    )
    table.add_column("collective", min_width=max(map(len, rows[0].by_collective)))
    for row in rows:
        table.add_column(row.base.label, justify="right")
        table.add_column("95%", justify="right")
    for name in rows[0].by_collective:
        ratios = [row.by_collective[name] for row in rows]
        table.add_row(
            name, *(text for ratio in ratios for text in (ratio_text(ratio), interval_text(ratio)))
        )
    return table


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
    table = Table(
        title="Limits of the machine, measured between the jobs",
        title_justify="left",
        show_header=False,
    )
    table.add_column()
    table.add_column()
    for name, meaning in LATENCIES.items():
        value = limits.get(name)
        table.add_row(
            meaning, f"{value / 1000:.3f} us" if value is not None else "not possible here"
        )
    for name, (meaning, unit) in BY_SIZE.items():
        values = [
            f"{size_text(int(size))}: {value:.3g}"
            for size, value in limits.get(name, {}).items()
            if value is not None
        ]
        table.add_row(meaning, f"{', '.join(values)} {unit}" if values else "not possible here")
    return table


def nearness_table(rows: list[Nearness]) -> Table:
    """A row for each variant: its times as multiples of the flag exchange."""
    table = Table(
        title="Two ranks: times as multiples of the machine's flag exchange",
        title_justify="left",
    )
    table.add_column("")
    collectives = list(dict.fromkeys(row.cell.collective for row in rows))
    for collective in collectives:
        table.add_column(
            "allreduce, 8 B" if collective == "allreduce" else collective, justify="right"
        )
        table.add_column("95%", justify="right")
    for variant in dict.fromkeys(row.variant for row in rows):
        cells = [row for row in rows if row.variant == variant]
        texts = [
            text
            for row in cells
            for text in (factor_text(row.ratio.value) + "x", interval_text(row.ratio))
        ]
        table.add_row(variant.label, *texts)
    return table


def best_peers_table(measurements: Measurements, best: BestPeers) -> Table:
    """A row for each cell: its fastest peer, and Tutti."""
    table = Table(
        title=f"{best.ranks} ranks: {best.variant.label}, against the best peer in each cell",
        title_justify="left",
    )
    for column in ("collective", "size", "best peer"):
        table.add_column(column)
    for column in ("peer, us", "Tutti, us", "ratio", "95%"):
        table.add_column(column, justify="right")
    table.add_column("")
    last = None
    for entry in best.cells:
        comparison = entry.comparison
        cell = comparison.cell
        if last is not None and cell.collective != last:
            table.add_section()
        last = cell.collective
        table.add_row(
            cell.collective,
            size_text(cell.bytes) if cell.bytes else "-",
            entry.peer.label,
            *map(time_text, comparison.centres),
            ratio_text(comparison.ratio),
            interval_text(comparison.ratio),
            remark(comparison, loaded(measurements, best.ranks, entry.peer, best.variant), "peer"),
        )
    return table


def best_peers_summary(rows: list[BestPeers]) -> Table:
    table = Table(
        title="Geometric means of the ratios, Tutti against the best peer of each cell",
        title_justify="left",
    )
    table.add_column("ranks", justify="right")
    table.add_column("with Tutti", no_wrap=True)
    for column in ("to 64 KiB", "95%", "all sizes", "95%", "slower"):
        table.add_column(column, justify="right")
    for row in rows:
        short = (ratio_text(row.short), interval_text(row.short)) if row.short else ("-", "-")
        table.add_row(
            str(row.ranks),
            row.variant.label,
            *short,
            ratio_text(row.every),
            interval_text(row.every),
            f"[red]{row.slower_cells} of {len(row.cells)}[/]" if row.slower_cells else "-",
        )
    return table


def bounds_table(rows: list[Bounded], variants: list[Variant]) -> Table:
    """A row for each cell: the lower bound, and each variant with Tutti as a multiple of it."""
    table = Table(
        title="Two ranks: times as multiples of the lower bound from the machine's copies and "
        "additions",
        title_justify="left",
    )
    for column in ("collective", "size"):
        table.add_column(column)
    for column in ("bound, us", *(variant.label for variant in variants)):
        table.add_column(column, justify="right")
    for row in rows:
        table.add_row(
            row.cell.collective,
            size_text(row.cell.bytes) if row.cell.bytes else "-",
            time_text(row.bound),
            *(factor_text(row.times[variant.key]) + "x" for variant in variants),
        )
    return table


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


def _notes(measurements: Measurements) -> list[str]:
    """The lines below the tables."""
    states = states_of(measurements)
    lines = [states_text(states, ranks) for ranks in measured_ranks(measurements)] + [
        load_text(measurements)
    ]
    compared = [c for ranks in measured_ranks(measurements) for pair in pairs(measurements, ranks)
                for c in compare_cells(measurements, ranks, *pair)]  # fmt: skip
    compared += [entry.comparison for best in best_peers(measurements) for entry in best.cells]
    return [line for line in lines if line] + (
        [MODES] if any(any(c.modes) for c in compared) else []
    )


def show(measurements: Measurements, console: Console) -> None:
    settings = measurements.settings
    if settings.faces:
        return show_halo(measurements, console)
    if settings.overlap:
        return show_overlap(measurements, console)
    if settings.forms:
        return show_forms(measurements, console)
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
    console.print(limits_table(typical_limits(measurements.limits)))
    if near := nearness(measurements):
        console.print(nearness_table(near))
    if settings.tutti and (bounds := bounded(measurements)):
        console.print(bounds_table(bounds, tutti_variants(measurements)))
    best = best_peers(measurements)
    for row in best:
        console.print(best_peers_table(measurements, row))
    rows = summaries(measurements)
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
    for note in _notes(measurements):
        console.print(note, highlight=False, markup=False, soft_wrap=True)
