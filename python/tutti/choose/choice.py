"""Choosing by prediction: the algorithms of a call in the order of their predicted times."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import fmean
from typing import Any

from tutti.choose.candidates import Candidate
from tutti.errors import UserError
from tutti.places import core
from tutti.predict.prediction import Where, predict

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
