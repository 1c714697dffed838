"""`tutti bench lives`: the cost of short-lived communicators, with Tutti and without.

A communicator is split off, makes some allreduces of 8 bytes, and is freed. Each cell is a job of its own
(pairs.py). The ratio is Tutti's time over the host's, by medians of the slowest rank, or by means if
times have two modes. The goal is at most 1.1 for every number of calls.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from rich.console import Console

from tutti.bench.asked import one_count, settings_of
from tutti.bench.measurements import Settings
from tutti.bench.mpis import Mpi
from tutti.bench.options import PLOT, Kind
from tutti.bench.pairs import PairOptions, jobs
from tutti.bench.present import Report
from tutti.bench.progress import with_progress
from tutti.bench.statistics import Ratio, centre, compare, has_two_modes
from tutti.bench.texts import factor_text, interval_text, time_text
from tutti.bench.words import parse_calls
from tutti.figures import new_figure, save
from tutti.options import option
from tutti.rows import members
from tutti.tables import number, table_of, words

GOAL = 1.1
CALLS = [0, 1, 2, 3, 5, 10, 20, 30, 100]


@dataclass(frozen=True)
class LifeOptions(PairOptions):
    calls: Annotated[
        str | None,
        option(
            "Numbers of calls that a communicator lives for "
            f"(default: {','.join(map(str, CALLS))}).",
            metavar="LIST",
        ),
    ] = None


@dataclass
class Life:
    """Communicators of so many calls on one MPI: microseconds by repetition and figure."""

    mpi: Mpi
    calls: int
    host: dict[str, list[float]] = field(default_factory=lambda: {"median": [], "mean": []})
    tutti: dict[str, list[float]] = field(default_factory=lambda: {"median": [], "mean": []})

    @property
    def figure(self) -> str:
        modes = any(has_two_modes(one["median"]) for one in (self.host, self.tutti))
        return "mean" if modes else "median"

    @property
    def host_us(self) -> float:
        return centre(self.host[self.figure])

    @property
    def tutti_us(self) -> float:
        return centre(self.tutti[self.figure])

    @property
    def ratio(self) -> Ratio:
        return compare(self.tutti[self.figure], self.host[self.figure])


def measure(
    settings: Settings, calls: list[int], rounds: int, before_job: Callable[[str], None]
) -> list[Life]:
    def described(life: Life) -> tuple[Mpi, list[str], str]:
        words = ["lives", str(life.calls), str(rounds)]
        return life.mpi, words, f"{life.mpi.label}, {life.calls} calls"

    lives = [Life(mpi, count) for mpi in settings.mpis for count in calls]
    for life, tutti, (row,) in jobs(settings, lives, described, before_job):
        times = life.tutti if tutti else life.host
        times["median"].append(row["ns"] / 1000)
        times["mean"].append(row["mean_ns"] / 1000)
    return lives


def _note(life: Life) -> str:
    beyond = f"over {GOAL}" if (life.ratio.low or life.ratio.value) > GOAL else ""
    return ", ".join(filter(None, [beyond, "means" if life.figure == "mean" else ""]))


COLUMNS = [
    words("host MPI", lambda life: life.mpi.label, no_wrap=True),
    number("calls", lambda life: str(life.calls)),
    number("host, us", lambda life: time_text(life.host_us)),
    number("with Tutti, us", lambda life: time_text(life.tutti_us)),
    number("Tutti over host", lambda life: factor_text(life.ratio.value)),
    number("95%", lambda life: interval_text(life.ratio)),
    words("", _note),
]


def show(settings: Settings, lives: list[Life], console: Console) -> None:
    title = f"communicators split off, used and freed, {settings.ranks[0]} ranks"
    console.print(table_of(title, COLUMNS, lives, lambda life: life.mpi))


def as_json(settings: Settings, rounds: int, lives: list[Life]) -> dict[str, Any]:
    return {
        "format": "tutti-lives 1",
        "ranks": settings.ranks[0],
        "cores": settings.cores,
        "rounds": rounds,
        "rows": [
            members(life, "calls", "figure", "host_us", "tutti_us", "host", "tutti")
            | {"mpi": life.mpi.label, "ratio": life.ratio.value}
            | members(life.ratio, "low", "high")
            for life in lives
        ],
    }


def draw(settings: Settings, lives: list[Life], stem: Path) -> list[Path]:
    """Writes STEM.png and STEM.svg and returns their paths."""
    figure, grid = new_figure(1, 1, (7, 4.5))
    axes = grid[0, 0]
    for mpi in settings.mpis:
        mine = [life for life in lives if life.mpi == mpi]
        ratios = [life.ratio.value for life in mine]
        axes.plot([life.calls for life in mine], ratios, marker="o", label=mpi.label)
    axes.axhline(GOAL, color="grey", linestyle="--", linewidth=1)
    axes.set_xscale("symlog", linthresh=1)
    axes.set_yscale("log")
    axes.set_xlabel("allreduces of 8 bytes that a communicator lives for")
    axes.set_ylabel("with Tutti over without")
    axes.grid(True, alpha=0.3)
    axes.legend(fontsize=8)
    figure.tight_layout()
    return save(figure, stem)


def run(options: LifeOptions) -> Report:
    """Measure communicators that make few calls.

    Each is split off, makes some calls, and is freed, with Tutti and without.
    """
    ranks = str(one_count(options, 2))
    calls = CALLS if options.calls is None else parse_calls(options.calls)
    settings = settings_of(replace(options, ranks=ranks))
    found = with_progress(
        settings.repetitions * len(settings.mpis) * len(calls),
        "communicators",
        partial(measure, settings, calls, options.rounds),
    )
    return Report(
        partial(show, settings, found),
        as_json(settings, options.rounds, found),
        partial(draw, settings, found),
    )


KIND = Kind(
    run,
    ("ranks", "calls", "rounds", "bind", "mpi", "repetitions", "quick", "seed", *PLOT),
    LifeOptions,
)
