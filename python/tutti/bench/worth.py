"""`tutti bench worth --hosts` tells whether shared memory within the nodes pays off.

The method is that of the paper on MPICH2's hierarchical collectives, section 4.4. The paper
measures the time between nodes and takes the time within nodes as 0. By Amdahl's law this bounds
the gain of shared memory over messages alone. Here each collective runs in three ways: by messages
alone (TUTTI_REACH=net); with shared memory within nodes, as Tutti runs it; and with one rank on
each node, which has the data of all ranks of its node. The last one is the time between nodes.
"""

import itertools
import operator
import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from rich.console import Console

from tutti.bench.asked import plan_of, require_hosts, settings_of
from tutti.bench.hosts import cores_text
from tutti.bench.measurements import VECTORS
from tutti.bench.mpis import Mpi
from tutti.bench.nodes_report import head_json
from tutti.bench.options import FILES, JOBS, NODES, WHICH, Kind, Options
from tutti.bench.over_nodes import Nodes, jobs_over
from tutti.bench.present import Report
from tutti.bench.progress import with_progress
from tutti.bench.statistics import Ratio, centre, compare
from tutti.bench.texts import call_columns, factor_text, ratio_columns, time_text
from tutti.bench.variants import Variant
from tutti.errors import UserError
from tutti.rows import members
from tutti.tables import number, table_of

MESSAGES, SHARED, BETWEEN = "messages", "shared", "between"
PAIRWISE = ("alltoall", "alltoallv", "alltoallw")


@dataclass
class Worth:
    """A collective and a size on so many nodes: microseconds for each way, by repetition."""

    nodes: int
    mpi: Mpi
    collective: str
    bytes: int
    times: dict[str, list[float]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.collective

    @property
    def could_give(self) -> Ratio:
        """The speed-up over messages alone if the time within nodes were 0."""
        return compare(self.times[MESSAGES], self.times[BETWEEN])

    @property
    def gives(self) -> Ratio:
        """The measured speed-up of shared memory over messages alone."""
        return compare(self.times[MESSAGES], self.times[SHARED])

    @property
    def share(self) -> float | None:
        """The saved share of the time that could be saved; None if at most 2% could be saved."""
        alone, between, shared = (centre(self.times[way]) for way in (MESSAGES, BETWEEN, SHARED))
        return (alone - shared) / (alone - between) if alone > 1.02 * between else None


def together(collective: str, per_node: int) -> int:
    """How many ranks' parts one rank has if it has the data of all ranks of its node."""
    if collective in VECTORS:
        return 1
    return per_node**2 if collective in PAIRWISE else per_node


def _jobs(plan: Nodes) -> list[tuple[str, int, list[str]]]:
    """(way, factor of the sizes, collectives) of each job on a number of nodes."""
    names = plan.settings.collectives
    factors = sorted({together(name, plan.per_node) for name in names})
    between = [
        (BETWEEN, factor, [name for name in names if together(name, plan.per_node) == factor])
        for factor in factors
    ]
    return [(MESSAGES, 1, names), (SHARED, 1, names), *between]


def jobs(plan: Nodes) -> int:
    return plan.settings.repetitions * len(plan.settings.mpis) * len(plan.nodes) * len(_jobs(plan))


def measure_worth(plan: Nodes, before_job: Callable[[str], None]) -> list[Worth]:
    """Runs every job once in each repetition, in shuffled order, at the first of the delays."""
    shuffle = random.Random(plan.settings.seed)
    rows: dict[tuple[int, str, str, int], Worth] = {}
    every = list(itertools.product(plan.nodes, plan.settings.mpis, _jobs(plan)))
    with jobs_over(plan, before_job) as jobs:
        jobs.hosts.link(plan.delays[0])
        for repetition in range(plan.settings.repetitions):
            for nodes, mpi, (way, factor, names) in shuffle.sample(every, len(every)):
                per_node = 1 if way == BETWEEN else plan.per_node
                settings = replace(
                    plan.settings,
                    mpis=[mpi],
                    collectives=names,
                    sizes=[size * factor for size in plan.settings.sizes],
                )
                count = f"{repetition + 1}/{plan.settings.repetitions}"
                job = jobs.run(
                    f"{count}, {nodes} nodes, {mpi.label}, {way}",
                    settings,
                    nodes * per_node,
                    Variant(mpi, "default", True),
                    per_node,
                    {"TUTTI_REACH": "net"} if way == MESSAGES else {},
                )
                for cell in job["cells"]:
                    place = (nodes, mpi.name, cell["collective"], cell["bytes"] // factor)
                    row = rows.setdefault(place, Worth(nodes, mpi, *place[2:]))
                    row.times.setdefault(way, []).append(cell["median_us"])
    return [row for row in rows.values() if len(row.times) == 3]


def _order(plan: Nodes, row: Worth) -> tuple[int, int]:
    return plan.settings.collectives.index(row.collective), row.bytes


def _time(way: str) -> Callable[[Worth], str]:
    return lambda row: time_text(centre(row.times[way]))


COLUMNS = [
    *call_columns(lambda row: row),
    number("messages alone, us", _time(MESSAGES)),
    number("between nodes, us", _time(BETWEEN)),
    number("could give", lambda row: factor_text(row.could_give.value) + "x"),
    number("shared memory, us", _time(SHARED)),
    *ratio_columns(lambda row: row.gives, "gives"),
    number("of it", lambda row: "-" if row.share is None else f"{100 * row.share:.0f}%"),
]


def show_worth(plan: Nodes, rows: list[Worth], console: Console) -> None:
    for nodes in plan.nodes:
        for mpi in plan.settings.mpis:
            mine = [row for row in rows if row.nodes == nodes and row.mpi == mpi]
            if mine:
                title = (
                    f"{nodes} nodes of {plan.per_node} ranks, delay {plan.delays[0]}: {mpi.label}"
                )
                mine.sort(key=lambda row: _order(plan, row))
                of_collective = operator.attrgetter("collective")
                console.print(table_of(f"{title}, Tutti", COLUMNS, mine, of_collective))
    console.print(
        "could give: the speed-up if the time within nodes were 0 (Amdahl's law); of it: the "
        "share of that time that shared memory saves. With one rank on each "
        f"node, a rank has a larger share of the cores. {cores_text(plan.most_nodes)}",
        highlight=False,
    )


def worth_json(plan: Nodes, rows: list[Worth]) -> dict[str, Any]:
    return (
        {"format": "tutti-bench-worth 1"}
        | head_json(plan)
        | {
            "delay": plan.delays[0],
            "rows": [
                members(row, "nodes", "collective", "bytes", "share")
                | {f"{way}_us": times for way, times in row.times.items()}
                | {
                    "mpi": row.mpi.name,
                    "could_give": row.could_give.value,
                    "gives": row.gives.value,
                }
                for row in sorted(
                    rows, key=lambda one: (one.nodes, one.mpi.name, *_order(plan, one))
                )
            ],
        }
    )


def run(options: Options) -> Report:
    """Measure what shared memory within nodes gains.

    The tables show how much faster it is than messages alone, and how much faster it could be.
    """
    require_hosts(options)
    plan = plan_of(options, settings_of(options), delays="0")
    if plan.per_node < 2:
        raise UserError(
            "--per-node: a node needs two or more ranks that share memory; give --per-node 2"
        )
    if len(plan.delays) > 1:
        raise UserError("--delay: give one")
    rows = with_progress(jobs(plan), "the nodes", partial(measure_worth, plan))
    return Report(partial(show_worth, plan, rows), worth_json(plan, rows))


KIND = Kind(run, (*NODES, *WHICH, *JOBS, *FILES))
