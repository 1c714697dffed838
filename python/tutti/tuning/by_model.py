"""`tutti tune --model`: a table from predictions, with measurements only where they decide.

For each cell the model predicts all candidates. Where Tutti's choice is predicted best by far it
stays, and where another candidate is better by far it gets a rule. In between, which is near the
points where candidates cross, the few best ones and Tutti's choice are measured among threads of
this machine, and the measurement decides as in any tuning.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tutti.bench.measurements import Cell
from tutti.bench.statistics import Ratio
from tutti.model.algorithms import MeasuredCall, levels_here, run_algorithms
from tutti.model.choice import Predicted, Question, predicted
from tutti.model.prediction import Where, shared_levels
from tutti.tuning.candidates import LONG_BYTES, Candidate, candidates_for
from tutti.tuning.jobs import TuneSettings
from tutti.tuning.measuring import chosen_by
from tutti.tuning.picking import DEFAULT, Pick, pick
from tutti.tuning.writing import default_of

# Nine of ten predictions are nearer to the measurement than this (docs/model.md). Candidates whose
# predictions differ by less may be in either order.
NEAR = 1.4
FAR = 2.0  # a candidate that is predicted so many times faster needs no measurement
MOST_MEASURED = 4  # of a cell, beside Tutti's choice


@dataclass(frozen=True)
class Contest:
    """A cell whose candidates are to be measured."""

    cell: Cell
    default: Candidate
    rivals: list[Candidate]


@dataclass
class Outcome:
    picks: list[Pick] = field(default_factory=list)
    predicted: int = 0  # cells that prediction alone decided
    refused: list[str] = field(default_factory=list)


def decide(cell: Cell, default: Candidate, order: Sequence[Predicted]) -> Pick | Contest:
    """From the predictions of all candidates, the quickest first, Tutti's choice among them.

    A cell whose choice has no prediction is measured.
    """
    times = {one.candidate: one.microseconds for one in order}
    best = order[0].microseconds
    rivals = [
        one.candidate
        for one in order
        if one.candidate != default and one.microseconds <= best * NEAR
    ][:MOST_MEASURED]
    usual = times.get(default)
    if usual is not None and not rivals:
        return Pick(cell, None, usual, usual, None)
    if usual is not None and usual > best * FAR and len(rivals) == 1:
        return Pick(cell, rivals[0].label, usual, best, Ratio(usual / best, None, None))
    return Contest(cell, default, rivals)


def _candidates(
    model: Any, settings: TuneSettings, where: Where, collective: str, size: int
) -> list[Candidate]:
    leaves = [model.leaves(where.levels, where.ranks, size)]
    every = candidates_for(where.ranks, collective, settings.sizes, leaves)
    return [one for one in every if one.segment_bytes == 0 or size > LONG_BYTES]


def _measured(
    contests: Sequence[Contest], ranks: int, collective: str, reach: str, settings: TuneSettings
) -> list[Pick]:
    """The decisions of the measurement, one for each contest."""
    sizes: dict[Candidate, list[int]] = {}
    for contest in contests:
        for candidate in (contest.default, *contest.rivals):
            sizes.setdefault(candidate, []).append(contest.cell.bytes or 8)
    calls = [
        MeasuredCall(collective, one.algorithm, one.segment_bytes, tuple(dict.fromkeys(at)))
        for one, at in sizes.items()
    ]
    cells = run_algorithms(calls, ranks, [8], settings.repetitions, reach)["cells"]
    taken = {(one["algorithm"], one["segment"], one["bytes"]): one for one in cells}
    times: dict[Cell, dict[str, dict[int, float]]] = {}
    for contest in contests:
        by_label = times.setdefault(contest.cell, {})
        for candidate in (contest.default, *contest.rivals):
            found = taken[candidate.algorithm, candidate.segment_bytes, contest.cell.bytes]
            if found["served"] == candidate.algorithm or candidate == contest.default:
                label = DEFAULT if candidate == contest.default else candidate.label
                by_label[label] = dict(enumerate(found["us"]))
    return pick(times, settings.margin)


def choose(
    model: Any, settings: TuneSettings, say: Callable[[str], None] = lambda line: None
) -> Outcome:
    """Decides every cell. `say` takes a line before each number of ranks and collective."""
    reach = "mapped" if settings.shared_heap else "slots"
    outcome = Outcome()
    for ranks in settings.ranks:
        levels = levels_here(ranks)
        where = Where(ranks, shared_levels(levels), [], reach, 0, [])
        for collective in settings.collectives:
            say(f"{collective}, {ranks} ranks")
            contests = []
            for size in [0] if collective == "barrier" else settings.sizes:
                cell = Cell(ranks, collective, size)
                with chosen_by(None):
                    served = default_of(collective, size, ranks, False, settings.shared_heap)
                default = Candidate(served.algorithm, served.segment_bytes)
                candidates = _candidates(model, settings, where, collective, size)
                # The choice of the library comes first, and wins where predictions are equal.
                candidates = [default, *(one for one in candidates if one != default)]
                question = Question(collective, size, 0, levels, where)
                order, refused = predicted(model, question, candidates)
                outcome.refused += refused
                if not order:
                    continue
                decision = decide(cell, default, order)
                if isinstance(decision, Contest):
                    contests.append(decision)
                else:
                    outcome.predicted += 1
                    outcome.picks.append(decision)
            if contests:
                outcome.picks += _measured(contests, ranks, collective, reach, settings)
    outcome.picks.sort(key=lambda one: one.cell)
    return outcome
