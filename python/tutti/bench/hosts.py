"""Nodes emulated on this machine by the scripts in Tutti's tests/hosts (docs/clusters.md)."""

import os
import re
import shutil
import subprocess
from pathlib import Path
from types import TracebackType

from tutti.bench.variants import Variant
from tutti.errors import RunError, UserError

SCRIPTS = ("up", "down", "link", "clusters", "mpiexec", "pingpong")


def have_own_cores(nodes: int, each: int = 1) -> bool:
    """True if there are so many cores for each node.

    Else all nodes share all cores, and the system may run two nodes' ranks on one core while
    another idles.
    """
    return nodes * each <= len(os.sched_getaffinity(0))


def cores_text(nodes: int, each: int = 1) -> str:
    """Names the cores on which the ranks of so many nodes compute: a sentence below a table."""
    if have_own_cores(nodes, each):
        return (
            "Each node's ranks and servers share the node's own cores of this machine, and the "
            "network takes time of all."
        )
    return (
        "All nodes, their network and the servers share this machine's cores: read the medians; the "
        "times of computation are not those of real nodes."
    )


class Hosts:
    """A set of nodes that belongs to this process and exists during the `with` block. Nodes have
    cores of their own if there are enough, `cores` for each.
    """

    def __init__(self, directory: Path, nodes: int, cores: int = 1) -> None:
        missing = [name for name in SCRIPTS if not shutil.which(directory / name)]
        if missing:
            lacks = f"there is no program '{directory / missing[0]}'"
            raise UserError(f"--hosts: {lacks}; give the directory tests/hosts of Tutti's sources")
        self.directory = directory.absolute()
        self.nodes = nodes
        self.cores = cores
        self.state = Path(f"/run/tutti-bench-{os.getpid()}")

    @property
    def variables(self) -> dict[str, str]:
        """Environment variables that the scripts need."""
        return {"HOSTS_STATE": str(self.state)}

    def __enter__(self) -> "Hosts":
        own = ["--own-cores"] if have_own_cores(self.nodes, self.cores) else []
        self._run("up", *own, str(self.nodes))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._run("down")

    def _run(self, name: str, *words: str) -> str:
        command = [str(self.directory / name), *words]
        # An interrupted script could leave the nodes half made, so the script runs in a session of
        # its own, which Ctrl-C does not reach.
        done = subprocess.run(
            command,
            env=dict(os.environ) | self.variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            start_new_session=True,
        )
        if done.returncode != 0:
            says = (done.stderr.strip() or f"exit code {done.returncode}").splitlines()[-1]
            raise (
                UserError(f"--hosts: {says}")
                if name in ("up", "link", "clusters")
                else RunError(f"{name}: {says}")
            )
        return done.stdout

    def link(self, delay: str, rate: str = "0") -> None:
        """Sets one-way delay and rate of every node's link, in the units of tests/hosts/link."""
        self._run("link", delay, rate)

    def clusters(self, count: int, delay: str = "0", rate: str = "0") -> None:
        self._run("clusters", str(count), delay, rate)

    def one_way_us(self, first: int = 1, second: int = 2) -> float:
        """The median one-way time of one byte by TCP between two nodes, in microseconds."""
        text = self._run("pingpong", f"node{first}", f"node{second}", "50")
        match = re.search(r"median ([\d.]+)", text)
        if match is None:
            raise RunError(f"pingpong: it said '{text.strip()}'")
        return float(match[1])

    def command(
        self, variant: Variant, ranks: int, per_node: int, program: list[str], launcher: Path | None
    ) -> list[str]:
        """The command of a job with `per_node` ranks on each node, from the first node on.

        `launcher` is tutti-run for variants with Tutti, else None.
        """
        words = [
            str(self.directory / "mpiexec"),
            "--mpi",
            str(variant.mpi.launcher),
            "--per-node",
            str(per_node),
            "-n",
            str(ranks),
        ]
        return words + ([str(launcher)] if launcher is not None else []) + program
