"""The part of `tutti bench` that measures over several nodes. It checks options before anything
runs.
"""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console

from tutti.bench.hosts import Hosts
from tutti.bench.measurements import Settings
from tutti.bench.mpis import Mpi
from tutti.bench.over_nodes import Nodes, measure_nodes
from tutti.bench.progress import with_progress
from tutti.errors import UserError, cannot_write

MOST_NODES = 32
DEFAULT_NODES = "2,3,4"
DEFAULT_DELAYS = "0,1ms"
DEFAULT_SIZES = "8,512,4K,64K,1M"


def parse_nodes(text: str) -> list[int]:
    result = []
    for word in text.split(","):
        if not re.fullmatch(r"[0-9]{1,3}", word) or not 2 <= int(word) <= MOST_NODES:
            raise UserError(
                f"--nodes: '{word}' is not a number of nodes; give whole numbers from 2 to "
                f"{MOST_NODES}"
            )
        if int(word) not in result:
            result.append(int(word))
    return result


def parse_delays(text: str) -> list[str]:
    result = []
    for word in text.split(","):
        if not re.fullmatch(r"0|[0-9]+(\.[0-9]+)?(ns|us|ms|s)", word):
            raise UserError(f"--delay: '{word}' is not a delay; write 0, 50us, 1ms or 0.5s")
        if word not in result:
            result.append(word)
    return result


def startable(mpis: list[Mpi], named: bool) -> list[Mpi]:
    """The MPIs whose jobs tests/hosts/mpiexec can start.

    Raises UserError if one of `mpis` is not among them and the user `named` it, or if none is left.
    """
    can = [mpi for mpi in mpis if mpi.family != "intel"]
    other = next((mpi for mpi in mpis if mpi not in can), None)
    if other is not None and (named or not can):
        raise UserError(
            f"--mpi: '{other.name}' is {other.label}; --hosts can only start jobs of MPICH and "
            "Open MPI; name one of these"
        )
    return can


def nodes_plan(settings: Settings, hosts: str, nodes: str, per_node: int, delays: str) -> Nodes:
    """The measurements over nodes that the options ask for. Raises UserError.

    The MPIs run with the settings of tests/hosts/mpiexec, which yield, because nodes share cores.
    """
    if not 1 <= per_node <= MOST_NODES:
        raise UserError(
            f"--per-node: {per_node} is not accepted; whole numbers from 1 to {MOST_NODES} are"
        )
    counts = parse_nodes(nodes)
    Hosts(Path(hosts), max(counts))  # raises if a script is missing
    ranks = [count * per_node for count in counts]
    polite = replace(settings, ranks=ranks, peer_settings="default", bind="none", heap=False)
    return Nodes(polite, Path(hosts), counts, per_node, parse_delays(delays))


def _write(document: dict[str, Any], json_file: Path | None, console: Console) -> None:
    if json_file is None:
        return
    try:
        json_file.write_text(json.dumps(document, indent=1) + "\n")
    except OSError as error:
        raise cannot_write(error, json_file) from error
    console.print(f"wrote {json_file}", highlight=False)


def bench_nodes(plan: Nodes, json_file: Path | None, stem: Path | None, console: Console) -> None:
    from tutti.bench.nodes_report import draw_delays, nodes_json, show

    results = with_progress(
        plan.jobs, "the nodes", lambda before_job: measure_nodes(plan, before_job)
    )
    show(plan, results, console)
    _write(nodes_json(plan, results), json_file, console)
    if stem is not None:
        for name in draw_delays(plan, results, stem):
            console.print(f"wrote {name}", highlight=False)


def bench_overlap(
    plan: Nodes,
    microseconds: float | None,
    json_file: Path | None,
    stem: Path | None,
    console: Console,
) -> None:
    from tutti.bench import overlap_nodes
    from tutti.bench.overlap_nodes_plot import draw_overlap

    rows = with_progress(
        overlap_nodes.jobs(plan),
        "the nodes",
        lambda before_job: overlap_nodes.measure_overlap(plan, microseconds, before_job),
    )
    overlap_nodes.show_overlap(plan, rows, console)
    _write(overlap_nodes.overlap_json(plan, rows), json_file, console)
    if stem is not None:
        for name in draw_overlap(rows, stem):
            console.print(f"wrote {name}", highlight=False)


def bench_worth(plan: Nodes, json_file: Path | None, console: Console) -> None:
    from tutti.bench import worth

    if plan.per_node < 2:
        raise UserError(
            "--worth: a node needs two or more ranks that share memory; give --per-node 2"
        )
    if len(plan.delays) > 1:
        raise UserError("--worth: give one --delay")
    rows = with_progress(
        worth.jobs(plan), "the nodes", lambda before_job: worth.measure_worth(plan, before_job)
    )
    worth.show_worth(plan, rows, console)
    _write(worth.worth_json(plan, rows), json_file, console)
