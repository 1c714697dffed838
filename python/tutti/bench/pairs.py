"""Jobs of tutti-ranks, each with Tutti and without."""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar, TypeVar

from tutti.bench.driver import execute_rows, scratch, started_as
from tutti.bench.measurements import JOB_SECONDS, Settings
from tutti.bench.mpis import Mpi
from tutti.bench.options import Options
from tutti.bench.variants import Variant, binding_for
from tutti.options import option
from tutti.places import program
from tutti.rows import PrintedRow

Cell = TypeVar("Cell")


@dataclass(frozen=True)
class PairOptions(Options):
    rounds: Annotated[
        int,
        option("How many communicators a job of lives makes, and calls of a kind a job of waits."),
    ] = 300

    RANGES: ClassVar[dict[str, tuple[int, int]]] = Options.RANGES | {"rounds": (1, 1_000_000)}


def jobs(
    settings: Settings,
    cells: list[Cell],
    described: Callable[[Cell], tuple[Mpi, list[str], str]],
    before_job: Callable[[str], None],
) -> Iterator[tuple[Cell, bool, list[PrintedRow]]]:
    """(cell, whether with Tutti, rows of the job). Each repetition runs every cell once, in random
    order; the job with Tutti runs next to the one without. `described` gives the MPI of a cell, the
    words for tutti-ranks, and the text for the progress bar.
    """
    (ranks,), shuffle = settings.ranks, random.Random(settings.seed)
    crowded = settings.oversubscribed(ranks)
    binding = binding_for(settings.bind, crowded)
    with scratch() as directory:
        for _ in range(settings.repetitions):
            for cell in shuffle.sample(cells, len(cells)):
                mpi, words, text = described(cell)
                before_job(text)
                for tutti in shuffle.sample((False, True), 2):
                    variant = Variant(mpi, "best" if crowded else "default", tutti)
                    bench = [str(program(f"tutti-ranks-{mpi.abi}")), *words]
                    started = started_as(variant, ranks, binding, bench, directory)
                    yield cell, tutti, execute_rows(variant.label, *started, JOB_SECONDS)
