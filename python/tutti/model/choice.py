"""Choosing by prediction: the algorithms of a call in the order of their predicted times."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from tutti.errors import UserError
from tutti.model.prediction import Where, predict
from tutti.places import core
from tutti.tuning.candidates import Candidate


@lru_cache(maxsize=256)
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
            cell = predict(
                model,
                plan,
                candidate.label,
                question.size,
                Where(
                    where.ranks,
                    where.levels,
                    where.nodes,
                    where.reach,
                    candidate.segment_bytes,
                    where.arrivals,
                ),
            )
        except (UserError, core().Error) as error:
            refused.append(str(error))
            continue
        found.append(Predicted(candidate, cell.microseconds))
    return sorted(found, key=lambda one: one.microseconds), refused
