"""`tutti bench --hosts`: collectives over several nodes on this machine, with the host MPI and with Tutti.

The delay of the nodes' links is what algorithms are told apart by: every collective can be had after one of them, whatever
the number of nodes, so a time is also given in delays. All nodes share this machine's cores, which carry the network as well:
medians count, and what a node computes is not what a machine of its own would.
"""

import random
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tutti.bench.driver import Measurements, JobNodes, Settings, run_job
from tutti.bench.hosts import Hosts


@dataclass(frozen=True)
class Nodes:
    """What to measure; `settings.ranks` follows from the numbers of nodes."""

    settings: Settings
    hosts: Path
    nodes: list[int]
    per_node: int
    delays: list[str]  # one way, in the words of tests/hosts/link

    def ranks(self, nodes: int) -> int:
        return nodes * self.per_node

    @property
    def jobs(self) -> int:
        return self.settings.jobs * len(self.delays)


@dataclass
class AtDelay:
    """All measurements at one delay of the links, and what a byte took from node to node by TCP, one way."""

    delay: str
    measurements: Measurements
    one_way: list[float]  # microseconds, by repetition


def measure_nodes(plan: Nodes, before_job: Callable[[str], None]) -> list[AtDelay]:
    """Repetition k runs every variant once at each delay, on each number of nodes, in shuffled order."""
    shuffle = random.Random(plan.settings.seed)
    results = [AtDelay(delay, Measurements(plan.settings), []) for delay in plan.delays]
    with (
        tempfile.TemporaryDirectory(prefix="tutti-bench-") as directory,
        Hosts(plan.hosts, max(2, *plan.nodes)) as hosts,
    ):
        for repetition in range(plan.settings.repetitions):
            for result in results:
                hosts.link(result.delay)
                result.one_way.append(hosts.one_way_us())
                for ranks in plan.settings.ranks:
                    variants = plan.settings.variants(ranks)
                    shuffle.shuffle(variants)
                    for variant in variants:
                        where = (
                            f"delay {result.delay}, {ranks // plan.per_node} nodes, {variant.label}"
                        )
                        before_job(f"{repetition + 1}/{plan.settings.repetitions}, {where}")
                        job = run_job(
                            plan.settings,
                            ranks,
                            variant,
                            Path(directory),
                            JobNodes(hosts, plan.per_node),
                        )
                        result.measurements.add(ranks, variant, job)
    return results
