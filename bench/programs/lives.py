"""The cost of short-lived communicators, with Tutti and without.

    .venv/bin/python bench/programs/lives.py --calls 0,1,2,3,5,10,20,30,100 --repetitions 10 \
      --json lives.json --plot lives

A communicator is split off, makes some allreduces of 8 bytes, and is freed. Each repetition runs
every cell once, in random order, as a job of its own; the job with Tutti runs next to the one
without. The ratio is Tutti's time over the host's, by medians of the slowest rank. The goal is at
most 1.1 for every number of calls.
"""

import argparse
import os
import random
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import fmean, median

from tutti.bench.mpis import Mpi
from tutti.bench.progress import with_progress
from tutti.bench.statistics import compare, has_two_modes
from tutti.bench.variants import Variant
from tutti.places import program
from tutti.rows import read_rows
from whole import run_script, start

GOAL = 1.1


def run(
    mpi: Mpi, with_tutti: bool, calls: int, options: argparse.Namespace, directory: Path
) -> dict[str, float]:
    setting = "best" if options.ranks > options.cores else "default"
    words = [program(f"tutti-ranks-{mpi.abi}"), "lives", calls, options.rounds]
    options.program = [str(word) for word in words]
    _, out = start(Variant(mpi, setting, with_tutti), options.ranks, options, directory)
    (row,) = read_rows(out.splitlines())
    return {"median": row["ns"] / 1000, "mean": row["mean_ns"] / 1000}


def measure(
    mpis: list[Mpi], options: argparse.Namespace, directory: Path
) -> dict[tuple[str, int, bool], list[dict[str, float]]]:
    cells = [(mpi, calls) for mpi in mpis for calls in options.calls]
    results: dict[tuple[str, int, bool], list[dict[str, float]]] = {}
    shuffle = random.Random(1)

    def all_jobs(before_job: Callable[[str], None]) -> None:
        for _ in range(options.repetitions):
            shuffle.shuffle(cells)
            for mpi, calls in cells:
                before_job(f"{mpi.label}, {calls} calls")
                for with_tutti in shuffle.sample((False, True), 2):
                    results.setdefault((mpi.name, calls, with_tutti), []).append(
                        run(mpi, with_tutti, calls, options, directory)
                    )

    with_progress(options.repetitions * len(cells), "", all_jobs)
    return results


def rows_of(
    mpis: list[Mpi],
    options: argparse.Namespace,
    results: dict[tuple[str, int, bool], list[dict[str, float]]],
) -> list[dict[str, object]]:
    rows = []
    for mpi in mpis:
        for calls in options.calls:
            # If a host's times have two modes, their median means little.
            host, tutti = (
                [one for one in results[mpi.name, calls, which]] for which in (False, True)
            )
            two_modes = any(
                has_two_modes([one["median"] for one in times]) for times in (host, tutti)
            )
            figure = "mean" if two_modes else "median"
            ours, theirs = [one[figure] for one in tutti], [one[figure] for one in host]
            ratio = compare(ours, theirs)
            rows.append(
                {
                    "mpi": mpi.label,
                    "calls": calls,
                    "figure": figure,
                    "host_us": (fmean if two_modes else median)(theirs),
                    "tutti_us": (fmean if two_modes else median)(ours),
                    "ratio": ratio.value,
                    "low": ratio.low,
                    "high": ratio.high,
                    "host": host,
                    "tutti": tutti,
                }
            )
    return rows


def show(rows: list[dict[str, object]]) -> None:
    print("| host MPI | calls | host, us | with Tutti, us | Tutti over host | 95% | |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for row in rows:
        interval = "" if row["low"] is None else f"{row['low']:.2f}-{row['high']:.2f}"
        note = f"over {GOAL}" if float(row["low"] or row["ratio"]) > GOAL else ""  # type: ignore[arg-type]
        note += " means" if row["figure"] == "mean" else ""
        print(
            f"| {row['mpi']} | {row['calls']} | {row['host_us']:.2f} | {row['tutti_us']:.2f} | "
            f"{row['ratio']:.2f} | {interval} | {note} |"
        )


def draw(rows: list[dict[str, object]], stem: Path, ranks: int) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4.5))
    for label in dict.fromkeys(str(row["mpi"]) for row in rows):
        mine = [row for row in rows if row["mpi"] == label]
        axes.plot(
            [row["calls"] for row in mine], [row["ratio"] for row in mine], marker="o", label=label
        )
    axes.axhline(GOAL, color="grey", linestyle="--", linewidth=1)
    axes.set_xscale("symlog", linthresh=1)
    axes.set_yscale("log")
    axes.set_xlabel("allreduces of 8 bytes that a communicator lives for")
    axes.set_ylabel("with Tutti over without")
    axes.set_title(f"communicators split off, used and freed, {ranks} ranks", fontsize=10)
    axes.grid(True, alpha=0.3)
    axes.legend(fontsize=8)
    figure.tight_layout()
    for suffix in (".png", ".svg"):
        figure.savefig(stem.with_name(stem.name + suffix), dpi=150)


def numbers(text: str) -> list[int]:
    values = [int(word) for word in text.split(",")]
    if not values or min(values) < 0:
        raise ValueError(text)
    return values


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--mpi", help="host MPIs, as tutti bench names them, separated by commas [all]"
    )
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument(
        "--calls",
        type=numbers,
        default=[0, 1, 2, 3, 5, 10, 20, 30, 100],
        help="numbers of calls that a communicator lives for",
    )
    parser.add_argument("--rounds", type=int, default=300, help="communicators in each job")
    parser.add_argument("--repetitions", type=int, default=10)
    parser.add_argument("--json", help="write all measurements to this file")
    parser.add_argument("--plot", type=Path, help="write PLOT.png and PLOT.svg")
    options = parser.parse_args(arguments)
    if options.ranks < 1 or options.rounds < 1 or options.repetitions < 1:
        parser.error("--ranks, --rounds and --repetitions must be at least 1")
    options.cores = len(os.sched_getaffinity(0))
    return options


def main() -> int:
    options = parse(sys.argv[1:])

    def measure_and_show(mpis: list[Mpi], directory: Path) -> dict[str, object]:
        rows = rows_of(mpis, options, measure(mpis, options, directory))
        show(rows)
        if options.plot:
            draw(rows, options.plot, options.ranks)
        return {"ranks": options.ranks, "rounds": options.rounds, "rows": rows}

    return run_script("lives", options, options.ranks, measure_and_show)


if __name__ == "__main__":
    sys.exit(main())
