"""Two clusters with a slow link between them: the multi-cluster experiment of the PATHS paper (its section 6).

    .venv/bin/python examples/paths/two_clusters.py --json clusters.json --plot clusters

The nodes are made on this machine by tests/hosts (docs/clusters.md; needs root), half of them in each cluster, and 40 ms of
round trip and 100 Mbit/s lie between the two. Ranks fill the first cluster, where the root is, and then the second: --second
says how many of them run there. The allreduce of vectors of ints is timed over

  host MPI           as it is, without Tutti
  Tutti's choice     which knows nodes but no clusters
  clusters told      the same, told which nodes are near each other (TUTTI_CLUSTERS)
  lam                LAM-MPI's trees: each rank of the second cluster hears from one of the first, as in the paper
  linear             all report to the root and hear from it
  one message        one message crosses the link each way
  wrong side         the same, but a rank of the first cluster reports to the second

with results checked. Shown are the median and the mean of rank 0's times for an operation of the loop: where ranks run ahead
some operations are over at once and others take the longer, so that the mean is what an operation costs. Repetition k runs every case once, in random order, as a job of its own. --quick is a small form of it.
All ranks share this machine's cores: the link's delay and rate are what the times are made of.
"""

import argparse
import json
import os
import random
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from experiment import check_files, numbers, paths_loop, times_of, write_map
from tutti.bench.checks import choose_mpis
from tutti.bench.driver import execute_job
from tutti.bench.hosts import Hosts
from tutti.bench.mpis import Mpi, find_mpis
from tutti.bench.progress import with_progress
from tutti.bench.texts import size_text
from tutti.bench.variants import Variant, environment
from tutti.errors import RunError, UserError
from tutti.figures import new_figure, save
from tutti.places import program
from tutti.plan import Context, Machine, Placed, Tree, algo, collective, lam

HOSTS = Path(__file__).resolve().parents[2] / "tests" / "hosts"
HOST, OWN, TOLD = "host MPI", "Tutti's choice", "clusters told"


def one_message_tree(c: Context) -> Tree:
    """A cluster's ranks report to its node's first rank, that to its cluster's first, and the second cluster's to the root."""
    parent_of: dict[int, int] = {}
    for cluster in c.tree.clusters:
        top = cluster.leader(c.root)
        for node in c.tree.nodes:
            ranks = [rank for rank in node.ranks if rank in cluster.ranks]
            if ranks:
                lead = node.leader(c.root)
                parent_of |= dict.fromkeys((rank for rank in ranks if rank != lead), lead)
                if lead != top:
                    parent_of[lead] = top
        if top != c.root:
            parent_of[top] = c.root
    return Tree.from_parents(parent_of, c.root)


def wrong_side_tree(c: Context) -> Tree:
    """One rank is like the paper's process 60: it lies in the first cluster, and speaks with the second alone."""
    parent_of = dict(one_message_tree(c).parents)
    first, second = (cluster.ranks for cluster in c.tree.clusters)
    lost = max(first)
    parent_of[lost] = min(second)
    return Tree.from_parents(parent_of, c.root)


@collective("allreduce", label="one message each way between clusters")
def one_message(c: Context) -> None:
    tree = one_message_tree(c)
    algo.tree_reduce(c, tree, into=c.out[c.root], order="tree")
    algo.tree_bcast(c, tree)


@collective("allreduce", label="a rank on the wrong side of the link")
def wrong_side(c: Context) -> None:
    tree = wrong_side_tree(c)
    algo.tree_reduce(c, tree, into=c.out[c.root], order="tree")
    algo.tree_bcast(c, tree)


MAPPINGS = {
    "lam": lam.lam,
    "linear": lam.linear,
    "one message": one_message,
    "wrong side": wrong_side,
}


@dataclass
class Case:
    """One line of the result: a mapping, how many ranks are in the second cluster, the vector's bytes, and of rank 0's times in
    each repetition's loop the median and the mean, in milliseconds."""

    name: str
    second: int
    bytes: int
    variables: dict[str, str]
    tutti: bool
    crossing: int | None  # messages over the slow link, where a plan says so
    medians: list[float] = field(default_factory=list)
    means: list[float] = field(default_factory=list)


def crossing_of(transfers: list[dict[str, Any]], placed: Placed) -> int:
    """Messages between clusters."""
    pairs = (
        (source["rank"], transfer["dst"]["rank"])
        for transfer in transfers
        for source in transfer["src"]
    )
    return sum(1 for source, target in pairs if placed.level(source, target) == "machine")


def cases_of(options: argparse.Namespace, directory: Path) -> list[Case]:
    machine = Machine.parse(f"cluster:2 node:{options.nodes} core:{options.per_node}")
    told = directory / "clusters"
    names = [
        [f"node{1 + first + node}" for node in range(options.nodes)] for first in (0, options.nodes)
    ]
    told.write_text(
        f"tutti-clusters 1\nfirst: {' '.join(names[0])}\nsecond: {' '.join(names[1])}\n"
    )
    cases = []
    for second in options.second:
        placed = machine.place(options.nodes * options.per_node + second, "block")
        written: dict[str, tuple[Path, int]] = {}
        for name, function in MAPPINGS.items():
            plan = function.build(placed)
            text = "".join(
                line for line in plan.text.splitlines(True) if not line.startswith("shape ")
            )
            plans = write_map(directory / f"{name}-{second}".replace(" ", "-"), text)
            written[name] = plans, crossing_of(plan.transfers, placed)
        for size in options.bytes:
            cases += [
                Case(HOST, second, size, {}, False, None),
                Case(OWN, second, size, {}, True, None),
            ]
            cases.append(Case(TOLD, second, size, {"TUTTI_CLUSTERS": str(told)}, True, None))
            for name, (plans, crossing) in written.items():
                cases.append(Case(name, second, size, {"TUTTI_PLANS": str(plans)}, True, crossing))
    return cases


def run_case(
    case: Case, mpi: Mpi, options: argparse.Namespace, hosts: Hosts, directory: Path
) -> None:
    """Adds a repetition."""
    variant = Variant(mpi, "default", case.tutti)
    words = paths_loop(mpi, "vector", options.iterations, case.bytes // 4)
    variables = environment(variant, "none", directory) | hosts.variables | case.variables
    launcher = program("tutti-run") if case.tutti else None
    ranks = options.nodes * options.per_node + case.second
    job = execute_job(hosts.command(variant, ranks, options.per_node, words, launcher), variables)
    where = f"{case.name}, {case.second} ranks in the second cluster, {size_text(case.bytes)}"
    middle, mean = times_of(job, where, bool(case.variables))
    case.medians.append(middle / 1000)
    case.means.append(mean / 1000)


def measure(cases: list[Case], mpi: Mpi, options: argparse.Namespace, directory: Path) -> float:
    """Returns the delay between the clusters, one way, in milliseconds."""
    with Hosts(HOSTS, 2 * options.nodes) as hosts:
        hosts.clusters(2, options.delay, options.rate)
        one_way = hosts.one_way_us(1, options.nodes + 1) / 1000

        def run_all(before_job: Callable[[str], None]) -> None:
            shuffle = random.Random(1)
            for repetition in range(options.repetitions):
                order = list(cases)
                shuffle.shuffle(order)
                for case in order:
                    before_job(
                        f"{repetition + 1}/{options.repetitions}, {case.name}, {case.second} ranks, {size_text(case.bytes)}"
                    )
                    run_case(case, mpi, options, hosts, directory)

        with_progress(options.repetitions * len(cases), "the nodes", run_all)
    return one_way


def show(cases: list[Case], one_way: float, options: argparse.Namespace) -> None:
    first = options.nodes * options.per_node
    print(
        f"{first} ranks in the first cluster; {one_way:.1f} ms one way between the two, {options.rate}; of rank 0's times"
    )
    print(
        "the median and the mean in ms, and the mean in delays between the clusters, of which an allreduce needs one"
    )
    print(
        "| in the second | size | mapping | messages over the link | median ms | mean ms | mean in delays |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for case in sorted(cases, key=lambda one: (one.second, one.bytes)):
        time, mean = median(case.medians), median(case.means)
        crossing = "" if case.crossing is None else str(case.crossing)
        where = f"{case.second} | {size_text(case.bytes)} | {case.name}"
        print(f"| {where} | {crossing} | {time:.1f} | {mean:.1f} | {mean / one_way:.1f} |")


def draw(cases: list[Case], stem: Path, options: argparse.Namespace, title: str) -> None:
    """The paper's figure 8 (all mappings, short vectors, over the ranks) and its figure 9 (a panel a mapping, a line a size)."""
    names, sizes = (
        list(dict.fromkeys(case.name for case in cases)),
        sorted({case.bytes for case in cases}),
    )
    first = options.nodes * options.per_node

    def line(axes: Any, name: str, size: int, **style: Any) -> None:
        mine = sorted(
            (case for case in cases if case.name == name and case.bytes == size),
            key=lambda case: case.second,
        )
        points = [first + case.second for case in mine], [median(case.medians) for case in mine]
        axes.plot(*points, marker="o", markersize=4, **style)

    def finish(figure: Any, number: int) -> None:
        figure.tight_layout()
        save(figure, stem.with_name(f"{stem.name}-{number}"))

    figure, grid = new_figure(1, 1, (8.5, 4.5))
    axes = grid[0, 0]
    for place, name in enumerate(names):
        for size, style in zip(
            [size for size in sizes if size <= 2048][::-1][:2], ("-", ":"), strict=False
        ):
            line(
                axes,
                name,
                size,
                color=f"C{place}",
                linestyle=style,
                label=f"{name}, {size_text(size)}",
            )
    axes.set(
        xlabel=f"ranks, {first} of them in the first cluster",
        ylabel="an allreduce, ms (median)",
        ylim=(0, None),
    )
    axes.set_title(title, fontsize=9)
    axes.grid(True, alpha=0.3)
    axes.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))
    finish(figure, 8)

    figure, panels = new_figure(1, len(names), (2.6 * len(names) + 1, 4), sharey=True)
    for axes, name in zip(panels.flat, names, strict=True):
        for size in sizes:
            line(axes, name, size, label=size_text(size))
        axes.set_yscale("log")
        axes.set_title(name, fontsize=9)
        axes.set_xlabel("ranks")
        axes.grid(True, which="both", alpha=0.2)
    panels[0][0].set_ylabel("an allreduce, ms (median)")
    panels[0][-1].legend(fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))
    finish(figure, 9)


def sizes_of(text: str) -> list[int]:
    units = {"K": 10, "M": 20}
    values = [int(word.rstrip("KM")) << units.get(word[-1], 0) for word in text.split(",")]
    if min(values) < 4 or any(value % 4 for value in values) or max(values) > 64 << 20:
        raise ValueError(text)
    return values


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--mpi", default="mpich", help="which host MPI, as tutti bench names them")
    parser.add_argument("--nodes", type=int, default=2, help="of each cluster")
    parser.add_argument("--per-node", type=int, default=4, help="ranks on each node")
    parser.add_argument(
        "--second", type=numbers, help="ranks in the second cluster [1,2,4,8; quick: 2]"
    )
    parser.add_argument(
        "--bytes", type=sizes_of, help="bytes of the vector [4,2K,16K,128K,1M,4M; quick: 4,16K]"
    )
    parser.add_argument("--delay", default="20ms", help="one way between the clusters [20ms]")
    parser.add_argument(
        "--rate", default="100mbit", help="of the link between them, each way [100mbit]"
    )
    parser.add_argument("--iterations", type=int, default=5)
    parser.add_argument("--repetitions", type=int, help="[3; quick: 1]")
    parser.add_argument("--quick", action="store_true", help="a small form of the experiment")
    parser.add_argument("--json", type=Path, help="write everything that was measured")
    parser.add_argument("--plot", type=Path, help="write PLOT-8 and PLOT-9, each .png and .svg")
    options = parser.parse_args(arguments)
    check_files(parser, options)
    options.second = options.second or ([2] if options.quick else [1, 2, 4, 8])
    options.bytes = options.bytes or sizes_of("4,16K" if options.quick else "4,2K,16K,128K,1M,4M")
    options.repetitions = options.repetitions or (1 if options.quick else 3)
    if not 1 <= options.nodes <= 16 or not 1 <= options.per_node <= 16:
        parser.error("--nodes and --per-node: whole numbers from 1 to 16 are accepted")
    if max(options.second) > options.nodes * options.per_node:
        parser.error(
            f"--second: at most {options.nodes * options.per_node} ranks fit the second cluster"
        )
    return options


def main() -> int:
    options = parse(sys.argv[1:])
    try:
        found = choose_mpis([options.mpi], find_mpis())
        with tempfile.TemporaryDirectory(prefix="tutti-clusters-") as name:
            cases = cases_of(options, Path(name))
            one_way = measure(cases, found[0], options, Path(name))
    except (UserError, RunError) as error:
        print(f"two_clusters: {error}", file=sys.stderr)
        return 2 if isinstance(error, UserError) else 1
    show(cases, one_way, options)
    if options.json:
        rows = [{"name": case.name, "second": case.second, "bytes": case.bytes, "crossing": case.crossing,
                 "median_ms": median(case.medians), "mean_ms": median(case.means), "medians": case.medians, "means": case.means}
                for case in cases]  # fmt: skip
        options.json.write_text(json.dumps({
            "format": "tutti-paths-clusters 2", "mpi": found[0].label, "first": options.nodes * options.per_node,
            "one_way_ms": one_way, "rate": options.rate, "cores": len(os.sched_getaffinity(0)), "rows": rows,
        }, indent=1) + "\n")  # fmt: skip
    if options.plot:
        title = f"{found[0].label}: two clusters, {options.delay} one way and {options.rate} between them"
        draw(cases, options.plot, options, title)
    return 0


if __name__ == "__main__":
    sys.exit(main())
