"""Whole programs of others, with Tutti and without: the time of a run from start to end.

    .venv/bin/python bench/programs/whole.py --ranks 2,4 --repetitions 10 -- pw.x -in silicon.in
    .venv/bin/python bench/programs/whole.py --time 'PWSCF .*CPU *([0-9.]+)s WALL' --mpi openmpi-4.1.4 --json silicon.json -- pw.x -in silicon.in

Repetition k runs every variant once, in random order: the host MPI alone and with Tutti, and, where ranks outnumber cores, each with
the best setting that is known for the host as well. The ratio is that of the host's time over Tutti's. What a run takes is the time
of the whole command, its launcher included, and the seconds that the program prints, where --time finds them: the last match counts.
The program must be one for the ABI of the host, and is started where this is.
"""

import argparse
import json
import os
import random
import re
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, median

from tutti.bench.driver import execute
from tutti.bench.load import watched
from tutti.bench.mpis import find_mpis
from tutti.bench.statistics import compare
from tutti.bench.variants import Variant, command, environment, variants_for
from tutti.errors import RunError, UserError
from tutti.places import program


@dataclass
class Times:
    """Of one variant with so many ranks, by repetition."""

    ranks: int
    variant: Variant
    whole: list[float] = field(default_factory=list)
    told: list[float] = field(default_factory=list)


def run(times: Times, options: argparse.Namespace, directory: Path) -> None:
    binding = "none" if times.ranks > options.cores else "core"
    launcher = program("tutti-run") if times.variant.tutti else None
    words = command(times.variant, times.ranks, binding, options.program, launcher)
    begin = time.monotonic()
    code, out, err = execute(words, environment(times.variant, binding, directory) | {"OMP_NUM_THREADS": "1"})
    times.whole.append(time.monotonic() - begin)
    if code != 0:
        raise RunError(f"{times.variant.label}, {times.ranks} ranks: exit code {code}: {(err.strip() or out.strip())[-2000:]}")
    if options.time is None:
        return
    found = options.time.findall(out)
    if not found:
        raise UserError(f"--time: nothing in the program's output matches '{options.time.pattern}'")
    times.told.append(float(found[-1]))


def measure(options: argparse.Namespace, directory: Path) -> list[Times]:
    every = find_mpis()
    wanted = options.mpi.split(",") if options.mpi else [mpi.name for mpi in every]
    if missing := [name for name in wanted if name not in {mpi.name for mpi in every}]:
        raise UserError(f"--mpi: '{missing[0]}' is not here; `tutti doctor` lists what is")
    mpis = [mpi for mpi in every if mpi.name in wanted]
    cells = [
        Times(ranks, variant)
        for ranks in options.ranks
        for variant in variants_for(mpis, "auto", ranks > options.cores, True, options.heap)
    ]
    shuffle = random.Random(1)
    for repetition in range(options.repetitions):
        for number, cell in enumerate(shuffle.sample(cells, len(cells)), start=1):
            if sys.stderr.isatty():
                print(f"\r{repetition + 1}/{options.repetitions}: {number}/{len(cells)} ", end="", file=sys.stderr)
            run(cell, options, directory)
    if sys.stderr.isatty():
        print("\r" + " " * 30 + "\r", end="", file=sys.stderr)
    return cells


def rows_of(cells: list[Times]) -> list[dict[str, object]]:
    """Each variant with Tutti beside the host MPI in the same setting."""
    rows: list[dict[str, object]] = []
    for cell in cells:
        if not cell.variant.tutti:
            continue
        host = next(
            other for other in cells
            if other.ranks == cell.ranks and not other.variant.tutti
            and (other.variant.mpi, other.variant.setting) == (cell.variant.mpi, cell.variant.setting)
        )  # fmt: skip
        for what in ("whole", "told"):
            ours, theirs = getattr(cell, what), getattr(host, what)
            if not ours:
                continue
            ratio = compare(theirs, ours)
            rows.append({
                "variant": cell.variant.label, "ranks": cell.ranks, "time": what, "host_s": median(theirs), "tutti_s": median(ours),
                "host_mean_s": fmean(theirs), "tutti_mean_s": fmean(ours), "ratio": ratio.value, "low": ratio.low, "high": ratio.high,
                "host": theirs, "tutti": ours,
            })  # fmt: skip
    return rows


def show(rows: list[dict[str, object]]) -> None:
    names = {"whole": "of the command", "told": "that the program tells"}
    print("| ranks | variant | time | host, s | with Tutti, s | host over Tutti | 95% |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for row in rows:
        interval = "" if row["low"] is None else f"{row['low']:.2f} to {row['high']:.2f}"
        print(f"| {row['ranks']} | {row['variant']} | {names[str(row['time'])]} | {row['host_s']:.3f} | {row['tutti_s']:.3f} "
              f"| {row['ratio']:.2f}x | {interval} |")  # fmt: skip


def numbers(text: str) -> list[int]:
    values = [int(word) for word in text.split(",")]
    if not values or min(values) < 1:
        raise ValueError(text)
    return values


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpi", help="host MPIs, as tutti bench names them, with commas; all that are here")
    parser.add_argument("--ranks", type=numbers, default=[2])
    parser.add_argument("--repetitions", type=int, default=10)
    parser.add_argument("--heap", action="store_true", help="besides, with the shared heap")
    parser.add_argument("--time", type=re.compile, help="a regular expression whose group is seconds that the program prints")
    parser.add_argument("--json", type=Path, help="write everything that was measured")
    parser.add_argument("program", nargs="+", help="and its arguments, after --")
    options = parser.parse_args(arguments)
    if options.repetitions < 1:
        parser.error("--repetitions is at least 1")
    if options.time is not None and options.time.groups != 1:
        parser.error("--time: the expression has one group, the seconds")
    options.cores = len(os.sched_getaffinity(0))
    return options


def main() -> int:
    options = parse(sys.argv[1:])
    try:
        with tempfile.TemporaryDirectory(prefix="tutti-whole-") as name, watched(max(options.ranks)) as watch:
            cells = measure(options, Path(name))
    except (UserError, RunError) as error:
        print(f"whole: {error}", file=sys.stderr)
        return 2 if isinstance(error, UserError) else 1
    rows = rows_of(cells)
    show(rows)
    if options.json:
        document = {"format": "tutti-whole 1", "program": options.program, "cores": options.cores, "rows": rows}
        options.json.write_text(json.dumps(document | {"share_of_other_processes": watch.share}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
