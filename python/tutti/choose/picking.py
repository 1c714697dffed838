"""Decides from measured times which candidates stay in the race and which beat the default.

All functions are pure. A candidate is compared with the default repetition by repetition
(tutti.bench.statistics). It is picked if the lower end of the ratio's 95% confidence interval is
above 1 plus the margin. The best of many candidates can be best by chance, so each pick is measured
against the default a second time, and stays only if the second result agrees.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from tutti.bench.measurements import Cell
from tutti.bench.statistics import Ratio, centre, compare

DEFAULT = "default"
TUNED = "tuned"  # begins the label of the picks in the repetitions that confirm them
LEAST_REPETITIONS = 3  # with fewer the interval is too wide for a decision
HOPELESS = 0.8  # a candidate whose speed-up is below this in every cell leaves the race early

# Microseconds by cell, candidate's label (or DEFAULT) and repetition.
Times = Mapping[Cell, Mapping[str, Mapping[int, float]]]


@dataclass(frozen=True)
class Pick:
    """A cell and the candidate that should serve it; `label` None keeps the default."""

    cell: Cell
    label: str | None
    default_us: float
    tuned_us: float  # the candidate's time, or the default's if the default stays
    ratio: Ratio | None  # the default's time over the candidate's


def ratio_of(
    by_label: Mapping[str, Mapping[int, float]], label: str, repetitions: int = 1
) -> Ratio | None:
    """How many times faster than the default a candidate is, over the repetitions that measured
    both.

    None if fewer repetitions than these measured both.
    """
    base, other = by_label.get(DEFAULT, {}), by_label.get(label, {})
    common = sorted(base.keys() & other.keys())
    if len(common) < repetitions:
        return None
    return compare([base[r] for r in common], [other[r] for r in common])


def leads(ratio: Ratio | None, margin: float) -> bool:
    return ratio is not None and ratio.low is not None and ratio.low > 1 + margin


def in_the_race(times: Times, ranks: int, collective: str, label: str, margin: float) -> bool:
    """True if the candidate may still turn out faster than the default in some cell."""
    cells = [
        cell
        for cell in times
        if (cell.ranks, cell.collective) == (ranks, collective) and label in times[cell]
    ]
    if not cells:
        return True
    for cell in cells:
        ratio = ratio_of(times[cell], label, 2)
        if ratio is None or ratio.high is None:
            return True
        early = ratio_of(times[cell], label, LEAST_REPETITIONS) is None
        if ratio.value >= HOPELESS if early else ratio.high > 1 + margin:
            return True
    return False


def pick(times: Times, margin: float) -> list[Pick]:
    """A decision for every cell for which the default was measured, in the order of the cells."""
    picks = []
    for cell in sorted(times):
        by_label = times[cell]
        if DEFAULT not in by_label:
            continue
        usual = centre(list(by_label[DEFAULT].values()))
        best: Pick | None = None
        for label in sorted(by_label.keys() - {DEFAULT}):
            ratio = ratio_of(by_label, label, LEAST_REPETITIONS)
            if ratio is None or not leads(ratio, margin):
                continue
            if best is None or best.ratio is None or ratio.value > best.ratio.value:
                best = Pick(cell, label, usual, centre(list(by_label[label].values())), ratio)
        picks.append(best or Pick(cell, None, usual, usual, None))
    return picks


def confirmed(picks: list[Pick], times: Times, label: str, margin: float) -> list[Pick]:
    """The picks after the second measurement, whose times are under `label`.

    A pick stays, with the new numbers, if the second measurement confirms it. With too few
    repetitions no pick stays.
    """
    result = []
    for one in picks:
        by_label = times.get(one.cell, {})
        ratio = ratio_of(by_label, label, LEAST_REPETITIONS)
        if one.label is not None and leads(ratio, margin):
            usual, tuned = (centre(list(by_label[name].values())) for name in (DEFAULT, label))
            result.append(replace(one, default_us=usual, tuned_us=tuned, ratio=ratio))
        else:
            result.append(replace(one, label=None, tuned_us=one.default_us, ratio=None))
    return result


@dataclass(frozen=True)
class TunedRule:
    """A rule of the new table: adjacent sizes and rank counts with the same answer."""

    collective: str
    ranks: tuple[int, int]
    oversubscribed: bool
    reached: bool  # measured with memory that all ranks reach
    sizes: tuple[int, int | None]  # first and last size, both included; None: no upper limit
    label: str
    picks: tuple[Pick, ...]
    nodes: int = 1  # the nodes that the ranks are on

    def joins(self, other: "TunedRule", before: int | None) -> bool:
        """True if both say the same, and this one ends at the rank count `before` the other."""
        return self.ranks[1] == before and all(
            getattr(self, name) == getattr(other, name)
            for name in ("collective", "oversubscribed", "sizes", "label", "nodes")
        )


def _edge(low: int, high: int, line_payload: int) -> int:
    """The last size that gets the answer of `low`, between two measured sizes with different
    answers.
    """
    if low <= line_payload < high:
        return line_payload  # longer messages use slots instead of lines
    middle = 1 << round((low.bit_length() + high.bit_length() - 2) / 2)
    return min(max(middle, low), high - 1)


# An answer is extended by this factor below the smallest and above the largest measured size. It
# has no limit if the smallest size fits a line or the largest is at least LARGE.
REACH = 2
LARGE = 256 << 10


def _runs(
    picks: list[Pick], line_payload: int
) -> list[tuple[tuple[int, int | None], str, tuple[Pick, ...]]]:
    """Groups adjacent sizes with the same answer, and gives the range of sizes of each group.

    `picks` are of one collective and one rank count, in the order of sizes.
    """
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
    picks: list[Pick],
    cores: int,
    line_payload: int,
    reached: bool = False,
    nodes: Mapping[int, int] | None = None,
) -> list[TunedRule]:
    """The rules that differ from the default. Adjacent measured rank counts share a rule.

    `nodes`: how many nodes so many ranks are on; without it all are on one.
    """
    measured = sorted({one.cell.ranks for one in picks})
    rules: list[TunedRule] = []
    for collective in dict.fromkeys(one.cell.collective for one in picks):
        for place, ranks in enumerate(measured):
            mine = [
                one for one in picks if (one.cell.collective, one.cell.ranks) == (collective, ranks)
            ]
            for sizes, label, cells in _runs(mine, line_payload):
                on_nodes = (nodes or {}).get(ranks, 1)
                rule = TunedRule(
                    collective,
                    (ranks, ranks),
                    ranks > cores,
                    reached,
                    sizes,
                    label,
                    cells,
                    on_nodes,
                )
                before = measured[place - 1] if place else None
                at = next((k for k, one in enumerate(rules) if one.joins(rule, before)), None)
                if at is None:
                    rules.append(rule)
                else:
                    joined = rules[at]
                    rules[at] = replace(
                        rule, ranks=(joined.ranks[0], ranks), picks=joined.picks + cells
                    )
    return rules
