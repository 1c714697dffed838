"""Choosing by prediction: the algorithms of a call in the order of their predicted times, and the
best candidates among all parameters that rules have words for.

The algorithms are predicted first, with the executor's own segments. The quickest of them are then
predicted with each size of segments and, where ranks reach each other's memory, also through slots
(`reach staged`), or in private memory by the system's copies (`reach cma`) if the machine has their
costs.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import fmean
from typing import Any

from tutti.choose.candidates import LONG_BYTES, Candidate
from tutti.choose.parameters import SEGMENTS, specs_for_model
from tutti.choose.placement import Placement, roots_to_try
from tutti.errors import UserError
from tutti.places import core
from tutti.predict.prediction import Where, predict, shared_levels

# How ranks move data where a rule says `reach`.
REACHES = {"staged": "slots", "cma": "cma"}


@lru_cache(maxsize=1024)
def _plan(collective: str, algorithm: str, ranks: int, root: int, levels: str) -> Any:
    return core().generate(collective, algorithm, ranks, root, levels)


@dataclass(frozen=True)
class Predicted:
    candidate: Candidate
    microseconds: float


@dataclass(frozen=True)
class Question:
    """A call, and the levels that its ranks share (`Placed.levels`)."""

    collective: str
    size: int
    root: int
    levels: str
    where: Where


def predicted(
    model: Any, question: Question, candidates: Sequence[Candidate]
) -> tuple[list[Predicted], list[str]]:
    """The candidates with their times, the quickest first, and why others have none, a line each.

    Where several have the same time, they keep the order of `candidates`.
    """
    found, refused = [], []
    for candidate in candidates:
        where = question.where
        try:
            plan = _plan(
                question.collective,
                candidate.algorithm,
                where.ranks,
                question.root,
                question.levels,
            )
            reach = REACHES.get(candidate.reach, where.reach)
            where = replace(where, segment=candidate.segment_bytes, reach=reach)
            cell = predict(model, plan, candidate.label, question.size, where)
        except (UserError, core().Error) as error:
            refused.append(str(error))
            continue
        found.append(Predicted(candidate, cell.microseconds))
    return sorted(found, key=lambda one: one.microseconds), refused


def predicted_for_roots(
    model: Any, question: Question, roots: Sequence[int], candidates: Sequence[Candidate]
) -> tuple[list[Predicted], dict[int, list[Predicted]], list[str]]:
    """Does the same as `predicted`, by the mean of the times with these roots; and the order of each root.

    A candidate that one root has no prediction for is left out of the first.
    """
    by_root: dict[int, list[Predicted]] = {}
    refused: list[str] = []
    for root in roots:
        by_root[root], lines = predicted(model, replace(question, root=root), candidates)
        refused += lines
    times: dict[Candidate, list[float]] = {}
    for order in by_root.values():
        for one in order:
            times.setdefault(one.candidate, []).append(one.microseconds)
    mean = [
        Predicted(candidate, fmean(times[candidate]))
        for candidate in dict.fromkeys(candidates)
        if len(times.get(candidate, ())) == len(roots)
    ]
    return sorted(mean, key=lambda one: one.microseconds), by_root, refused


LEADING = 8  # algorithms whose other parameters are tried


@dataclass(frozen=True)
class Found:
    """The order of the candidates by the mean over the roots, and by each root."""

    order: list[Predicted]
    by_root: dict[int, list[Predicted]]
    refused: list[str]  # why candidates have no prediction, a line each

    def time_of(self, candidate: Candidate) -> float | None:
        """Microseconds, the mean over the roots."""
        return next((one.microseconds for one in self.order if one.candidate == candidate), None)

    def best_of(self, root: int) -> Candidate:
        return self.by_root[root][0].candidate


def _merged(one: Found, other: Found) -> Found:
    def merged(some: Sequence[Predicted], more: Sequence[Predicted]) -> list[Predicted]:
        return sorted([*some, *more], key=lambda each: each.microseconds)

    by_root = {root: merged(order, other.by_root[root]) for root, order in one.by_root.items()}
    return Found(merged(one.order, other.order), by_root, one.refused + other.refused)


def algorithms_for_model(
    model: Any, collective: str, size: int, placement: Placement
) -> list[Candidate]:
    """All algorithms to predict, with the number of leaves that HMPI's equation (1) gives, too."""
    specs = list(specs_for_model(collective, placement))
    if any(spec.startswith("levels:leaves=") for spec in specs):
        leaves = model.leaves(shared_levels(placement.known_levels), placement.ranks, size)
        specs.append(f"levels:leaves={leaves}")
    return [Candidate(spec) for spec in dict.fromkeys(specs)]


def has_system_copies(model: Any) -> bool:
    """True if the machine has the costs of the system's copies on all levels."""
    return all("system" in level for level in json.loads(model.text)["levels"])


def search(
    model: Any, collective: str, size: int, placement: Placement, default: Candidate
) -> Found:
    """Predicts what could serve a call. `default` is among it, and first where times are equal."""
    roots = roots_to_try(collective, placement)
    question = Question(collective, size, roots[0], placement.known_levels, placement.where())
    algorithms = algorithms_for_model(model, collective, size, placement)
    first = [default, *(one for one in algorithms if one != default)]
    found = Found(*predicted_for_roots(model, question, roots, first))
    if size <= LONG_BYTES or not found.order:
        return found
    leading = dict.fromkeys(one.candidate.algorithm for one in found.order[:LEADING])
    leading[default.algorithm] = None
    reaches = [""]
    if placement.reached:
        reaches.append("staged")
    elif not placement.nodes and has_system_copies(model):
        reaches.append("cma")
    more = [
        Candidate(algorithm, segment, reach)
        for algorithm in leading
        for reach in reaches
        for segment in (0, *SEGMENTS)
        if segment != 0 or reach
    ]
    more = [one for one in more if one != default]
    return _merged(found, Found(*predicted_for_roots(model, question, roots, more)))
