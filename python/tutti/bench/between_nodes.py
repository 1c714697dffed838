"""Jobs of pairs of ranks on two nodes, for one-sided transfers between nodes (`tutti bench
--one-sided --hosts` and `--saturation --hosts`). All nodes are emulated on this machine.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tutti.bench.driver import JobNodes, execute_rows, started_as
from tutti.bench.hosts import Hosts
from tutti.bench.mpis import Mpi
from tutti.bench.variants import Variant
from tutti.bench.words import require_per_node
from tutti.errors import UserError
from tutti.places import program
from tutti.rows import PrintedRow

NODES = 2
SECONDS = 1800


@dataclass(frozen=True)
class Between:
    """The measurement between two nodes."""

    mpis: list[Mpi]
    hosts: Path
    per_node: int
    delays: list[str]  # one way, in the units of tests/hosts/link
    milliseconds: int  # for each combination of a job


def between_plan(
    mpis: list[Mpi],
    hosts: str,
    nodes: str | None,
    per_node: int,
    delays: list[str],
    milliseconds: int,
) -> Between:
    """Reads the measurement from the options. Raises UserError before anything runs."""
    if nodes not in (None, str(NODES)):
        raise UserError(
            f"--nodes: '{nodes}' is not accepted; transfers are between {NODES} nodes, so leave it "
            "out"
        )
    require_per_node(per_node)
    Hosts(Path(hosts), NODES)  # raises if a script is missing
    return Between(mpis, Path(hosts), per_node, delays, milliseconds)


def run_pairs(
    hosts: Hosts,
    per_node: int,
    variant: Variant,
    kind: str,
    words: list[str],
    directory: Path,
    variables: Mapping[str, str] | None = None,
) -> list[PrintedRow]:
    """Measures a kind of tutti-ranks, by the variant's MPI on two nodes under tutti-run, and returns
    its rows. `variables` are added to its environment. Raises RunError."""
    bench = [str(program(f"tutti-ranks-{variant.mpi.abi}")), kind, *words]
    nodes = JobNodes(hosts, per_node)
    command, env = started_as(variant, NODES * per_node, "none", bench, directory, nodes)
    where = f"{variant.label}, {NODES} nodes of {per_node} ranks"
    return execute_rows(where, command, env | dict(variables or {}), SECONDS)
