"""The part of `tutti bench` that measures over several nodes: its options, checked before anything runs."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console

from tutti.bench.driver import Settings
from tutti.bench.hosts import Hosts
from tutti.bench.mpis import Mpi
from tutti.bench.over_nodes import Nodes, measure_nodes
from tutti.bench.progress import with_progress
from tutti.errors import RunError, UserError

MOST_NODES = 32
DEFAULT_NODES = "2,3,4"
DEFAULT_DELAYS = "0,1ms"
DEFAULT_SIZES = "8,512,4K,64K,1M"


def parse_nodes(text: str) -> list[int]:
    result = []
    for word in text.split(","):
        if not re.fullmatch(r"[0-9]{1,3}", word) or not 2 <= int(word) <= MOST_NODES:
            raise UserError(
                f"--nodes: '{word}' is not a number of nodes; whole numbers from 2 to {MOST_NODES} are"
            )
        if int(word) not in result:
            result.append(int(word))
    return result


def parse_delays(text: str) -> list[str]:
    result = []
    for word in text.split(","):
        if not re.fullmatch(r"0|[0-9]+(\.[0-9]+)?(ns|us|ms|s)", word):
            raise UserError(f"--delay: '{word}' is no delay; write 0, 50us, 1ms or 0.5s")
        if word not in result:
            result.append(word)
    return result


def startable(mpis: list[Mpi], named: bool) -> list[Mpi]:
    """Those whose jobs tests/hosts/mpiexec starts; an MPI that was named must be one of them."""
    can = [mpi for mpi in mpis if mpi.family != "intel"]
    other = next((mpi for mpi in mpis if mpi not in can), None)
    if other is not None and (named or not can):
        raise UserError(
            f"--mpi: '{other.name}' is {other.label}; nodes of --hosts start jobs of MPICH and Open MPI"
        )
    return can


def nodes_plan(settings: Settings, hosts: str, nodes: str, per_node: int, delays: str) -> Nodes:
    """The MPIs' settings are those of tests/hosts/mpiexec: polite, because nodes share cores."""
    if not 1 <= per_node <= MOST_NODES:
        raise UserError(
            f"--per-node: {per_node} is not accepted; whole numbers from 1 to {MOST_NODES} are"
        )
    counts = parse_nodes(nodes)
    Hosts(Path(hosts), max(counts))  # says what is missing
    ranks = [count * per_node for count in counts]
    polite = replace(settings, ranks=ranks, peer_settings="default", bind="none", heap=False)
    return Nodes(polite, Path(hosts), counts, per_node, parse_delays(delays))


def _write(document: dict[str, Any], json_file: Path | None, console: Console) -> None:
    if json_file is None:
        return
    try:
        json_file.write_text(json.dumps(document, indent=1) + "\n")
    except OSError as error:
        raise RunError(f"cannot write '{error.filename}': {error.strerror}") from error
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


def bench_worth(plan: Nodes, json_file: Path | None, console: Console) -> None:
    from tutti.bench import worth

    if plan.per_node < 2:
        raise UserError(
            "--worth: ranks of a node share memory where there are two or more; take --per-node 2"
        )
    if len(plan.delays) > 1:
        raise UserError("--worth: give one --delay")
    rows = with_progress(
        worth.jobs(plan), "the nodes", lambda before_job: worth.measure_worth(plan, before_job)
    )
    worth.show_worth(plan, rows, console)
    _write(worth.worth_json(plan, rows), json_file, console)
