"""Finds which state the machine was in.

Some machines switch between two states, in which a cache line goes from one core to another in, for
example, 50 or 190 ns. Each job times this hand-over before and after each condition. (If ranks
share cores, tutti-threads times it once in each repetition.) If the times of all jobs form two
groups, the groups are the states quick and slow.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median
from typing import Any

from tutti.bench.measurements import Measurements
from tutti.bench.results import measured_ranks

QUICK, SLOW, CHANGED = "quick", "slow", "changed"
APART = 1.5  # the states differ by more than this factor
LEAST_SHARE = 0.1  # each group has at least this share of all times; a smaller one is a disturbance


def border(times: Sequence[float]) -> float | None:
    """The time that separates the two groups, at the widest gap by ratio; None for one group."""
    ordered = sorted(time for time in times if time > 0)
    least = max(1, round(LEAST_SHARE * len(ordered)))
    gaps = [(ordered[i] / ordered[i - 1], i) for i in range(least, len(ordered) - least + 1)]
    factor, place = max(gaps, default=(1.0, 0))
    return (ordered[place - 1] * ordered[place]) ** 0.5 if factor > APART else None


@dataclass(frozen=True)
class States:
    """Hand-overs in nanoseconds by (ranks, variant, condition) and repetition."""

    hand_overs: dict[tuple[int, str, str], list[list[float]]]

    @cached_property
    def between(self) -> float | None:
        """It separates the two states; None if there is one state."""
        return border(self.all_times)

    @property
    def all_times(self) -> list[float]:
        return [
            time
            for by_repetition in self.hand_overs.values()
            for times in by_repetition
            for time in times
        ]

    def typical(self, state: str) -> float | None:
        """The median hand-over in a state, or of all times if there is only one state."""
        times = [
            time
            for time in self.all_times
            if self.between is None or (time < self.between) == (state == QUICK)
        ]
        return median(times) if times else None

    def state(self, times: Sequence[float]) -> str:
        """The state that all these times are in; CHANGED if they are in both.

        Empty if there is only one state or nothing was measured.
        """
        if self.between is None or not times:
            return ""
        quick = {time < self.between for time in times}
        if len(quick) > 1:
            return CHANGED
        return QUICK if quick == {True} else SLOW

    def repetitions(
        self, ranks: int, variants: Sequence[str], conditions: Sequence[str], state: str
    ) -> list[int]:
        """The repetitions with the machine in this state in all these variants and conditions."""
        runs = [
            self.hand_overs.get((ranks, key, condition), [])
            for key in variants
            for condition in conditions
        ]
        count = min((len(run) for run in runs), default=0)
        return [k for k in range(count) if all(self.state(run[k]) == state for run in runs)]

    def by_repetition(self, ranks: int) -> list[list[float]]:
        """All times of one rank count, for each repetition."""
        runs = [run for (of_ranks, _, _), run in self.hand_overs.items() if of_ranks == ranks]
        count = min((len(run) for run in runs), default=0)
        return [[time for run in runs for time in run[k]] for k in range(count)]


def states_of(measurements: Measurements) -> States:
    settings = measurements.settings
    hand_overs: dict[tuple[int, str, str], list[list[float]]] = {}
    for ranks in measured_ranks(measurements):
        for variant in settings.variants(ranks):
            jobs = measurements.hand_overs.get((ranks, variant.key), [])
            for condition in settings.conditions:
                hand_overs[ranks, variant.key, condition] = [
                    job.get(condition) or _hand_over_of_limits(measurements, repetition)
                    for repetition, job in enumerate(jobs)
                ]
    return States(hand_overs)


def _hand_over_of_limits(measurements: Measurements, repetition: int) -> list[float]:
    limits = measurements.limits[repetition] if repetition < len(measurements.limits) else {}
    time = limits.get("line_half_round_trip_ns")
    return [] if time is None else [time]


def states_text(states: States, ranks: int) -> str:
    """One line: the states, and the repetitions in each; empty if nothing is known."""
    by_repetition = states.by_repetition(ranks)
    if not any(by_repetition):
        return ""
    if states.between is None:
        return (
            f"{ranks} ranks: a cache line goes from core to core in "
            f"{median(states.all_times):.0f} ns; the machine was in one state"
        )
    named = [(states.state(times), str(k + 1)) for k, times in enumerate(by_repetition)]
    groups = [
        f"{name} in {', '.join(k for of, k in named if of == name)}"
        for name in (QUICK, SLOW, CHANGED)
        if name in dict(named)
    ]
    return (
        f"{ranks} ranks: a cache line goes from core to core in {states.typical(QUICK):.0f} ns "
        f"(quick state of the machine) or {states.typical(SLOW):.0f} ns (slow state); "
        f"repetitions: {'; '.join(groups)}"
    )


def states_json(measurements: Measurements) -> dict[str, Any]:
    states = states_of(measurements)
    both = states.between is not None
    return {
        "hand_over_ns": [
            {
                "ranks": ranks,
                "variant": key,
                "condition": condition,
                "by_repetition": run,
                "states": [states.state(times) or None for times in run],
            }
            for (ranks, key, condition), run in states.hand_overs.items()
        ],
        "border_ns": states.between,
        "quick_ns": states.typical(QUICK) if both else None,
        "slow_ns": states.typical(SLOW) if both else None,
        "repetitions": [
            {
                "ranks": ranks,
                "states": [states.state(times) or None for times in states.by_repetition(ranks)],
            }
            for ranks in measured_ranks(measurements)
        ],
    }
