"""Times whole programs from start to end, with Tutti and without.

    .venv/bin/python bench/programs/whole.py --mpi openmpi-4.1.4 --ranks 2,4 --repetitions 10 \\
      -- pw.x -in silicon.in
    .venv/bin/python bench/programs/whole.py --mpi openmpi-4.1.4 \\
      --time 'PWSCF .*CPU *([0-9.]+)s WALL' --json silicon.json -- pw.x -in silicon.in

Each repetition runs every variant once, in random order: the host MPI alone and with Tutti and, if
there are more ranks than cores, both also with the best known setting of the host. The ratio is
the host's time over Tutti's. Two times are taken: that of the whole command, including its
launcher, and the seconds that the program prints, if --time finds them (the last match counts).
After the repetitions, two more jobs for each host and rank count write Tutti's report: in one the
host makes the blocking calls (TUTTI_SETUP_AFTER=1000000), in the other Tutti serves what it can.
From them come a rank's time in collectives and its share of the whole command, how many calls a
rank made, and how many of them Tutti served.

The program must use the ABI of the host. It runs in the current directory, with one OpenMP thread
for each rank (OMP_NUM_THREADS=1).
"""

import argparse
import json
import os
import random
import re
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import fmean, median

from tutti.bench.checks import choose_mpis, output_file
from tutti.bench.driver import execute
from tutti.bench.load import watched
from tutti.bench.mpis import Mpi, find_mpis
from tutti.bench.progress import with_progress
from tutti.bench.statistics import compare
from tutti.bench.variants import Variant, binding_for, command, environment, variants_for
from tutti.bench.words import parse_ranks
from tutti.errors import RunError, UserError
from tutti.places import program


@dataclass
class Times:
    """The times of one variant with so many ranks, by repetition."""

    ranks: int
    variant: Variant
    whole: list[float] = field(default_factory=list)
    told: list[float] = field(default_factory=list)


@dataclass
class Share:
    """The time of a job in collectives, by Tutti's report: means over its ranks."""

    variant: str
    ranks: int
    by: str  # host: the host makes the blocking calls; tutti
    calls: float
    served: float  # those of the calls that Tutti served
    collectives_s: float
    whole_s: float  # the whole command


def start(
    variant: Variant,
    ranks: int,
    options: argparse.Namespace,
    directory: Path,
    settings: dict[str, str] | None = None,
) -> tuple[float, str]:
    """Runs the command once, with these variables, too: its seconds, and its output."""
    binding = binding_for("auto", ranks > options.cores)
    launcher = program("tutti-run") if variant.tutti else None
    words = command(variant, ranks, binding, options.program, launcher)
    variables = environment(variant, binding, directory) | {"OMP_NUM_THREADS": "1"}
    begin = time.monotonic()
    code, out, err = execute(words, variables | (settings or {}))
    seconds = time.monotonic() - begin
    if code != 0:
        raise RunError(
            f"{variant.label}, {ranks} ranks: exit code {code}: "
            f"{(err.strip() or out.strip())[-2000:]}"
        )
    return seconds, out


def run(times: Times, options: argparse.Namespace, directory: Path) -> None:
    seconds, out = start(times.variant, times.ranks, options, directory)
    times.whole.append(seconds)
    if options.time is None:
        return
    found = options.time.findall(out)
    if not found:
        raise UserError(
            f"--time: nothing in the program's output matches '{options.time.pattern}'; correct "
            "the expression"
        )
    times.told.append(float(found[-1]))


def share_of(
    variant: Variant, ranks: int, by: str, options: argparse.Namespace, directory: Path
) -> Share:
    file = directory / f"{by}.json"
    settings = {"TUTTI_REPORT": str(file)}
    if by == "host":
        settings["TUTTI_SETUP_AFTER"] = "1000000"
    seconds, _ = start(variant, ranks, options, directory, settings)
    if not file.exists():
        raise RunError(
            f"{variant.label}, {ranks} ranks: no report; give an MPI program of this "
            f"host's ABI, not {options.program[0]}"
        )
    rows = json.loads(file.read_text())["collectives"]
    file.unlink()
    served = sum(row["calls"] for row in rows)
    by_host = sum(row["host_calls"] for row in rows)
    time_us = sum(
        row["calls"] * row["mean_us"] + row["host_calls"] * row["host_mean_us"] for row in rows
    )
    return Share(
        variant.label,
        ranks,
        by,
        (served + by_host) / ranks,
        served / ranks,
        time_us / 1e6 / ranks,
        seconds,
    )


def measure(
    mpis: list[Mpi], ranks: list[int], options: argparse.Namespace, directory: Path
) -> tuple[list[Times], list[Share]]:
    cells = [
        Times(count, variant)
        for count in ranks
        for variant in variants_for(mpis, "auto", count > options.cores, True, options.heap)
    ]
    reported = [
        (cell.variant, cell.ranks, by)
        for cell in cells
        if cell.variant.tutti
        for by in ("host", "tutti")
    ]
    shares: list[Share] = []
    shuffle = random.Random(1)

    def all_jobs(before_job: Callable[[str], None]) -> None:
        for _ in range(options.repetitions):
            for cell in shuffle.sample(cells, len(cells)):
                before_job(f"{cell.variant.label}, {cell.ranks} ranks")
                run(cell, options, directory)
        for variant, count, by in reported:
            before_job(f"report, {variant.label}, {count} ranks")
            shares.append(share_of(variant, count, by, options, directory))

    with_progress(options.repetitions * len(cells) + len(reported), "", all_jobs)
    return cells, shares


def rows_of(cells: list[Times]) -> list[dict[str, object]]:
    """Compares each variant with Tutti with the host MPI in the same setting."""
    rows: list[dict[str, object]] = []
    for cell in cells:
        if not cell.variant.tutti:
            continue
        host = next(
            other
            for other in cells
            if other.ranks == cell.ranks
            and not other.variant.tutti
            and (other.variant.mpi, other.variant.setting)
            == (cell.variant.mpi, cell.variant.setting)
        )
        for what in ("whole", "told"):
            ours, theirs = getattr(cell, what), getattr(host, what)
            if not ours:
                continue
            ratio = compare(theirs, ours)
            rows.append(
                {
                    "variant": cell.variant.label,
                    "ranks": cell.ranks,
                    "time": what,
                    "host_s": median(theirs),
                    "tutti_s": median(ours),
                    "host_mean_s": fmean(theirs),
                    "tutti_mean_s": fmean(ours),
                    "ratio": ratio.value,
                    "low": ratio.low,
                    "high": ratio.high,
                    "host": theirs,
                    "tutti": ours,
                }
            )
    return rows


def show(rows: list[dict[str, object]]) -> None:
    names = {"whole": "of the command", "told": "printed by the program"}
    print("| ranks | variant | time | host, s | with Tutti, s | host over Tutti | 95% |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for row in rows:
        interval = "" if row["low"] is None else f"{row['low']:.2f} to {row['high']:.2f}"
        print(
            f"| {row['ranks']} | {row['variant']} | {names[str(row['time'])]} | "
            f"{row['host_s']:.3f} | {row['tutti_s']:.3f} | {row['ratio']:.2f}x | {interval} |"
        )


def show_shares(shares: list[Share]) -> None:
    makers = {"host": "the host", "tutti": "Tutti"}
    print(
        "\n| ranks | variant | calls served by | a rank's calls | by Tutti | s in collectives | % |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for share in shares:
        print(
            f"| {share.ranks} | {share.variant} | {makers[share.by]} | {share.calls:,.0f} | "
            f"{share.served:,.0f} | {share.collectives_s:.3f} of {share.whole_s:.3f} | "
            f"{100 * share.collectives_s / share.whole_s:.1f} |"
        )


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--mpi",
        required=True,
        help="host MPIs of the program's ABI, as tutti doctor names them, separated by commas",
    )
    parser.add_argument("--ranks", default="2", help="rank counts, separated by commas")
    parser.add_argument("--repetitions", type=int, default=10)
    parser.add_argument("--heap", action="store_true", help="also run with the shared heap")
    parser.add_argument(
        "--time",
        type=re.compile,
        help="a regular expression whose group matches the seconds that the program prints",
    )
    parser.add_argument("--json", help="write all measurements to this file")
    parser.add_argument("program", nargs="+", help="the program and its arguments, after --")
    options = parser.parse_args(arguments)
    if options.repetitions < 1:
        parser.error("--repetitions must be at least 1")
    if options.time is not None and options.time.groups != 1:
        parser.error("--time: the expression must have one group, for the seconds")
    options.cores = len(os.sched_getaffinity(0))
    return options


def main() -> int:
    options = parse(sys.argv[1:])
    try:
        ranks, mpis = parse_ranks(options.ranks), choose_mpis([options.mpi], find_mpis())
        result = output_file("--json", options.json)
        with (
            tempfile.TemporaryDirectory(prefix="tutti-whole-") as directory,
            watched(max(ranks)) as watch,
        ):
            cells, shares = measure(mpis, ranks, options, Path(directory))
    except (UserError, RunError) as error:
        print(f"whole: {error}", file=sys.stderr)
        return 2 if isinstance(error, UserError) else 1
    rows = rows_of(cells)
    show(rows)
    show_shares(shares)
    if result:
        document = {
            "format": "tutti-whole 1",
            "program": options.program,
            "rows": rows,
            "shares": [asdict(share) for share in shares],
            "cores": options.cores,
            "share_of_other_processes": watch.share,
        }
        result.write_text(json.dumps(document, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
