"""Jobs of pairs of ranks on two nodes, for one-sided transfers between nodes (`tutti bench
--one-sided --hosts` and `--saturation --hosts`). All nodes are emulated on this machine.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tutti.bench.driver import execute_rows
from tutti.bench.hosts import Hosts
from tutti.bench.mpis import Mpi
from tutti.bench.variants import Variant, environment
from tutti.places import program
from tutti.rows import Row

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


def run_pairs(
    hosts: Hosts,
    per_node: int,
    variant: Variant,
    kind: str,
    words: list[str],
    directory: Path,
    variables: Mapping[str, str] | None = None,
) -> list[Row]:
    """Measures a kind of tutti-ranks, by the variant's MPI on two nodes under tutti-run, and returns
    its rows. `variables` are added to its environment. Raises RunError."""
    bench = [str(program(f"tutti-ranks-{variant.mpi.abi}")), kind, *words]
    command = hosts.command(variant, NODES * per_node, per_node, bench, program("tutti-run"))
    env = environment(variant, "none", directory) | hosts.variables | dict(variables or {})
    where = f"{variant.label}, {NODES} nodes of {per_node} ranks"
    return execute_rows(where, command, env, SECONDS)
