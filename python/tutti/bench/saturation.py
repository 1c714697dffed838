"""`tutti bench saturation`: the saturation map of this node's memory, between threads on its
cores. saturation_nodes measures that of the network between nodes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any

from rich.console import Console

from tutti.bench import saturation_nodes
from tutti.bench.asked import between_of, check_hosts
from tutti.bench.cores import require_two
from tutti.bench.driver import execute_own
from tutti.bench.options import NODES, PLOT, Kind, Options
from tutti.bench.present import Report
from tutti.bench.progress import one_job
from tutti.bench.saturation_nodes import BYTES, MESSAGES
from tutti.bench.words import parse_servers
from tutti.errors import UserError
from tutti.options import option
from tutti.saturation import draw_map, map_of, show_map, show_messages

SECONDS = 3600


def measure(
    milliseconds: int,
    lengths: tuple[int, int] = BYTES,
    messages: int = MESSAGES,
    cores: Sequence[int] | None = None,
) -> dict[str, Any]:
    """The map's document. Each combination takes so many milliseconds, or a little more; lengths
    are the first and the last number of bytes of a message."""
    options = {
        "cores": cores or require_two("saturation"),
        "milliseconds": milliseconds,
        "bytes": lengths,
        "messages": messages,
    }
    return map_of(execute_own("saturation", options, SECONDS))


def show(map_: dict[str, Any], console: Console) -> None:
    show_map(map_, console)
    show_messages(map_, console)
    cost = map_["hand_over"]
    console.print(
        f"To hand a transfer to a server takes {cost['client']:.0f} ns of the client's core, "
        f"{cost['server'][0]:.0f} ns of the server's for {map_['bytes'][0]} bytes, and "
        f"{cost['latency']:.0f} ns both ways. --hosts measures between nodes.",
        highlight=False,
    )


@dataclass(frozen=True)
class SaturationOptions(Options):
    servers: Annotated[
        str | None,
        option(
            "With --hosts: numbers of servers of a node, each measured beside the ranks alone "
            "(default: 1).",
            metavar="LIST",
        ),
    ] = None


def run(options: SaturationOptions) -> Report:
    """Measure how much keeps the memory busy.

    The map says how many cores and messages do, for puts and gets from 8 B to 1 MiB; with --hosts,
    how many keep the network between two nodes busy. --json-file writes the map that
    TUTTI_SATURATION takes.
    """
    check_hosts(options, ("--nodes", "--per-node", "--delay", "--mpi", "--servers"))
    milliseconds = 2 if options.quick else 10
    if options.hosts is None:
        map_ = one_job("map", lambda: measure(options.budget_ms or milliseconds))
        return Report(partial(show, map_), map_, partial(draw_map, map_))
    plan = between_of(options, options.cores, "0", milliseconds)
    plan = plan if options.mpi else replace(plan, mpis=plan.mpis[:1])
    if len(plan.delays) > 1:
        raise UserError("--delay: a saturation map is of one delay; give one")
    if len(plan.mpis) > 1:
        names = ", ".join(mpi.name for mpi in plan.mpis)
        raise UserError(f"--mpi: a saturation map is of one host MPI; give one of {names}")
    servers = parse_servers(options.servers or "1")
    map_ = one_job("map", lambda: saturation_nodes.measure(plan, servers=servers))
    return Report(partial(saturation_nodes.show, map_), map_, partial(draw_map, map_))


KIND = Kind(run, (*NODES, "mpi", "servers", "quick", "budget_ms", *PLOT), SaturationOptions)
