"""`tutti bench saturation --hosts`: the saturation map of the network between two nodes, by ranks
of one node whose one-sided transfers go to ranks of the other one.
"""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from tutti.bench.between_nodes import NODES, Between, run_pairs
from tutti.bench.hosts import Hosts, cores_text
from tutti.bench.texts import size_text
from tutti.bench.variants import Variant
from tutti.saturation import map_of, show_map, show_messages

BYTES = (8, 1 << 20)
MESSAGES = 128
# The map says how much must be under way, so nothing keeps it low while it is measured.
UNLIMITED = {"TUTTI_UNDER_WAY": "16M"}


def measure(
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
    with (
        tempfile.TemporaryDirectory(prefix="tutti-bench-") as directory,
        Hosts(plan.hosts, NODES) as hosts,
    ):
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
                Path(directory),
                UNLIMITED | {"TUTTI_SERVERS": str(number), "TUTTI_SERVE": "all"},
            )
        ]
    return map_of(rows) | {"mpi": mpi.label, "network": f"{NODES} emulated nodes, delay {delay}"}


def _gains(map_: dict[str, Any], by_servers: dict[str, Any], kind: str) -> list[float]:
    """How many times as fast servers are as the ranks, in each cell of the map."""
    return [
        served / alone
        for of_cores in zip(map_[kind], by_servers[kind], strict=True)
        for of_messages in zip(*of_cores, strict=True)
        for alone, served in zip(*of_messages, strict=True)
    ]


def show(map_: dict[str, Any], console: Console) -> None:
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
        f"network is the kernel's TCP. {cores_text(NODES)}",
        highlight=False,
    )
