"""`tutti model rules --output`: rules between nodes that follow from predictions.

For each call the candidates are judged on all machines together: a candidate's loss is how much
longer it takes than the best one, on the machine on which that is most. Neighbouring sizes get one
rule if some candidate is near the least loss in all of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isqrt
from operator import attrgetter

from tutti.choose.candidates import size_word
from tutti.choose.rules import RuleCell
from tutti.rows import grouped

NEAR = 0.05  # a candidate whose loss exceeds the least by no more does as well


@dataclass(frozen=True)
class Proposal:
    """A rule: numbers of nodes and sizes, both ends in it; 0: no upper end."""

    collective: str
    nodes: tuple[int, int]
    most_bytes: int
    candidate: str
    loss: float  # the largest in its sizes
    before: float  # the same of the rules that were asked

    @property
    def text(self) -> str:
        low, high = self.nodes
        nodes = str(low) if low == high else f"{low}..{high or ''}"
        sizes = f" sizes ..{size_word(self.most_bytes)}" if self.most_bytes else ""
        return f"{self.collective} nodes {nodes}{sizes} -> builtin:{self.candidate}"


def losses(cells: Sequence[RuleCell]) -> dict[str, float]:
    """The loss of each candidate, over the machines of one call. Candidates of all machines only."""
    common = set.intersection(*(set(one.times) for one in cells))
    return {name: max(one.times[name] / one.best_us for one in cells) - 1 for name in common}


def _upper_ends(values: Sequence[int]) -> list[int]:
    """For each of rising values the last one that is nearer to it, by factors; 0 at the end."""
    return [isqrt(low * high) for low, high in zip(values, values[1:], strict=False)] + [0]


def _round(size: int, least: int) -> int:
    """The power of two below a size, for rules that people read."""
    return max(least, 1 << (size.bit_length() - 1)) if size else 0


def _rules_of(
    collective: str, nodes: tuple[int, int], by_size: dict[int, list[RuleCell]]
) -> list[Proposal]:
    """One rule for each run of sizes, from short to long."""
    sizes = sorted(by_size)
    ends = {size: _round(end, size) for size, end in zip(sizes, _upper_ends(sizes), strict=True)}
    runs: list[tuple[list[int], set[str]]] = []
    lost = {size: losses(cells) for size, cells in by_size.items()}
    for size in sizes:
        least = min(lost[size].values())
        near = {name for name, loss in lost[size].items() if loss <= least + NEAR}
        if runs and runs[-1][1] & near:
            runs[-1] = ([*runs[-1][0], size], runs[-1][1] & near)
        else:
            runs.append(([size], near))
    result = []
    for run, near in runs:
        worst = {name: max(lost[size][name] for size in run) for name in near}
        chosen = min(sorted(near, key=len), key=worst.__getitem__)
        before = max(one.regret for size in run for one in by_size[size])
        result.append(Proposal(collective, nodes, ends[run[-1]], chosen, worst[chosen], before))
    return result


def proposals(cells: Sequence[RuleCell]) -> list[Proposal]:
    """Rules for all collectives and numbers of nodes (2 or more) of the cells, in a table's order."""
    over_nodes = (one for one in cells if one.nodes > 1)
    calls = grouped(over_nodes, attrgetter("collective", "nodes", "size"))
    result = []
    for collective in dict.fromkeys(name for name, _, _ in calls):
        counts = sorted({nodes for name, nodes, _ in calls if name == collective})
        low = 2
        for count, high in zip(counts, _upper_ends(counts), strict=True):
            by_size = {
                size: found
                for (name, nodes, size), found in calls.items()
                if (name, nodes) == (collective, count)
            }
            result += _rules_of(collective, (low, high), by_size)
            low = high + 1
    return result


def table_text(rules: Sequence[Proposal], machines: Sequence[str]) -> str:
    """A table with a comment for each rule."""
    lines = [
        "tutti-map 1",
        f"# Rules between nodes, by predictions on {', '.join(dict.fromkeys(machines))}.",
        "# A rule's loss: how much longer it takes than the best candidate, in its worst call.",
    ]
    for one in rules:
        lines.append(f"# loss {one.loss:.0%}, before {one.before:.0%}")
        lines.append(one.text)
    return "\n".join(lines) + "\n"
