"""Tables of kinds of calls under several conditions (`tutti bench mixed`)."""

from collections.abc import Callable

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
from tutti.bench.measurements import NAMES, Cell, Measurements
from tutti.bench.remarks import loaded, show_notes
from tutti.bench.results import measured_ranks
from tutti.bench.statistics import centre
from tutti.bench.texts import (
    cells_text,
    compared,
    factor_text,
    interval_text,
    kind_text,
    ratio_columns,
    ratio_text,
    size_text,
    time_text,
)
from tutti.bench.variants import Variant, in_detail
from tutti.tables import Table, number, table_of, words

KIND = words("kind", kind_text, no_wrap=True)


def against_peers_table(measurements: Measurements, summaries: list[ConditionSummary]) -> Table:
    """A row for each kind, columns for each condition.

    `summaries` are of one variant, over all repetitions.
    """
    first = summaries[0]
    kinds = kinds_of(measurements, first.ranks)
    peers = {entry.peer for summary in summaries for entry in summary.entries}
    under_load = ", load" if loaded(measurements, first.ranks, first.variant, *peers) else ""
    columns = [KIND]
    for summary in summaries:
        entries = dict(zip(kinds, summary.entries, strict=True))
        columns += compared(
            lambda kind, entries=entries: entries[kind].comparison, NAMES[summary.condition]
        )
    title = (
        f"{first.ranks} ranks: {first.variant.label}, times faster than the best peer in each cell"
    )
    return table_of(title + under_load, columns, kinds)


def _time_of(measurements: Measurements, variant: Variant, condition: str) -> Callable[[Cell], str]:
    return lambda kind: time_text(
        centre(measurements.cells[kind.under(condition)][variant.key].median)
    )


def own_times_table(measurements: Measurements, ranks: int, variant: Variant) -> Table:
    """Microseconds under each condition, and the ratios of shuffled to repeated calls."""
    conditions = measurements.settings.conditions
    rows = {
        (row.kind, row.shuffled): row
        for row in all_shuffled_over_repeated(measurements, ranks, variant)
    }

    def longer(kind: Cell, shuffled: str) -> str:
        row = rows[kind, shuffled]
        colour = "default" if row.within_goal else "red"
        return f"[{colour}]{factor_text(row.ratio.value)}x[/]"

    columns = [KIND]
    columns += [number(NAMES[one], _time_of(measurements, variant, one)) for one in conditions]
    for alone, shuffled in SHUFFLED.items():
        if shuffled in conditions:
            columns += [
                number(
                    f"{NAMES[shuffled]} / {NAMES[alone]}",
                    lambda kind, shuffled=shuffled: longer(kind, shuffled),
                ),
                number(
                    "95%",
                    lambda kind, shuffled=shuffled: interval_text(rows[kind, shuffled].ratio),
                ),
            ]
    title = f"{ranks} ranks: {variant.label}, us, medians of the slowest rank"
    return table_of(title, columns, kinds_of(measurements, ranks))


def host_times_table(measurements: Measurements, ranks: int, variants: list[Variant]) -> Table:
    """Microseconds of all MPIs without Tutti, under each condition."""
    conditions = measurements.settings.conditions

    def times(variant: Variant) -> Callable[[Cell], str]:
        texts = [_time_of(measurements, variant, condition) for condition in conditions]
        return lambda kind: " / ".join(text(kind) for text in texts)

    columns = [KIND, *(number(variant.label, times(variant)) for variant in variants)]
    title = f"{ranks} ranks, us: {' / '.join(NAMES[name] for name in conditions)}"
    return table_of(title, columns, kinds_of(measurements, ranks))


def _worst(row: ConditionSummary) -> str:
    comparison = row.worst.comparison
    return f"{factor_text(comparison.ratio.value)}x {kind_text(comparison.cell)}"


def means_table(summaries: list[ConditionSummary]) -> Table:
    """A row for each variant, state of the machine and condition.

    The number of repetitions in a state follows its name.
    """
    columns = [
        number("ranks", lambda row: str(row.ranks)),
        words("Tutti on", lambda row: row.variant.label.replace(", Tutti", ""), no_wrap=True),
        words("condition", lambda row: NAMES[row.condition], no_wrap=True),
        words("state", lambda row: f"{row.state} ({row.repetitions})" if row.state else "all"),
        *ratio_columns(lambda row: row.ratio, "best peer"),
        number("own host", lambda row: ratio_text(row.over_host) if row.over_host else "-"),
        number("keeps", lambda row: factor_text(row.kept.value) if row.kept else ""),
        number("95%", lambda row: interval_text(row.kept) if row.kept else ""),
        words("worst kind", lambda row: "" if row.state else _worst(row), no_wrap=True),
        number("behind", lambda row: "" if row.state else cells_text(len(row.behind))),
    ]
    title = "Geometric means over the kinds of calls (above 1: Tutti is faster)"
    return table_of(title, columns, summaries, lambda row: (row.ranks, row.variant.key, row.state))


def meanings(measurements: Measurements) -> list[str]:
    """The lines that say what columns mean."""
    settings = measurements.settings
    lines = ["behind: number of kinds whose whole 95% confidence interval is below 1"]
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
    return lines


def show_conditions(measurements: Measurements, console: Console) -> None:
    summaries = condition_summaries(measurements)
    for ranks in measured_ranks(measurements):
        variants = measurements.settings.variants(ranks)
        for variant in in_detail(variants):
            mine = [
                row
                for row in summaries
                if (row.ranks, row.variant, row.state) == (ranks, variant, "")
            ]
            if mine:
                console.print(against_peers_table(measurements, mine))
                console.print(own_times_table(measurements, ranks, variant))
        hosts = [variant for variant in variants if not variant.tutti]
        console.print(host_times_table(measurements, ranks, hosts))
    if summaries:
        console.print(means_table(summaries))
    entries = [entry.comparison for row in summaries for entry in row.entries]
    show_notes(measurements, console, meanings(measurements), entries)
