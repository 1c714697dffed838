"""`tutti tune --model`: a table from predictions, with measurements only where they decide.

For each cell the model predicts all candidates. Where Tutti's choice is predicted best by far it
stays, and where another candidate is better by far it gets a rule. In between, which is near the
points where candidates cross, the few best ones and Tutti's choice are measured among threads of
this machine, and the measurement decides as in any tuning. Without a model, every candidate is
measured. On a machine that is given by its shape nothing is measured, and near candidates change
nothing.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from statistics import fmean
from typing import Any

from tutti.bench.measurements import Cell
from tutti.bench.statistics import Ratio
from tutti.choose.candidates import LONG_BYTES, Candidate, candidates_for
from tutti.choose.choice import Predicted, search
from tutti.choose.picking import DEFAULT, Pick, pick
from tutti.choose.placement import Placement, placement_here, placement_on, roots_to_try
from tutti.model.algorithms import MeasuredCall, run_algorithms
from tutti.rows import grouped
from tutti.tuning.jobs import TuneSettings
from tutti.tuning.measuring import chosen_by
from tutti.tuning.writing import default_on

# Nine of ten predictions are nearer to the measurement than this (docs/model.md). Candidates whose
# predictions differ by less may be in either order.
NEAR = 1.4
FAR = 2.0  # a candidate that is predicted so many times faster needs no measurement
MOST_MEASURED = 4  # the most candidates of a cell, beside Tutti's choice


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
    # The roots that were tried, indexed by ranks.
    roots: dict[int, list[int]] = field(default_factory=dict)
    # Cells for which single roots have other answers: the best candidate's label of each root.
    by_root: dict[Cell, dict[int, str]] = field(default_factory=dict)


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


def decide_unmeasured(cell: Cell, default: Candidate, order: Sequence[Predicted]) -> Pick:
    """Decides like `decide`, where nothing can be measured: the default stays unless it is far behind."""
    best = order[0]
    usual = next((one.microseconds for one in order if one.candidate == default), None)
    if usual is None or usual <= best.microseconds * NEAR:
        usual = best.microseconds if usual is None else usual
        return Pick(cell, None, usual, usual, None)
    ratio = Ratio(usual / best.microseconds, None, None)
    return Pick(cell, best.candidate.label, usual, best.microseconds, ratio)


def decide_here(cell: Cell, default: Candidate, order: Sequence[Predicted]) -> Pick | Contest:
    """Decides like `decide`, but threads cannot measure the system's copies between processes, so these are
    taken only if they are far ahead of all others."""
    others = [one for one in order if one.candidate.reach != "cma"]
    if others and others[0].microseconds <= order[0].microseconds * NEAR:
        return decide(cell, default, others)
    return decide_unmeasured(cell, default, order)


def all_rivals(cell: Cell, default: Candidate, settings: TuneSettings) -> Contest:
    """The cell with every candidate that `tutti tune` would measure."""
    every = candidates_for(cell.ranks, cell.collective, settings.sizes, settings.leaves)
    fitting = [one for one in every if one.segment_bytes == 0 or cell.bytes > LONG_BYTES]
    return Contest(cell, default, [one for one in fitting if one != default])


def _measured(
    contests: Sequence[Contest], placement: Placement, settings: TuneSettings
) -> list[Pick]:
    """The decisions of the measurement, one for each contest: by the mean over the roots."""
    roots = roots_to_try(contests[0].cell.collective, placement)
    sizes: dict[Candidate, list[int]] = {}
    for contest in contests:
        for candidate in (contest.default, *contest.rivals):
            sizes.setdefault(candidate, []).append(contest.cell.bytes or 8)
    calls = [
        MeasuredCall(
            contests[0].cell.collective,
            one.algorithm,
            one.segment_bytes,
            tuple(dict.fromkeys(at)),
            root,
            one.reach,
        )
        for one, at in sizes.items()
        for root in roots
    ]
    measured = run_algorithms(calls, placement.ranks, [8], settings.repetitions, placement.reach)
    times: dict[Cell, dict[str, dict[int, float]]] = {}
    taken = grouped(measured["cells"], itemgetter("algorithm", "segment", "wanted_reach", "bytes"))
    for contest in contests:
        by_label = times.setdefault(contest.cell, {})
        for candidate in (contest.default, *contest.rivals):
            found = taken[
                candidate.algorithm, candidate.segment_bytes, candidate.reach, contest.cell.bytes
            ]
            served = all(one["served"] == candidate.algorithm for one in found)
            if served or candidate == contest.default:
                label = DEFAULT if candidate == contest.default else candidate.label
                means = [fmean(of_roots) for of_roots in zip(*(one["us"] for one in found))]
                by_label[label] = dict(enumerate(means))
    return pick(times, settings.margin)


class _Choosing:
    """One number of ranks: the cells of each collective are decided, or left to be measured."""

    def __init__(self, model: Any, settings: TuneSettings, ranks: int, outcome: Outcome) -> None:
        self.model, self.settings, self.outcome = model, settings, outcome
        reach = "mapped" if settings.shared_heap else "slots"
        if settings.shape is not None:
            self.placement = placement_on(settings.shape, ranks, reach)
        else:
            self.placement = placement_here(ranks, reach)

    def collective(self, name: str) -> None:
        contests = []
        roots = roots_to_try(name, self.placement)
        if len(roots) > 1:
            self.outcome.roots[self.placement.ranks] = roots
        for size in [0] if name == "barrier" else self.settings.sizes:
            decision = self._cell(Cell(self.placement.ranks, name, size))
            if isinstance(decision, Contest):
                contests.append(decision)
            elif decision is not None:
                self.outcome.predicted += 1
                self.outcome.picks.append(decision)
        if contests:
            self.outcome.picks += _measured(contests, self.placement, self.settings)

    def _cell(self, cell: Cell) -> Pick | Contest | None:
        with chosen_by(None):
            served = default_on(cell.collective, cell.bytes, self.placement)
        if self.model is None:
            return all_rivals(cell, served.candidate, self.settings)
        found = search(self.model, cell.collective, cell.bytes, self.placement, served.candidate)
        self.outcome.refused += found.refused
        here = self.settings.shape is None
        if not found.order:
            return all_rivals(cell, served.candidate, self.settings) if here else None
        best = {root: found.best_of(root).label for root in found.by_root}
        if len(set(best.values())) > 1:
            self.outcome.by_root[cell] = best
        decided = decide_here if here else decide_unmeasured
        return decided(cell, served.candidate, found.order)


def choose(
    model: Any, settings: TuneSettings, say: Callable[[str], None] = lambda line: None
) -> Outcome:
    """Decides every cell. `say` takes a line before each number of ranks and collective.

    Without a model (None) every candidate of every cell is measured.
    """
    outcome = Outcome()
    for ranks in settings.ranks:
        choosing = _Choosing(model, settings, ranks, outcome)
        for collective in settings.collectives:
            say(f"{collective}, {ranks} ranks")
            choosing.collective(collective)
    outcome.picks.sort(key=lambda one: one.cell)
    return outcome
