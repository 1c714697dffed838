"""`tutti bench nodes` measures collectives over several nodes, with the host MPI and with Tutti.
Other kinds measure pairs of ranks on two nodes (`one-sided --hosts`, `saturation --hosts`).

All nodes are emulated on this machine. Any collective can complete after one delay of the links,
whatever the number of nodes, so times are also given in delays, which tell algorithms apart. All
nodes and the network share this machine's cores, so read the medians, and do not take the times of
computation for those of real nodes.
"""

import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tutti.bench.driver import JobNodes, execute_rows, run_job, scratch, started_as
from tutti.bench.hosts import Hosts
from tutti.bench.measurements import Measurements, Settings
from tutti.bench.mpis import Mpi
from tutti.bench.variants import Variant
from tutti.bench.words import parse_delays, parse_nodes, require_per_node
from tutti.places import program
from tutti.rows import PrintedRow


@dataclass(frozen=True)
class Nodes:
    """The measurement over nodes; `settings.ranks` has a rank count for each number of nodes."""

    settings: Settings
    hosts: Path
    nodes: list[int]
    per_node: int
    delays: list[str]  # one way, in the units of tests/hosts/link

    def ranks(self, nodes: int) -> int:
        return nodes * self.per_node

    @property
    def most_nodes(self) -> int:
        """The most nodes that are emulated."""
        return max(2, *self.nodes)

    @property
    def jobs(self) -> int:
        return self.settings.jobs * len(self.delays)


def nodes_plan(settings: Settings, hosts: str, nodes: str, per_node: int, delays: str) -> Nodes:
    """The measurements over nodes that the options ask for. Raises UserError.

    The MPIs run with the settings of tests/hosts/mpiexec, which yield, because nodes share cores.
    """
    require_per_node(per_node)
    counts = parse_nodes(nodes)
    Hosts(Path(hosts), max(counts))  # raises if a script is missing
    ranks = [count * per_node for count in counts]
    polite = replace(settings, ranks=ranks, peer_settings="default", bind="none", heap=False)
    return Nodes(polite, Path(hosts), counts, per_node, parse_delays(delays))


@dataclass(frozen=True)
class JobsOverNodes:
    """The jobs of one measurement. `before_job` gets a line before each."""

    plan: Nodes
    hosts: Hosts
    directory: Path
    before_job: Callable[[str], None]

    def run(
        self,
        line: str,
        settings: Settings,
        ranks: int,
        variant: Variant,
        per_node: int | None = None,
        variables: dict[str, str] | None = None,
    ) -> dict[str, Any]:
        """Runs a job of tutti-bench, on the plan's number of ranks a node unless another is given."""
        self.before_job(line)
        nodes = JobNodes(self.hosts, self.plan.per_node if per_node is None else per_node)
        return run_job(settings, ranks, variant, self.directory, nodes, variables)


@contextmanager
def jobs_over(plan: Nodes, before_job: Callable[[str], None]) -> Iterator[JobsOverNodes]:
    """The plan's nodes exist during the block."""
    with scratch() as directory, Hosts(plan.hosts, plan.most_nodes) as hosts:
        yield JobsOverNodes(plan, hosts, directory, before_job)


@dataclass
class AtDelay:
    """All measurements at one delay of the links, and the one-way time of a byte by TCP."""

    delay: str
    measurements: Measurements
    one_way: list[float]  # microseconds, by repetition


def measure_nodes(plan: Nodes, before_job: Callable[[str], None]) -> list[AtDelay]:
    """Runs all jobs; `before_job` gets a line before each job.

    Each repetition runs every variant once at each delay on each number of nodes. The order of the
    variants is shuffled.
    """
    shuffle = random.Random(plan.settings.seed)
    results = [AtDelay(delay, Measurements(plan.settings), []) for delay in plan.delays]
    with jobs_over(plan, before_job) as jobs:
        for repetition in range(plan.settings.repetitions):
            for result in results:
                jobs.hosts.link(result.delay)
                result.one_way.append(jobs.hosts.one_way_us())
                for ranks in plan.settings.ranks:
                    variants = plan.settings.variants(ranks)
                    shuffle.shuffle(variants)
                    for variant in variants:
                        where = (
                            f"delay {result.delay}, {ranks // plan.per_node} nodes, {variant.label}"
                        )
                        line = f"{repetition + 1}/{plan.settings.repetitions}, {where}"
                        job = jobs.run(line, plan.settings, ranks, variant)
                        result.measurements.add(ranks, variant, job)
    return results


TWO = 2  # nodes, between which pairs of ranks transfer
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
) -> list[PrintedRow]:
    """Measures a kind of tutti-ranks, by the variant's MPI on two nodes under tutti-run, and returns
    its rows. `variables` are added to its environment. Raises RunError."""
    bench = [str(program(f"tutti-ranks-{variant.mpi.abi}")), kind, *words]
    nodes = JobNodes(hosts, per_node)
    command, env = started_as(variant, TWO * per_node, "none", bench, directory, nodes)
    where = f"{variant.label}, {TWO} nodes of {per_node} ranks"
    return execute_rows(where, command, env | dict(variables or {}), SECONDS)
