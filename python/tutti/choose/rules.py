"""`tutti model rules`: what Tutti's rules cost on a machine, over the best that the model finds.

For each call of a grid the rule that decides is predicted, and so are all candidates that the model
would choose from (tutti.choose.choice). The regret of the rule is how much longer it takes than the
best of them.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from statistics import fmean
from typing import Any

from tutti.choose.choice import search
from tutti.choose.placement import Placement, placement_on
from tutti.errors import UserError
from tutti.places import core
from tutti.plan.machine import Machine
from tutti.rows import grouped, members
from tutti.tuning.measuring import chosen_by
from tutti.tuning.writing import default_on


@dataclass(frozen=True)
class RuleCell:
    """A call on a machine: what serves it by rule, and the best by the model. Times are in us."""

    machine: str
    ranks: int
    nodes: int
    reached: bool
    collective: str
    size: int
    place: str  # the place of the rule, as default.map:12
    runs: str
    us: float
    best: str
    best_us: float
    # Indexed by candidate.
    times: dict[str, float] = field(default_factory=dict, compare=False, repr=False)
    bound: bool = True

    @property
    def regret(self) -> float:
        """0.1: the rule takes 10% longer than the best."""
        return self.us / self.best_us - 1


@dataclass(frozen=True)
class RuleSummary:
    """All cells of a machine that one rule decides."""

    place: str
    text: str
    machine: str
    cells: list[RuleCell]

    @property
    def mean(self) -> float:
        return fmean(one.regret for one in self.cells)

    @property
    def worst(self) -> RuleCell:
        return max(self.cells, key=lambda one: one.regret)


def placements_of(
    shape: str,
    ranks: Sequence[int] | None,
    nodes: Sequence[int],
    reach: str,
    bound: bool = True,
) -> list[Placement]:
    """A rank on each core of so many nodes; or so many ranks. Raises UserError."""
    machine = Machine.parse(shape)
    counts = ranks
    if counts is None:
        counts = [count * machine.node.cores for count in nodes if count <= machine.nodes]
    for count in counts:
        if count > machine.cores:
            raise UserError(
                f"--ranks: '{shape}' has {machine.cores} cores, and the model knows no ranks that "
                "share a core; give fewer"
            )
    return [
        replace(placement_on(shape, count, reach), bound=bound) for count in counts if count > 1
    ]


def rule_cells(
    model: Any,
    placements: Sequence[Placement],
    collectives: Sequence[str],
    sizes: Sequence[int],
    say: Callable[[str], None] = lambda line: None,
    table: str = "",
) -> list[RuleCell]:
    """One cell for each call that has a prediction. `say` takes a line before each collective.

    `table`: the file of a table whose rules are asked before Tutti's; "": none.
    """
    name = json.loads(model.text)["name"]
    cells = []
    for placement in placements:
        for collective in collectives:
            say(f"{name}, {placement.ranks} ranks, {collective}")
            for size in [0] if collective == "barrier" else sizes:
                with chosen_by(None):
                    served = default_on(collective, size, placement, table)
                found = search(model, collective, size, placement, served.candidate)
                us = found.time_of(served.candidate)
                if us is None:
                    continue
                best = found.order[0]
                cells.append(
                    RuleCell(
                        name, placement.ranks, placement.node_count, placement.reached, collective,
                        size, served.place, served.label, us, best.candidate.label,
                        best.microseconds,
                        {one.candidate.label: one.microseconds for one in found.order},
                        placement.bound,
                    )
                )  # fmt: skip
    return cells


def summaries(cells: Sequence[RuleCell], table: str = "") -> list[RuleSummary]:
    """A summary for each rule, in the order of the tables, and machine."""
    with chosen_by(None):
        texts = dict(core().table_rules(table))
    found = [
        RuleSummary(place, texts[place], machine, mine)
        for (place, machine), mine in grouped(cells, attrgetter("place", "machine")).items()
    ]
    order = {place: number for number, place in enumerate(texts)}
    return sorted(found, key=lambda one: order[one.place])


def by_call(cells: Sequence[RuleCell]) -> list[tuple[tuple[str, int, str], list[RuleCell]]]:
    """The cells of each machine, ranks and collective, in their order."""
    return list(grouped(cells, attrgetter("machine", "ranks", "collective")).items())


def as_json(cells: Sequence[RuleCell], table: str = "") -> dict[str, Any]:
    of_cells = ("machine", "ranks", "nodes", "reached", "bound", "collective", "place", "runs")
    return {
        "format": "tutti-model-rules 1",
        "rules": [
            members(one, "place", "machine", "mean", digits=4)
            | {"rule": one.text, "cells": len(one.cells), "worst": round(one.worst.regret, 4)}
            for one in summaries(cells, table)
        ],
        "calls": [
            {
                "machine": machine,
                "ranks": ranks,
                "collective": collective,
                "mean": round(fmean(one.regret for one in mine), 4),
                "worst": round(max(one.regret for one in mine), 4),
            }
            for (machine, ranks, collective), mine in by_call(cells)
        ],
        "cells": [
            members(one, *of_cells, "best", "best_us", "regret", digits=4)
            | {"bytes": one.size, "predicted_us": round(one.us, 4)}
            for one in cells
        ],
    }
