"""`tutti bench waits`: calls that wait in the host MPI, as a rule with more ranks than cores.

Each job makes all kinds of calls (bench/ranks/waits.c), and the jobs with Tutti and without
alternate (pairs.py).
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Annotated, Any, ClassVar

from rich.console import Console

from tutti.bench.asked import one_count, settings_of
from tutti.bench.measurements import Settings
from tutti.bench.mpis import Mpi
from tutti.bench.options import FILES, Kind
from tutti.bench.pairs import PairOptions, jobs
from tutti.bench.present import Report
from tutti.bench.progress import with_progress
from tutti.bench.statistics import Ratio, centre, compare
from tutti.bench.texts import factor_text, interval_text, time_text
from tutti.errors import UserError
from tutti.options import option
from tutti.rows import members
from tutti.tables import number, table_of, words

RANKS = 4


@dataclass(frozen=True)
class WaitOptions(PairOptions):
    work: Annotated[
        int, option("Microseconds that each rank computes before each call.", metavar="US")
    ] = 0

    RANGES: ClassVar[dict[str, tuple[int, int]]] = PairOptions.RANGES | {"work": (0, 1_000_000)}


@dataclass
class Wait:
    """One kind of call on one MPI: the slowest rank's microseconds, by repetition."""

    mpi: Mpi
    call: str
    host: list[float] = field(default_factory=list)
    tutti: list[float] = field(default_factory=list)

    @property
    def gain(self) -> Ratio:
        return compare(self.host, self.tutti)


def measure(
    settings: Settings, work_us: int, rounds: int, before_job: Callable[[str], None]
) -> list[Wait]:
    found: dict[tuple[Mpi, str], Wait] = {}
    program = ["waits", str(work_us), str(rounds)]
    for mpi, tutti, rows in jobs(
        settings, list(settings.mpis), lambda mpi: (mpi, program, mpi.label), before_job
    ):
        for row in rows:
            wait = found.setdefault((mpi, row["call"]), Wait(mpi, row["call"]))
            (wait.tutti if tutti else wait.host).append(row["ns"] / 1000)
    return sorted(found.values(), key=lambda wait: settings.mpis.index(wait.mpi))


COLUMNS = [
    words("host MPI", lambda wait: wait.mpi.label, no_wrap=True),
    words("call", lambda wait: wait.call),
    number("host, us", lambda wait: time_text(centre(wait.host))),
    number("Tutti, us", lambda wait: time_text(centre(wait.tutti))),
    number("gain", lambda wait: factor_text(wait.gain.value)),
    number("95%", lambda wait: interval_text(wait.gain)),
]


def show(settings: Settings, work_us: int, waits: list[Wait], console: Console) -> None:
    title = f"calls that wait, {settings.ranks[0]} ranks on {settings.cores} cores"
    title += f", {work_us} us of work before each" if work_us else ""
    console.print(table_of(title, COLUMNS, waits, lambda wait: wait.mpi))


def as_json(settings: Settings, work_us: int, waits: list[Wait]) -> dict[str, Any]:
    return {
        "format": "tutti-waits 1",
        "ranks": settings.ranks[0],
        "cores": settings.cores,
        "work_us": work_us,
        "rows": [
            members(wait, "call", "host", "tutti")
            | {"mpi": wait.mpi.label, "gain": wait.gain.value}
            | members(wait.gain, "low", "high")
            for wait in waits
        ],
    }


def run(options: WaitOptions) -> Report:
    """Measure calls that wait in the host MPI.

    Messages, splits, barriers and one-sided calls, as a rule of more ranks than cores.
    """
    ranks, work = one_count(options, RANKS), options.work
    if ranks < 2:
        raise UserError(f"--ranks: '{ranks}' is not accepted; 2 or more are")
    settings = settings_of(replace(options, ranks=str(ranks)))
    found = with_progress(
        settings.repetitions * len(settings.mpis),
        "jobs with and without Tutti",
        partial(measure, settings, work, options.rounds),
    )
    return Report(partial(show, settings, work, found), as_json(settings, work, found))


KIND = Kind(
    run,
    ("ranks", "rounds", "work", "bind", "mpi", "repetitions", "quick", "seed", *FILES),
    WaitOptions,
)
