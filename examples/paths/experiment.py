"""The PATHS experiment: the allreduce loop of the paper's figure 4 over LAM-MPI's trees and over mapped ones.

    .venv/bin/python examples/paths/experiment.py trees --ranks 4,8,16,32 --shape "node:8 core:4" --json trees.json --plot trees
    .venv/bin/python examples/paths/experiment.py arrival --ranks 4,8 --late 50,500 --json arrival.json
    .venv/bin/python examples/paths/experiment.py same --ranks 2,4,8

`trees` times every scheme of tutti.plan.lam, compiled for the given shape with ranks dealt round-robin over its nodes
as LAM-MPI deals them, beside the host MPI and Tutti's own choice. `arrival` answers what the paper left open: what it is
worth to combine partial sums in the order in which they arrive, when one rank is late by a random time. `same` runs a
built-in tree beside the same tree written in Python: it is the same program, so the ratio is noise.

Repetition k runs every variant once, in random order, as a job of its own. All ranks run on this machine: a shape only
decides who reports to whom.
"""

import argparse
import json
import os
import random
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from tutti.bench.checks import choose_mpis
from tutti.bench.driver import execute
from tutti.bench.mpis import Mpi, find_mpis
from tutti.bench.statistics import compare
from tutti.bench.variants import Variant, command, environment
from tutti.errors import RunError, UserError
from tutti.figures import new_figure, save
from tutti.places import program
from tutti.plan import Context, Machine, Tree, algo, collective, lam
from tutti.rows import read_rows, rows_of

HOST, OWN = "host MPI", "Tutti's choice"


@dataclass
class Case:
    """One line of the result: what runs, where its plans are, and the microseconds of each repetition."""

    ranks: int
    name: str
    words: list[str]
    plans: Path | None = None
    tutti: bool = True
    note: str = ""
    microseconds: list[float] = field(default_factory=list)


def write_map(directory: Path, text: str | None, target: str = "allreduce.plan") -> Path:
    directory.mkdir(parents=True)
    if text is not None:
        (directory / target).write_text(text)
    (directory / "map").write_text(f"tutti-map 1\nallreduce -> {target}\n")
    return directory


def tree_cases(options: argparse.Namespace, directory: Path) -> list[Case]:
    words = ["loop", str(options.iterations)]
    cases = []
    for ranks in options.ranks:
        cases.append(Case(ranks, HOST, words, tutti=False))
        cases.append(Case(ranks, OWN, words))
        placed = Machine.parse(options.shape).place(ranks, "round_robin")
        for name, (allreduce, _, _) in lam.SCHEMES.items():
            plan = allreduce.build(placed)
            # Without its shape: every scheme is to run here, whatever this machine is.
            text = "".join(
                line for line in plan.text.splitlines(True) if not line.startswith("shape ")
            )
            between = sum(
                1
                for transfer in plan.transfers
                for source in transfer["src"]
                if placed.level(source["rank"], transfer["dst"]["rank"]) in ("cluster", "machine")
            )
            plans = write_map(directory / f"{name}-{ranks}", text)
            cases.append(Case(ranks, name, words, plans, note=f"{between} messages between nodes"))
    return cases


@collective("allreduce", label="star in sequence")
def in_sequence(c: Context) -> None:
    tree = Tree.flat(c.ranks, c.root)
    algo.tree_bcast(c, tree, algo.tree_reduce(c, tree, into=c.out[c.root]))


STARS = {
    "in sequence": in_sequence,
    "child by child": lam.linear,
    "by arrival": lam.linear_by_arrival,
}


def arrival_cases(options: argparse.Namespace, directory: Path) -> list[Case]:
    cases = []
    for ranks in options.ranks:
        plans = {
            name: write_map(directory / f"star{which}-{ranks}", star.build(ranks=ranks).text)
            for which, (name, star) in enumerate(STARS.items())
        }
        for late in options.late:
            for count in options.counts:
                words = ["late", str(options.iterations), str(late), str(count)]
                note = f"late by up to {late} us, {8 * count} bytes"
                cases.append(Case(ranks, HOST, words, tutti=False, note=note))
                cases += [
                    Case(ranks, name, words, place, note=note) for name, place in plans.items()
                ]
    return cases


@collective("allreduce", label="binomial")
def scripted(c: Context) -> None:
    tree = Tree.binomial(c.ranks, c.root)
    algo.tree_bcast(c, tree, algo.tree_reduce(c, tree, into=c.out[c.root]))


def same_cases(options: argparse.Namespace, directory: Path) -> list[Case]:
    cases = []
    for ranks in options.ranks:
        words = ["loop", str(options.iterations)]
        cases += [
            Case(
                ranks,
                "built-in",
                words,
                write_map(directory / f"builtin-{ranks}", None, "builtin:binomial"),
            ),
            Case(
                ranks,
                "scripted",
                words,
                write_map(directory / f"scripted-{ranks}", scripted.build(ranks=ranks).text),
            ),
        ]
    return cases


EXPERIMENTS = {
    "trees": (tree_cases, "lam"),
    "arrival": (arrival_cases, "in sequence"),
    "same": (same_cases, "built-in"),
}


def paths_loop(mpi: Mpi, *words: object) -> list[str]:
    """The program that is timed (bench/ranks/paths.c)."""
    return [str(program(f"tutti-ranks-{mpi.abi}")), "paths", *map(str, words)]


def times_of(job: tuple[int, str, str], where: str, has_plans: bool) -> tuple[float, float]:
    """The median and the mean in microseconds; of a loop that was timed as a whole the mean."""
    code, out, err = job
    if code != 0:
        raise RunError(f"{where}: exit code {code}: {err.strip() or out.strip()}")
    # Refusals are said there: a plan that did not run must not pass for one that did.
    if has_plans and "tutti" in err:
        raise RunError(f"{where}: {err.strip()}")
    (row,) = rows_of(read_rows(out.splitlines()), "paths")
    return row.get("ns", row["mean_ns"]) / 1000, row["mean_ns"] / 1000


def run_case(case: Case, mpi: Mpi, oversubscribed: bool, directory: Path) -> float:
    variant = Variant(mpi, "best" if oversubscribed else "default", case.tutti)
    binding = "none" if oversubscribed else "core"
    words = paths_loop(mpi, *case.words)
    variables = environment(variant, binding, directory)
    if case.plans is not None:
        variables["TUTTI_PLANS"] = str(case.plans)
    launcher = program("tutti-run") if case.tutti else None
    job = execute(command(variant, case.ranks, binding, words, launcher), variables)
    return times_of(job, f"{case.name}, {case.ranks} ranks", case.plans is not None)[0]


def measure(cases: list[Case], mpi: Mpi, options: argparse.Namespace, directory: Path) -> None:
    shuffle = random.Random(1)
    for repetition in range(options.repetitions):
        order = list(cases)
        shuffle.shuffle(order)
        for number, case in enumerate(order, start=1):
            if sys.stderr.isatty():
                print(
                    f"\r{repetition + 1}/{options.repetitions}: {number}/{len(order)} ",
                    end="",
                    file=sys.stderr,
                )
            case.microseconds.append(run_case(case, mpi, case.ranks > options.cores, directory))
    if sys.stderr.isatty():
        print("\r" + " " * 30 + "\r", end="", file=sys.stderr)


def comparisons(cases: list[Case], base_name: str) -> list[dict[str, object]]:
    rows = []
    for case in cases:
        same = [
            c
            for c in cases
            if c.ranks == case.ranks and c.name == base_name and c.words == case.words
        ]
        ratio = compare(same[0].microseconds, case.microseconds)
        rows.append({
            "ranks": case.ranks, "name": case.name, "note": case.note, "repetitions": case.microseconds,
            "median_us": median(case.microseconds), "ratio": ratio.value, "low": ratio.low, "high": ratio.high,
        })  # fmt: skip
    return rows


def show(rows: list[dict[str, object]], base_name: str) -> None:
    print(f"| ranks | scheme | | median, us | faster than {base_name} | 95% |")
    print("| --- | --- | --- | --- | --- | --- |")
    for row in rows:
        interval = "" if row["low"] is None else f"{row['low']:.2f}-{row['high']:.2f}"
        print(
            f"| {row['ranks']} | {row['name']} | {row['note']} | {row['median_us']:.2f} | {row['ratio']:.2f}x | {interval} |"
        )


def draw(rows: list[dict[str, object]], stem: Path, title: str) -> None:
    figure, grid = new_figure(1, 1, (7, 4.5))
    axes = grid[0, 0]
    for name in dict.fromkeys(str(row["name"]) for row in rows):
        mine = [row for row in rows if row["name"] == name]
        axes.plot(
            [row["ranks"] for row in mine],
            [row["median_us"] for row in mine],
            marker="o",
            label=name,
        )
    axes.set_xlabel("ranks")
    axes.set_ylabel("an allreduce, us (median)")
    axes.set_yscale("log")
    axes.set_title(title, fontsize=10)
    axes.grid(True, alpha=0.3)
    axes.legend(fontsize=8)
    figure.tight_layout()
    save(figure, stem)


def numbers(text: str) -> list[int]:
    values = [int(word) for word in text.split(",")]
    if not values or min(values) < 1:
        raise ValueError(text)
    return values


def check_files(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    for name, file in (("--json", options.json), ("--plot", options.plot)):
        if file is not None and not file.parent.is_dir():
            parser.error(f"{name}: there is no directory '{file.parent}'; make it first")


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=sorted(EXPERIMENTS))
    parser.add_argument("--mpi", default="mpich", help="which host MPI, as tutti bench names them")
    parser.add_argument("--ranks", type=numbers, default=[4, 8, 16, 32])
    parser.add_argument(
        "--shape", default="node:8 core:4", help="of the machine that trees are mapped to"
    )
    parser.add_argument(
        "--late", type=numbers, default=[50, 500], help="the most microseconds that a rank is late"
    )
    parser.add_argument(
        "--counts", type=numbers, default=[1, 1024, 16384], help="doubles, of arrival"
    )
    parser.add_argument("--iterations", type=int, default=1000)
    parser.add_argument("--repetitions", type=int, default=10)
    parser.add_argument("--json", type=Path, help="write everything that was measured")
    parser.add_argument("--plot", type=Path, help="write PLOT.png and PLOT.svg (trees)")
    options = parser.parse_args(arguments)
    check_files(parser, options)
    options.cores = len(os.sched_getaffinity(0))
    return options


def main() -> int:
    options = parse(sys.argv[1:])
    try:
        found = choose_mpis([options.mpi], find_mpis())
        with tempfile.TemporaryDirectory(prefix="tutti-paths-") as name:
            directory = Path(name)
            make_cases, base_name = EXPERIMENTS[options.what]
            cases = make_cases(options, directory)
            measure(cases, found[0], options, directory)
    except (UserError, RunError) as error:
        print(f"experiment: {error}", file=sys.stderr)
        return 2 if isinstance(error, UserError) else 1
    rows = comparisons(cases, base_name)
    show(rows, base_name)
    if options.json:
        options.json.write_text(json.dumps({"format": "tutti-paths 1", "mpi": found[0].label, "shape": options.shape,
                                            "cores": options.cores, "rows": rows}, indent=1) + "\n")  # fmt: skip
    if options.plot:
        draw(
            rows,
            options.plot,
            f"{found[0].label}, trees for {options.shape}, {options.cores} cores",
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
