"""`tutti bench saturation`: the saturation map of this node's memory, between threads on its cores;
and, with --hosts, that of the network between two nodes, by ranks of one node whose one-sided
transfers go to ranks of the other one.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any

from rich.console import Console

from tutti.bench.asked import between_of, check_hosts
from tutti.bench.cores import require_two
from tutti.bench.driver import execute_own, scratch
from tutti.bench.hosts import Hosts, cores_text
from tutti.bench.options import NODES, PLOT, Kind, Options
from tutti.bench.over_nodes import TWO, Between, run_pairs
from tutti.bench.present import Report
from tutti.bench.progress import one_job
from tutti.bench.texts import size_text
from tutti.bench.variants import Variant
from tutti.bench.words import parse_servers
from tutti.errors import UserError
from tutti.options import option
from tutti.saturation import draw_map, map_of, show_map, show_messages

BYTES = (8, 1 << 20)
MESSAGES = 128
# The map says how much must be under way, so nothing keeps it low while it is measured.
UNLIMITED = {"TUTTI_UNDER_WAY": "16M"}


def measure_between(
    plan: Between,
    lengths: tuple[int, int] = BYTES,
    messages: int = MESSAGES,
    servers: Sequence[int] = (1,),
) -> dict[str, Any]:
    """The map's document, of the plan's only MPI and delay. Each combination takes so many
    milliseconds, or a little more; lengths are the first and the last number of bytes of a
    message. A job for each number of servers measures everything by ranks, and then by servers."""
    (mpi,), (delay,) = plan.mpis, plan.delays
    words = [str(plan.milliseconds), *map(str, lengths), str(messages)]
    with scratch() as directory, Hosts(plan.hosts, TWO) as hosts:
        hosts.link(delay)
        variant = Variant(mpi, "default", True)
        rows = [
            row
            for number in servers
            for row in run_pairs(
                hosts,
                plan.per_node,
                variant,
                "saturation",
                words,
                directory,
                UNLIMITED | {"TUTTI_SERVERS": str(number), "TUTTI_SERVE": "all"},
            )
        ]
    return map_of(rows) | {"mpi": mpi.label, "network": f"{TWO} emulated nodes, delay {delay}"}


def _gains(map_: dict[str, Any], by_servers: dict[str, Any], kind: str) -> list[float]:
    """How many times as fast servers are as the ranks, in each cell of the map."""
    return [
        served / alone
        for of_cores in zip(map_[kind], by_servers[kind], strict=True)
        for of_messages in zip(*of_cores, strict=True)
        for alone, served in zip(*of_messages, strict=True)
    ]


def show_between(map_: dict[str, Any], console: Console) -> None:
    show_map(map_, console)
    show_messages(map_, console)
    for one in map_.get("served", ()):
        servers = "1 server" if one["servers"] == 1 else f"{one['servers']} servers"
        gains = {kind: _gains(map_, one, kind) for kind in ("puts", "gets")}
        console.print(
            f"With {servers} of each node instead of the ranks: "
            + ", ".join(f"{kind} {min(g):.2g}x to {max(g):.2g}x" for kind, g in gains.items())
            + " as fast.",
            highlight=False,
        )
    console.print(
        f"Cores are ranks of one of the {map_['network']}, of {map_['mpi']}. By this map a rank has "
        f"{size_text(map_['under_way'])} under way at once to each rank of another node. The "
        f"network is the kernel's TCP. {cores_text(TWO)}",
        highlight=False,
    )


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
    map_ = one_job("map", lambda: measure_between(plan, servers=servers))
    return Report(partial(show_between, map_), map_, partial(draw_map, map_))


KIND = Kind(run, (*NODES, "mpi", "servers", "quick", "budget_ms", *PLOT), SaturationOptions)
