"""Lists the jobs to measure, in shuffled order. Each mpiexec job measures one candidate of every
collective. All functions are pure.

First the candidates race: repetition k measures the default and every candidate that is still in
the race. The set of these candidates depends only on the repetitions before k, so a resumed
measurement runs the same jobs as one that was never stopped. Then as many repetitions measure only
the default and the picks.
"""

import random
from dataclasses import dataclass

from tutti.bench.mpis import Mpi
from tutti.choose.candidates import LONG_BYTES, Candidate, candidates_for
from tutti.choose.picking import DEFAULT, Pick, Times, in_the_race


@dataclass(frozen=True)
class TuneSettings:
    """The options of `tutti tune` that say what to measure. Sizes are in bytes."""

    mpi: Mpi | None  # None: predictions, and measurements among threads
    ranks: list[int]
    cores: int
    collectives: list[str]  # the core's names
    sizes: list[int]
    repetitions: int
    budget_ms: int
    margin: float
    seed: int
    leaves: tuple[int, ...] = ()  # numbers of leaves of binary trees, to try beside the others
    # Under `tutti-run --shared-heap`: each rank reaches all memory that the others allocate.
    shared_heap: bool = False
    # Ranks may read each other's private memory by the system's copies (`reach cma`).
    system_copies: bool = False
    # The shape of a machine of which there are only predictions; None: this one.
    shape: str | None = None


@dataclass(frozen=True)
class Job:
    """A run of tutti-bench under a table that names one candidate for each of its collectives."""

    repetition: int
    ranks: int
    # (collective, label): a candidate's label, DEFAULT, or a label that begins with TUNED.
    labels: tuple[tuple[str, str], ...]
    sizes: tuple[int, ...]

    @property
    def text(self) -> str:
        words = list(dict.fromkeys(label for _, label in self.labels))
        shown = ", ".join(words[:3]) + (", ..." if len(words) > 3 else "")
        return f"{self.ranks} ranks, {shown}"


def racing(settings: TuneSettings, ranks: int, collective: str, before: Times) -> list[Candidate]:
    return [
        candidate
        for candidate in candidates_for(
            ranks, collective, settings.sizes, settings.leaves, settings.system_copies
        )
        if in_the_race(before, ranks, collective, candidate.label, settings.margin)
    ]


def _packed(
    repetition: int, ranks: int, by_collective: dict[str, list[Candidate]], sizes: list[int]
) -> list[Job]:
    """The k-th job measures the k-th candidate of every collective with at least k candidates."""
    longest = max((len(candidates) for candidates in by_collective.values()), default=0)
    return [
        Job(
            repetition,
            ranks,
            tuple(
                (name, list_[k].label) for name, list_ in by_collective.items() if k < len(list_)
            ),
            tuple(sizes),
        )
        for k in range(longest)
    ]


def jobs_of(settings: TuneSettings, repetition: int, ranks: int, before: Times) -> list[Job]:
    """The jobs of one repetition; none if every candidate has left the race.

    `before`: the times of the repetitions before this one.
    """
    candidates = {name: racing(settings, ranks, name, before) for name in settings.collectives}
    alive = [name for name in settings.collectives if candidates[name]]
    if not alive:
        return []
    whole = {name: [one for one in candidates[name] if not one.is_for_long] for name in alive}
    for_long = {name: [one for one in candidates[name] if one.is_for_long] for name in alive}
    jobs = [Job(repetition, ranks, tuple((name, DEFAULT) for name in alive), tuple(settings.sizes))]
    jobs += _packed(repetition, ranks, whole, settings.sizes)
    jobs += _packed(
        repetition, ranks, for_long, [size for size in settings.sizes if size > LONG_BYTES]
    )
    random.Random(f"{settings.seed} {repetition} {ranks}").shuffle(jobs)
    return jobs


def confirming_jobs(
    settings: TuneSettings, repetition: int, ranks: int, picks: list[Pick], label: str
) -> list[Job]:
    """Jobs that measure the default and the picks, for the collectives with a pick."""
    picked = {
        one.cell.collective for one in picks if one.cell.ranks == ranks and one.label is not None
    }
    names = [name for name in settings.collectives if name in picked]
    if not names:
        return []
    jobs = [
        Job(repetition, ranks, tuple((name, which) for name in names), tuple(settings.sizes))
        for which in (DEFAULT, label)
    ]
    random.Random(f"{settings.seed} {repetition} {ranks}").shuffle(jobs)
    return jobs
