"""Times of kinds of calls under each condition: repeated, in a shuffled order, with cold caches,
both.

This answers two questions. Is Tutti faster than the best peer under a condition? How much longer
does a call of Tutti take in a shuffled order than repeated? Times are compared repetition by
repetition.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any

from tutti.bench.measurements import Cell, Measurements
from tutti.bench.peers import AgainstBest, against_best, against_best_json, peers_of
from tutti.bench.results import Comparison, comparison_of, measured_ranks
from tutti.bench.states import QUICK, SLOW, States, states_of
from tutti.bench.statistics import Ratio, centre, compare, log_ratios, ratio_of_logs
from tutti.bench.variants import Variant, host_of
from tutti.rows import members

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


def shuffled_over_repeated(
    measurements: Measurements, variant: Variant, kind: Cell, alone: str
) -> ShuffledOverRepeated:
    shuffled = SHUFFLED[alone]
    mixed, repeated = (
        measurements.cells[kind.under(name)][variant.key].median for name in (shuffled, alone)
    )
    return ShuffledOverRepeated(
        kind, shuffled, compare(mixed, repeated), 1000 * (centre(mixed) - centre(repeated))
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
    return [
        shuffled_over_repeated(measurements, variant, kind, alone)
        for kind in kinds_of(measurements, ranks)
        for alone, shuffled in SHUFFLED.items()
        if shuffled in measurements.settings.conditions
    ]


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
