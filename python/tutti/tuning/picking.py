"""From measured times to decisions: which candidates stay in the race, and which beat the default. Pure functions.

A candidate is compared with the default repetition by repetition (tutti.bench.statistics). It is picked where even the
lower end of the ratio's 95% interval says that it is faster by more than the margin. The best of many is best by luck too,
so what was picked is measured against the default once more, and stays only where that says the same.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from tutti.bench.driver import Cell
from tutti.bench.statistics import Ratio, centre, compare

DEFAULT = "default"
TUNED = "tuned"  # what was picked, in the repetitions that confirm it
LEAST_REPETITIONS = 3  # fewer have an interval too wide to decide anything
HOPELESS = 0.8  # a candidate that is slower than this in every cell is given up early

# Microseconds by cell, candidate's label (or DEFAULT) and repetition.
Times = Mapping[Cell, Mapping[str, Mapping[int, float]]]


@dataclass(frozen=True)
class Pick:
    """A cell and what should serve it; `label` None keeps the default."""

    cell: Cell
    label: str | None
    default_us: float
    tuned_us: float  # of the candidate; of the default where it stays
    ratio: Ratio | None  # default over candidate


def ratio_of(by_label: Mapping[str, Mapping[int, float]], label: str) -> Ratio | None:
    """How many times faster than the default, over the repetitions that measured both; None where none did."""
    base, other = by_label.get(DEFAULT, {}), by_label.get(label, {})
    common = sorted(base.keys() & other.keys())
    return compare([base[r] for r in common], [other[r] for r in common]) if common else None


def repetitions_of(by_label: Mapping[str, Mapping[int, float]], label: str) -> int:
    return len(by_label.get(DEFAULT, {}).keys() & by_label.get(label, {}).keys())


def in_the_race(times: Times, ranks: int, collective: str, label: str, margin: float) -> bool:
    """Whether it is worth measuring on: in some cell it may still turn out faster than the default."""
    cells = [
        cell
        for cell in times
        if (cell.ranks, cell.collective) == (ranks, collective) and label in times[cell]
    ]
    if not cells:
        return True
    for cell in cells:
        ratio = ratio_of(times[cell], label)
        count = repetitions_of(times[cell], label)
        if ratio is None or count < 2:
            return True
        early = count < LEAST_REPETITIONS or ratio.high is None
        if (early and ratio.value >= HOPELESS) or (
            not early and ratio.high is not None and ratio.high > 1 + margin
        ):
            return True
    return False


def pick(times: Times, margin: float) -> list[Pick]:
    """A decision for every cell that has times of the default, in order."""
    picks = []
    for cell in sorted(times):
        by_label = times[cell]
        if DEFAULT not in by_label:
            continue
        usual = centre(list(by_label[DEFAULT].values()))
        best: Pick | None = None
        for label in sorted(by_label.keys() - {DEFAULT}):
            ratio = ratio_of(by_label, label)
            if ratio is None or repetitions_of(by_label, label) < LEAST_REPETITIONS:
                continue
            if ratio.low is None or ratio.low <= 1 + margin:
                continue
            if best is None or best.ratio is None or ratio.value > best.ratio.value:
                best = Pick(cell, label, usual, centre(list(by_label[label].values())), ratio)
        picks.append(best or Pick(cell, None, usual, usual, None))
    return picks


def confirmed(picks: list[Pick], times: Times, label: str, margin: float) -> list[Pick]:
    """What stays picked by new measurements under `label`, with their numbers; where there are too few nothing does."""
    result = []
    for one in picks:
        by_label = times.get(one.cell, {})
        ratio = (
            ratio_of(by_label, label)
            if repetitions_of(by_label, label) >= LEAST_REPETITIONS
            else None
        )
        if (
            one.label is not None
            and ratio is not None
            and ratio.low is not None
            and ratio.low > 1 + margin
        ):
            usual, tuned = (centre(list(by_label[name].values())) for name in (DEFAULT, label))
            result.append(replace(one, default_us=usual, tuned_us=tuned, ratio=ratio))
        else:
            result.append(replace(one, label=None, tuned_us=one.default_us, ratio=None))
    return result


@dataclass(frozen=True)
class TunedRule:
    """A rule of the table to be: neighbouring sizes and rank counts with one answer."""

    collective: str
    ranks: tuple[int, int]
    oversubscribed: bool
    reached: bool  # measured where ranks reach all that each of them allocates
    sizes: tuple[int, int | None]  # both ends in it; None: without end
    label: str
    picks: tuple[Pick, ...]


def _edge(low: int, high: int, line_payload: int) -> int:
    """The last size that is served as `low` is, between two measured sizes with different answers."""
    if low <= line_payload < high:
        return line_payload  # beyond it messages travel otherwise anyway
    middle = 1 << round((low.bit_length() + high.bit_length() - 2) / 2)
    return min(max(middle, low), high - 1)


# Beyond the smallest and the largest measured size an answer holds this far, unless these were about as small and as
# large as sizes get.
REACH = 2
LARGE = 256 << 10


def _runs(
    picks: list[Pick], line_payload: int
) -> list[tuple[tuple[int, int | None], str, tuple[Pick, ...]]]:
    """Of one collective and rank count, by size: neighbours with one answer, and the sizes that it holds for."""
    groups: list[list[int]] = []
    for place, one in enumerate(picks):
        if groups and picks[groups[-1][-1]].label == one.label:
            groups[-1].append(place)
        else:
            groups.append([place])
    runs = []
    for group in groups:
        first, last = picks[group[0]], picks[group[-1]]
        if first.label is None:
            continue
        smallest, largest = first.cell.bytes, last.cell.bytes
        low = 0 if smallest <= line_payload else -(-smallest // REACH)
        high = None if largest >= LARGE or first.cell.collective == "barrier" else largest * REACH
        if group[0] > 0:
            low = _edge(picks[group[0] - 1].cell.bytes, smallest, line_payload) + 1
        if group[-1] + 1 < len(picks):
            high = _edge(largest, picks[group[-1] + 1].cell.bytes, line_payload)
        runs.append(((low, high), first.label, tuple(picks[place] for place in group)))
    return runs


def rules_of(
    picks: list[Pick], cores: int, line_payload: int, reached: bool = False
) -> list[TunedRule]:
    """The rules that differ from the default; rank counts next to each other in the measurement are joined."""
    measured = sorted({one.cell.ranks for one in picks})
    rules: list[TunedRule] = []
    for collective in dict.fromkeys(one.cell.collective for one in picks):
        for place, ranks in enumerate(measured):
            mine = [
                one for one in picks if (one.cell.collective, one.cell.ranks) == (collective, ranks)
            ]
            for sizes, label, cells in _runs(mine, line_payload):
                oversubscribed = ranks > cores
                before = measured[place - 1] if place else None
                joined = next(
                    (rule for rule in rules
                     if (rule.collective, rule.ranks[1], rule.oversubscribed, rule.sizes, rule.label)
                     == (collective, before, oversubscribed, sizes, label)),
                    None,
                )  # fmt: skip
                if joined is not None:
                    rules[rules.index(joined)] = TunedRule(
                        collective,
                        (joined.ranks[0], ranks),
                        oversubscribed,
                        reached,
                        sizes,
                        label,
                        joined.picks + cells,
                    )
                else:
                    rules.append(
                        TunedRule(
                            collective, (ranks, ranks), oversubscribed, reached, sizes, label, cells
                        )
                    )
    return rules
