"""Jobs of pairs of ranks on two nodes, for one-sided transfers between nodes (`tutti bench
--one-sided --hosts` and `--saturation --hosts`). All nodes are emulated on this machine.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tutti.bench.driver import execute_job, what_failed
from tutti.bench.hosts import Hosts
from tutti.bench.mpis import Mpi
from tutti.bench.variants import Variant, environment
from tutti.errors import RunError
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
    code, out, err = execute_job(command, env, SECONDS)
    lines = [line for line in out.splitlines() if line.startswith('{"format"')]
    if code != 0 or len(lines) != 1:
        where = f"{variant.label}, {NODES} nodes of {per_node} ranks"
        raise RunError(f"{where}: exit code {code}: {what_failed(err + out)}")
    document: dict[str, Any] = json.loads(lines[0])
    return document
