"""Tables of kinds of calls under several conditions (`tutti bench --mixed --cold BYTES`)."""

from rich.console import Console

from tutti.bench.conditions import (
    GOAL_NANOSECONDS,
    GOALS,
    SHUFFLED,
    ConditionSummary,
    all_shuffled_over_repeated,
    condition_summaries,
    kinds_of,
)
from tutti.bench.measurements import Cell, Measurements
from tutti.bench.remarks import MODES, load_text, loaded, modes_mark
from tutti.bench.results import measured_ranks
from tutti.bench.states import states_of, states_text
from tutti.bench.statistics import centre
from tutti.bench.texts import (
    factor_text,
    interval_text,
    kind_text,
    ratio_text,
    size_text,
    time_text,
)
from tutti.bench.variants import Variant
from tutti.tables import Table

NAMES = {"plain": "repeated", "mixed": "shuffled", "cold": "cold", "mixed+cold": "shuffled, cold"}


def _kinds_table(title: str) -> Table:
    table = Table(title=title, title_justify="left")
    table.add_column("kind", no_wrap=True)
    return table


def against_peers_table(measurements: Measurements, summaries: list[ConditionSummary]) -> Table:
    """A row for each kind, columns for each condition.

    `summaries` are of one variant, over all repetitions.
    """
    first = summaries[0]
    peers = {entry.peer for summary in summaries for entry in summary.entries}
    under_load = ", load" if loaded(measurements, first.ranks, first.variant, *peers) else ""
    table = _kinds_table(
        f"{first.ranks} ranks: {first.variant.label}, times faster than the best peer in each cell"
        f"{under_load}"
    )
    for summary in summaries:
        table.add_column(NAMES[summary.condition], justify="right", no_wrap=True)
        table.add_column("95%", justify="right", no_wrap=True)
    for place, kind in enumerate(kinds_of(measurements, first.ranks)):
        comparisons = [summary.entries[place].comparison for summary in summaries]
        texts = [
            text
            for c in comparisons
            for text in (modes_mark(c) + ratio_text(c.ratio), interval_text(c.ratio))
        ]
        table.add_row(kind_text(kind), *texts)
    return table


def own_times_table(measurements: Measurements, ranks: int, variant: Variant) -> Table:
    """Microseconds under each condition, and the ratios of shuffled to repeated calls."""
    conditions = measurements.settings.conditions
    table = _kinds_table(f"{ranks} ranks: {variant.label}, us, medians of the slowest rank")
    for condition in conditions:
        table.add_column(NAMES[condition], justify="right")
    rows = {
        (row.kind, row.shuffled): row
        for row in all_shuffled_over_repeated(measurements, ranks, variant)
    }
    pairs = [(alone, shuffled) for alone, shuffled in SHUFFLED.items() if shuffled in conditions]
    for alone, shuffled in pairs:
        table.add_column(f"{NAMES[shuffled]} / {NAMES[alone]}", justify="right")
        table.add_column("95%", justify="right")
    for kind in kinds_of(measurements, ranks):
        times = [
            time_text(centre(measurements.cells[kind.under(name)][variant.key].median))
            for name in conditions
        ]
        texts = []
        for _, shuffled in pairs:
            row = rows[kind, shuffled]
            colour = "default" if row.within_goal else "red"
            texts += [f"[{colour}]{factor_text(row.ratio.value)}x[/]", interval_text(row.ratio)]
        table.add_row(kind_text(kind), *times, *texts)
    return table


def host_times_table(measurements: Measurements, ranks: int, variants: list[Variant]) -> Table:
    """Microseconds of all MPIs without Tutti, under each condition."""
    conditions = measurements.settings.conditions
    table = _kinds_table(f"{ranks} ranks, us: {' / '.join(NAMES[name] for name in conditions)}")
    for variant in variants:
        table.add_column(variant.label, justify="right")

    def times(kind: Cell, variant: Variant) -> str:
        medians = [
            centre(measurements.cells[kind.under(name)][variant.key].median) for name in conditions
        ]
        return " / ".join(map(time_text, medians))

    for kind in kinds_of(measurements, ranks):
        table.add_row(kind_text(kind), *(times(kind, variant) for variant in variants))
    return table


def means_table(summaries: list[ConditionSummary]) -> Table:
    """A row for each variant, state of the machine and condition.

    The number of repetitions in a state follows its name.
    """
    title = "Geometric means over the kinds of calls (above 1: Tutti is faster)"
    table = Table(title=title, title_justify="left")
    table.add_column("ranks", justify="right")
    for column in ("Tutti on", "condition", "state"):
        table.add_column(column, no_wrap=True)
    for column in ("best peer", "95%", "own host", "keeps", "95%"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("worst kind", no_wrap=True)
    table.add_column("behind", justify="right")
    last = None
    for row in summaries:
        if last is not None and (row.ranks, row.variant, row.state) != last:
            table.add_section()
        last = (row.ranks, row.variant, row.state)
        kept = (f"{factor_text(row.kept.value)}", interval_text(row.kept)) if row.kept else ("", "")
        worst = (
            f"{factor_text(row.worst.comparison.ratio.value)}x "
            f"{kind_text(row.worst.comparison.cell)}"
        )
        state = f"{row.state} ({row.repetitions})" if row.state else "all"
        behind = f"[red]{len(row.behind)}[/]" if row.behind else "-"
        table.add_row(
            str(row.ranks),
            row.variant.label.replace(", Tutti", ""),
            NAMES[row.condition],
            state,
            ratio_text(row.ratio),
            interval_text(row.ratio),
            ratio_text(row.over_host) if row.over_host else "-",
            *kept,
            "" if row.state else worst,
            "" if row.state else behind,
        )
    return table


def notes(measurements: Measurements) -> list[str]:
    """The lines below the tables."""
    settings = measurements.settings
    states = states_of(measurements)
    lines = [states_text(states, ranks) for ranks in measured_ranks(measurements)]
    lines.append("behind: number of kinds whose whole 95% confidence interval is below 1")
    if settings.mixed:
        lines.append(
            "keeps: the geometric mean of shuffled calls over that of repeated calls; a ratio of "
            f"own times is red if a shuffled call takes more than {GOALS['mixed']} times a "
            f"repeated call's time and more than {GOAL_NANOSECONDS['mixed']:.0f} ns longer"
            + (f", cold more than {GOALS['mixed+cold']} times" if settings.cold else "")
        )
    if settings.cold:
        lines.append(
            f"cold: each rank streamed over {size_text(settings.cold)} of memory before each "
            "operation"
        )
    lines.append(f"seed {measurements.seed}")
    return [line for line in [*lines, load_text(measurements)] if line]


def in_detail(variants: list[Variant]) -> list[Variant]:
    """The variants with tables of their own: each MPI with its first setting.

    The table of means has all variants.
    """
    firsts = {
        (variant.mpi, variant.heap): variant for variant in reversed(variants) if variant.tutti
    }
    return [variant for variant in variants if variant in firsts.values()]


def show_conditions(measurements: Measurements, console: Console) -> None:
    settings = measurements.settings
    summaries = condition_summaries(measurements)
    for ranks in measured_ranks(measurements):
        variants = settings.variants(ranks)
        for variant in in_detail(variants):
            mine = [
                row
                for row in summaries
                if (row.ranks, row.variant, row.state) == (ranks, variant, "")
            ]
            if mine:
                console.print(against_peers_table(measurements, mine))
                console.print(own_times_table(measurements, ranks, variant))
        console.print(
            host_times_table(
                measurements, ranks, [variant for variant in variants if not variant.tutti]
            )
        )
    if summaries:
        console.print(means_table(summaries))
    for line in notes(measurements):
        console.print(line, highlight=False, markup=False, soft_wrap=True)
    if any(any(entry.comparison.modes) for row in summaries for entry in row.entries):
        console.print(MODES, highlight=False, markup=False, soft_wrap=True)
