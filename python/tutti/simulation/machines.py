"""The clusters that `tutti sim` knows, with the figures of their links, from machines/*.json.

A message between nodes keeps its sender and its receiver busy for `overhead_us` each and its
sender's adapter for `gap_us`. It travels for the latency plus its bytes over the bandwidth. All
messages of a node share its link's bandwidth in each direction. A message within a node has a
latency and a bandwidth of its own, and all messages within a node share the bandwidth of its
memory. A message of at most `eager_bytes` leaves before its receiver has asked for it; between
nodes such messages leave one after the other.
"""

import json
import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tutti.errors import UserError
from tutti.predict.machines import known_costs, known_files, read_model


@dataclass(frozen=True)
class Network:
    """The links between nodes."""

    latency_us: float  # from adapter to adapter
    gigabytes: float  # GB/s in each direction
    overhead_us: float
    gap_us: float


@dataclass(frozen=True)
class Memory:
    """Messages between the ranks of a node, through its memory."""

    latency_us: float
    gigabytes: float  # GB/s from one rank to another
    shared_gigabytes: float  # GB/s of all messages in the node together
    overhead_us: float


@dataclass(frozen=True)
class Clusters:
    """Groups of nodes with one slow link between each two groups; figures as in Network."""

    count: int
    latency_us: float
    gigabytes: float


@dataclass(frozen=True)
class Machine:
    name: str
    what: str
    source: str  # where the figures come from
    nodes: int
    cores: int  # the cores of each node; a rank runs on each core
    network: Network
    memory: Memory
    eager_bytes: int = 16384
    clusters: Clusters = Clusters(1, 0, 0)

    @property
    def ranks(self) -> int:
        return self.nodes * self.cores


def _cluster(costs: dict[str, Any]) -> Machine:
    """From a file that the model reads, too (docs/model.md): nanoseconds, and nanoseconds a byte."""
    counts = [word.split(":") for word in costs["shape"].split()]
    nodes = int(counts[0][1])
    network, messages = costs["network"], costs["messages"]
    return Machine(
        costs["name"],
        costs["what"],
        costs["source"],
        nodes,
        math.prod(int(count) for _, count in counts[1:]),
        Network(
            network["latency"] / 1000,
            1 / network["byte"],
            network["overhead"] / 1000,
            network["gap"] / 1000,
        ),
        Memory(
            messages["latency"] / 1000,
            1 / messages["byte"],
            1 / messages["shared"],
            messages["overhead"] / 1000,
        ),
        eager_bytes=network["prompt"],
    )


def _clusters() -> dict[str, Machine]:
    """The machines with a network; a single node is for the model alone."""
    machines = {name: known_costs(name) for name in known_files()}
    return {name: _cluster(costs) for name, costs in machines.items() if "network" in costs}


MACHINES = _clusters()
OWN_BASE = "hmpi-xeon"  # has what the options do not give
OWN = replace(
    MACHINES[OWN_BASE],
    name="own",
    what="a cluster given by options",
    source="--nodes, --cores, --latency, --bandwidth",
)
MOST_NODES = 4096
MOST_RANKS = 16384


def named(name: str) -> Machine:
    """A known cluster, or one from a file as `tutti model --machine` takes it."""
    if name in MACHINES:
        return MACHINES[name]
    if not Path(name).is_file():
        raise UserError(
            f"--machine: '{name}' is unknown; give a file, or one of {', '.join(MACHINES)} (tutti "
            "sim --list)"
        )
    costs = json.loads(read_model(Path(name)).text)
    lacks = [f'"{member}"' for member in ("network", "messages") if not costs.get(member)]
    if not str(costs.get("shape", "")).startswith("node:"):
        lacks.append('"shape" with nodes')
    if lacks:
        raise UserError(
            f"--machine: '{name}' has no {lacks[0]}, which a cluster needs; add it (docs/model.md)"
        )
    return _cluster({"what": "a cluster from a file"} | costs)


def checked(machine: Machine) -> Machine:
    """The machine. Raises UserError if it has figures that SimGrid cannot simulate."""
    groups = machine.clusters
    latency, bandwidth = "microseconds from 0 to 1e9", "GB/s from 1e-6 to 1e6"
    checks: list[tuple[str, float, float, float, str]] = [
        ("--nodes", machine.nodes, 1, MOST_NODES, f"a whole number from 1 to {MOST_NODES}"),
        ("--cores", machine.cores, 1, 1024, "a whole number from 1 to 1024"),
        ("--latency", machine.network.latency_us, 0, 1e9, latency),
        ("--cluster-latency", groups.latency_us, 0, 1e9, latency),
        ("--bandwidth", machine.network.gigabytes, 1e-6, 1e6, bandwidth),
    ]
    if groups.count > 1:
        checks.append(("--cluster-bandwidth", groups.gigabytes, 1e-6, 1e6, bandwidth))
    for option, value, least, most, accepted in checks:
        if not least <= value <= most:
            shown = value if isinstance(value, int) else f"{value:g}"
            raise UserError(f"{option}: {shown} is not accepted; give {accepted}")
    if machine.ranks > MOST_RANKS:
        raise UserError(
            f"{machine.nodes} nodes of {machine.cores} cores are {machine.ranks} ranks; give "
            f"--nodes and --cores for at most {MOST_RANKS}"
        )
    if not 1 <= groups.count <= machine.nodes:
        raise UserError(
            f"--clusters: {groups.count} is not accepted; give 1 to {machine.nodes}, the number of "
            "nodes"
        )
    return machine
