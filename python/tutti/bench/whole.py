"""`tutti bench whole`: whole programs of the user's, from start to end, with Tutti and without.

    tutti bench whole --mpi openmpi-4.1.4 --ranks 2,4 -- pw.x -in silicon.in
    tutti bench whole --mpi openmpi-4.1.4 --time 'PWSCF .*CPU *([0-9.]+)s WALL' -- pw.x -in silicon.in

Each repetition runs every variant once, in random order. The ratio is the host's time over Tutti's.
Two times are taken: that of the whole command, including its launcher, and the seconds that the
program prints, if --time finds them (the last match counts). After the repetitions, two more jobs
of each variant with Tutti write Tutti's report: in one the host makes the blocking calls
(TUTTI_SETUP_AFTER=1000000), in the other Tutti serves what it can. From them come a rank's time in
collectives and its share of the whole command, how many calls a rank made, and how many of them
Tutti served.

The program must use the ABI of the host. It runs in the current directory, with one OpenMP thread
for each rank (OMP_NUM_THREADS=1).
"""

import json
import random
import re
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from statistics import fmean, median
from typing import Annotated, Any

import typer
from rich.console import Console

from tutti.bench.asked import settings_of
from tutti.bench.driver import execute, scratch, started_as
from tutti.bench.load import watched
from tutti.bench.measurements import Settings
from tutti.bench.options import FILES, HERE, Kind, Options
from tutti.bench.present import Report
from tutti.bench.progress import with_progress
from tutti.bench.statistics import Ratio, compare
from tutti.bench.texts import ratio_columns
from tutti.bench.variants import Variant, binding_for, host_of
from tutti.errors import RunError, UserError
from tutti.options import option
from tutti.tables import number, table_of, words

NAMES = {"whole": "of the command", "told": "printed by the program"}


@dataclass(frozen=True)
class WholeOptions(Options):
    program: Annotated[
        list[str] | None,
        typer.Argument(metavar="-- PROGRAM", help="The program and its arguments."),
    ] = None
    time: Annotated[
        str | None,
        option(
            "A regular expression whose group matches the seconds that the program prints.",
            metavar="EXPRESSION",
        ),
    ] = None


@dataclass
class Times:
    """The times of one variant with so many ranks, by repetition."""

    ranks: int
    variant: Variant
    whole: list[float] = field(default_factory=list)
    told: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Program:
    """The command, and how to find the seconds that it prints."""

    settings: Settings
    words: list[str]
    time: re.Pattern[str] | None

    @property
    def cells(self) -> list[Times]:
        return [
            Times(ranks, variant)
            for ranks in self.settings.ranks
            for variant in self.settings.variants(ranks)
        ]

    @property
    def jobs(self) -> int:
        """The number of jobs, with those that write reports."""
        return self.settings.jobs + 2 * sum(cell.variant.tutti for cell in self.cells)

    def run(self, cell: Times, directory: Path, **variables: str) -> tuple[float, str]:
        """Runs the command once: its seconds, and its output. Raises RunError."""
        variant, ranks = cell.variant, cell.ranks
        binding = binding_for(self.settings.bind, self.settings.oversubscribed(ranks))
        started, environ = started_as(variant, ranks, binding, self.words, directory)
        environ |= {"OMP_NUM_THREADS": "1"} | variables
        begin = time.monotonic()
        code, out, err = execute(started, environ)
        seconds = time.monotonic() - begin
        if code != 0:
            said = (err.strip() or out.strip())[-2000:]
            raise RunError(f"{variant.label}, {ranks} ranks: exit code {code}: {said}")
        return seconds, out

    def add_times(self, cell: Times, directory: Path) -> None:
        seconds, out = self.run(cell, directory)
        cell.whole.append(seconds)
        found = self.time.findall(out) if self.time is not None else []
        if self.time is not None and not found:
            raise UserError(
                f"--time: nothing in the program's output matches '{self.time.pattern}'; correct "
                "the expression"
            )
        cell.told += map(float, found[-1:])

    def share(self, cell: Times, by: str, directory: Path) -> dict[str, Any]:
        """The time of a job in collectives, by Tutti's report: means over its ranks."""
        file = directory / f"{by}.json"
        later = {"TUTTI_SETUP_AFTER": "1000000"} if by == "host" else {}
        seconds, _ = self.run(cell, directory, TUTTI_REPORT=str(file), **later)
        if not file.exists():
            raise RunError(
                f"{cell.variant.label}, {cell.ranks} ranks: no report; give an MPI program of this "
                f"host's ABI, not {self.words[0]}"
            )
        rows = json.loads(file.read_text())["collectives"]
        file.unlink()
        served, by_host = (sum(row[name] for row in rows) for name in ("calls", "host_calls"))
        time_us = sum(
            row["calls"] * row["mean_us"] + row["host_calls"] * row["host_mean_us"] for row in rows
        )
        return {
            "variant": cell.variant.label,
            "ranks": cell.ranks,
            "by": by,
            "calls": (served + by_host) / cell.ranks,
            "served": served / cell.ranks,
            "collectives_s": time_us / 1e6 / cell.ranks,
            "whole_s": seconds,
        }


def rows_of(cells: list[Times]) -> list[dict[str, Any]]:
    """Each time of each variant with Tutti beside the host MPI in the same setting."""
    rows: list[dict[str, Any]] = []
    for cell in (cell for cell in cells if cell.variant.tutti):
        at = {other.variant: other for other in cells if other.ranks == cell.ranks}
        host = host_of(list(at), cell.variant)
        assert host is not None
        for what in NAMES if cell.told else ("whole",):
            ours, theirs = getattr(cell, what), getattr(at[host], what)
            ratio = asdict(compare(theirs, ours))
            rows.append(
                {
                    "variant": cell.variant.label,
                    "ranks": cell.ranks,
                    "time": what,
                    "host_s": median(theirs),
                    "tutti_s": median(ours),
                    "host_mean_s": fmean(theirs),
                    "tutti_mean_s": fmean(ours),
                    "ratio": ratio.pop("value"),
                    **ratio,
                    "host": theirs,
                    "tutti": ours,
                }
            )
    return rows


def measure(asked: Program, before_job: Callable[[str], None]) -> dict[str, Any]:
    """Runs all jobs and returns the document."""
    settings, cells, shares = asked.settings, asked.cells, []
    shuffle = random.Random(settings.seed)
    with (
        scratch() as directory,
        watched(max(settings.ranks)) as watch,
    ):
        for _ in range(settings.repetitions):
            for cell in shuffle.sample(cells, len(cells)):
                before_job(f"{cell.variant.label}, {cell.ranks} ranks")
                asked.add_times(cell, directory)
        for cell in cells:
            for by in ("host", "tutti") if cell.variant.tutti else ():
                before_job(f"report, {cell.variant.label}, {cell.ranks} ranks")
                shares.append(asked.share(cell, by, directory))
    return {
        "format": "tutti-whole 1",
        "program": asked.words,
        "rows": rows_of(cells),
        "shares": shares,
        "cores": settings.cores,
        "share_of_other_processes": watch.share,
    }


COLUMNS = [
    number("ranks", lambda row: str(row["ranks"])),
    words("variant", lambda row: row["variant"], no_wrap=True),
    words("time", lambda row: NAMES[row["time"]], no_wrap=True),
    number("host, s", lambda row: f"{row['host_s']:.3f}"),
    number("with Tutti, s", lambda row: f"{row['tutti_s']:.3f}"),
    *ratio_columns(lambda row: Ratio(row["ratio"], row["low"], row["high"])),
]
SHARES = [
    number("ranks", lambda share: str(share["ranks"])),
    words("variant", lambda share: share["variant"], no_wrap=True),
    words("calls served by", lambda share: {"host": "the host", "tutti": "Tutti"}[share["by"]]),
    number("a rank's calls", lambda share: f"{share['calls']:,.0f}"),
    number("by Tutti", lambda share: f"{share['served']:,.0f}"),
    number("s in collectives", lambda share: f"{share['collectives_s']:.3f}"),
    number("of", lambda share: f"{share['whole_s']:.3f}"),
    number("%", lambda share: f"{100 * share['collectives_s'] / share['whole_s']:.1f}"),
]


def show(document: dict[str, Any], console: Console) -> None:
    console.print(table_of("the whole program", COLUMNS, document["rows"]))
    console.print(table_of("a rank's time in collectives", SHARES, document["shares"]))


def run(options: WholeOptions) -> Report:
    """Time a whole program of yours with and without Tutti.

    The program follows after --. Its time is that of the command, and what it prints itself.
    """
    if not options.program:
        raise UserError("the program is missing; give it after --, as in -- pw.x -in silicon.in")
    try:
        pattern = re.compile(options.time) if options.time is not None else None
    except re.error as error:
        raise UserError(f"--time: '{options.time}' is no expression: {error}") from None
    if pattern is not None and pattern.groups != 1:
        raise UserError("--time: the expression must have one group, for the seconds")
    settings = settings_of(replace(options, ranks=options.ranks or "2"))
    asked = Program(settings, options.program, pattern)
    document = with_progress(asked.jobs, "", partial(measure, asked))
    return Report(partial(show, document), document)


KIND = Kind(
    run, ("program", "time", *HERE, "repetitions", "quick", "mpi", "seed", *FILES), WholeOptions
)
