"""Times of kinds of calls under each condition, and their tables (`tutti bench mixed`): repeated, in
a shuffled order, with cold caches, both.

This answers two questions. Is Tutti faster than the best peer under a condition? How much longer
does a call of Tutti take in a shuffled order than repeated? Times are compared repetition by
repetition.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any

from rich.console import Console

from tutti.bench.measurements import NAMES, Cell, Measurements
from tutti.bench.remarks import loaded, show_notes
from tutti.bench.results import (
    AgainstBest,
    Comparison,
    against_best,
    against_best_json,
    comparison_of,
    measured_ranks,
    peers_of,
)
from tutti.bench.states import QUICK, SLOW, States, states_of
from tutti.bench.statistics import Ratio, centre, compare, log_ratios, ratio_of_logs
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
from tutti.bench.variants import Variant, host_of, in_detail
from tutti.rows import members
from tutti.tables import Table, number, table_of, words

# For each condition with repeated calls, the same condition with the kinds in a shuffled order.
SHUFFLED = {"plain": "mixed", "cold": "mixed+cold"}
# A shuffled call meets its goal if it takes at most so many times the repeated call's time, or at
# most so many nanoseconds more.
GOALS = {"mixed": 1.15, "mixed+cold": 1.6}
GOAL_NANOSECONDS = {"mixed": 60.0, "mixed+cold": 0.0}


def kinds_of(measurements: Measurements, ranks: int) -> list[Cell]:
    """The kinds of blocking calls in the order of --kinds, each as its plain cell."""
    return [cell for cell in measurements.cells if cell.ranks == ranks and cell.plain]


@dataclass(frozen=True)
class ShuffledOverRepeated:
    """One kind of call of one variant: its time in a shuffled order over its time repeated.

    Both times are with warm caches, or both with cold ones.
    """

    kind: Cell
    shuffled: str  # the shuffled condition
    ratio: Ratio
    nanoseconds: float  # how much longer the shuffled call takes

    @property
    def within_goal(self) -> bool:
        return (
            self.ratio.value <= GOALS[self.shuffled]
            or self.nanoseconds <= GOAL_NANOSECONDS[self.shuffled]
        )


@dataclass(frozen=True)
class ConditionSummary:
    """One variant with Tutti under one condition: each kind against its best peer.

    The numbers are over all repetitions, or over those in one state of the machine.
    """

    ranks: int
    variant: Variant
    condition: str
    state: str  # the state of the machine; empty: over all repetitions
    repetitions: int
    entries: list[AgainstBest]
    ratio: Ratio  # the geometric mean over the kinds
    over_host: Ratio | None  # the same against the MPI that Tutti runs on
    kept: (
        Ratio | None
    )  # `ratio` over the ratio of repeated calls; None if this one is of repeated calls

    @property
    def worst(self) -> AgainstBest:
        return min(self.entries, key=lambda entry: entry.comparison.ratio.value)

    @property
    def behind(self) -> list[AgainstBest]:
        """The kinds whose whole interval lies below 1."""
        return [entry for entry in self.entries if entry.comparison.ratio.behind]


def _logs(comparisons: Sequence[Comparison], repetitions: Sequence[int]) -> list[float]:
    """For each repetition, the mean over the kinds of the logarithms of the ratios."""
    by_kind = [log_ratios(*one.times) for one in comparisons]
    return [fmean(logs[k] for logs in by_kind) for k in repetitions]


class _Conditions:
    """The entries of each condition for one rank count and variant, and means over repetitions."""

    def __init__(self, measurements: Measurements, ranks: int, variant: Variant) -> None:
        self.measurements, self.ranks, self.variant = measurements, ranks, variant
        self.kinds = kinds_of(measurements, ranks)
        self.peers = peers_of(measurements, ranks)
        self.host = host_of(self.peers, variant)
        self.entries = {name: self._entries(name) for name in measurements.settings.conditions}

    def _entries(self, condition: str) -> list[AgainstBest]:
        return [
            against_best(self.measurements, kind.under(condition), self.peers, self.variant)
            for kind in self.kinds
        ]

    def over_best(self, condition: str) -> list[Comparison]:
        return [entry.comparison for entry in self.entries[condition]]

    def over_host(self, condition: str) -> list[Comparison]:
        if self.host is None:
            return []
        cells = [self.measurements.cells[kind.under(condition)] for kind in self.kinds]
        return [comparison_of(kind, cell[self.host.key], cell[self.variant.key])
                for kind, cell in zip(self.kinds, cells, strict=True)]  # fmt: skip

    def variants(self, condition: str) -> list[str]:
        """Keys of all variants whose times enter the numbers of a condition."""
        keys = [self.variant.key, *(entry.peer.key for entry in self.entries[condition])]
        return list(dict.fromkeys(keys + ([self.host.key] if self.host else [])))

    def summary(self, condition: str, state: str, states: States) -> ConditionSummary | None:
        alone = next((name for name, shuffled in SHUFFLED.items() if shuffled == condition), None)
        chosen = [condition, *([alone] if alone else [])]
        every = range(self.measurements.settings.repetitions)
        keys = list(dict.fromkeys(key for name in chosen for key in self.variants(name)))
        repetitions = states.repetitions(self.ranks, keys, chosen, state) if state else list(every)
        if not repetitions or not self.kinds:
            return None
        logs = _logs(self.over_best(condition), repetitions)
        over_host = self.over_host(condition)
        kept = None
        if alone is not None:
            repeated = _logs(self.over_best(alone), repetitions)
            kept = ratio_of_logs(
                [mixed - plain for mixed, plain in zip(logs, repeated, strict=True)]
            )
        return ConditionSummary(
            self.ranks,
            self.variant,
            condition,
            state,
            len(repetitions),
            self.entries[condition],
            ratio_of_logs(logs),
            ratio_of_logs(_logs(over_host, repetitions)) if over_host else None,
            kept,
        )


def condition_summaries(measurements: Measurements) -> list[ConditionSummary]:
    """Summaries for each rank count, variant with Tutti and condition.

    They are over all repetitions, then over those in each state if the machine has two states.
    """
    states = states_of(measurements)
    result = []
    for ranks in measured_ranks(measurements):
        for variant in measurements.settings.variants(ranks):
            if not variant.tutti:
                continue
            conditions = _Conditions(measurements, ranks, variant)
            for state in ("", QUICK, SLOW) if states.between is not None else ("",):
                summaries = [
                    conditions.summary(name, state, states)
                    for name in measurements.settings.conditions
                ]
                result += [summary for summary in summaries if summary is not None]
    return result


def all_shuffled_over_repeated(
    measurements: Measurements, ranks: int, variant: Variant
) -> list[ShuffledOverRepeated]:
    """For every kind: with warm caches, then with cold ones, as far as measured."""
    rows = []
    for kind in kinds_of(measurements, ranks):
        for names in SHUFFLED.items():
            if names[1] in measurements.settings.conditions:
                cells = [measurements.cells[kind.under(name)] for name in names]
                repeated, mixed = (cell[variant.key].median for cell in cells)
                longer = 1000 * (centre(mixed) - centre(repeated))
                rows.append(ShuffledOverRepeated(kind, names[1], compare(mixed, repeated), longer))
    return rows


def _summary_json(summary: ConditionSummary) -> dict[str, Any]:
    return {
        **members(summary, "ranks", "condition", "repetitions"),
        "variant": summary.variant.key,
        "state": summary.state or None,
        "over_best_peer": asdict(summary.ratio),
        "over_host": asdict(summary.over_host) if summary.over_host else None,
        "kinds_behind": None if summary.state else len(summary.behind),
        "kept_of_repeated": asdict(summary.kept) if summary.kept else None,
    } | (
        {} if summary.state else {"kinds": [against_best_json(entry) for entry in summary.entries]}
    )


def conditions_json(measurements: Measurements) -> dict[str, Any]:
    variants = [
        (ranks, v)
        for ranks in measured_ranks(measurements)
        for v in measurements.settings.variants(ranks)
        if v.tutti
    ]
    return {
        "seed": measurements.seed,
        "against_best_peer": [
            _summary_json(summary) for summary in condition_summaries(measurements)
        ],
        "shuffled_over_repeated": [
            row.kind.words
            | {
                "condition": row.shuffled,
                "variant": variant.key,
                "ratio": asdict(row.ratio),
                "longer_ns": row.nanoseconds,
                "goal": GOALS[row.shuffled],
                "within_goal": row.within_goal,
            }
            for ranks, variant in variants
            for row in all_shuffled_over_repeated(measurements, ranks, variant)
        ],
    }


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
