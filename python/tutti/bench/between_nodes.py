"""Jobs of pairs of ranks on two nodes, for one-sided transfers between nodes (`tutti bench
--one-sided --hosts` and `--saturation --hosts`). All nodes are emulated on this machine.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tutti.bench.driver import execute_job, json_line
from tutti.bench.hosts import Hosts
from tutti.bench.mpis import Mpi
from tutti.bench.variants import Variant, environment
from tutti.bench.words import require_per_node
from tutti.errors import UserError
from tutti.places import program

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
    name: str,
    words: list[str],
    directory: Path,
    variables: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Runs the program NAME of the variant's MPI on two nodes under tutti-run, and returns the
    JSON line that it writes. `variables` are added to its environment. Raises RunError."""
    bench = [str(program(f"{name}-{variant.mpi.abi}")), *words]
    command = hosts.command(variant, NODES * per_node, per_node, bench, program("tutti-run"))
    env = environment(variant, "none", directory) | hosts.variables | dict(variables or {})
    where = f"{variant.label}, {NODES} nodes of {per_node} ranks"
    return json_line(*execute_job(command, env, SECONDS), '{"format"', where)
