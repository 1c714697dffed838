"""Nodes to measure on: a set of them on this machine, made by the scripts of Tutti's tests/hosts (docs/clusters.md)."""

import os
import re
import shutil
import subprocess
from pathlib import Path
from types import TracebackType

from tutti.bench.variants import Variant
from tutti.errors import RunError, UserError

SCRIPTS = ("up", "down", "link", "clusters", "mpiexec", "pingpong")


class Hosts:
    """Nodes that live as long as the `with` block; a set of this process's own."""

    def __init__(self, directory: Path, nodes: int) -> None:
        missing = [name for name in SCRIPTS if not shutil.which(directory / name)]
        if missing:
            lacks = f"there is no program '{directory / missing[0]}'"
            raise UserError(f"--hosts: {lacks}; give the directory tests/hosts of Tutti's sources")
        self.directory = directory.absolute()
        self.nodes = nodes
        self.state = Path(f"/run/tutti-bench-{os.getpid()}")

    @property
    def variables(self) -> dict[str, str]:
        """What the scripts must find in their environment."""
        return {"HOSTS_STATE": str(self.state)}

    def __enter__(self) -> "Hosts":
        self._run("up", str(self.nodes))
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
        # A script that is interrupted half-way may leave what the next one needs: it is not part of this terminal's group.
        done = subprocess.run(
            command, env=dict(os.environ) | self.variables, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120,
            check=False, start_new_session=True,
        )  # fmt: skip
        if done.returncode != 0:
            says = (done.stderr.strip() or f"exit code {done.returncode}").splitlines()[-1]
            raise (
                UserError(f"--hosts: {says}")
                if name in ("up", "link", "clusters")
                else RunError(f"{name}: {says}")
            )
        return done.stdout

    def link(self, delay: str, rate: str = "0") -> None:
        """Of every node: one-way delay and rate, in the words of tests/hosts/link."""
        self._run("link", delay, rate)

    def clusters(self, count: int, delay: str = "0", rate: str = "0") -> None:
        self._run("clusters", str(count), delay, rate)

    def one_way_us(self, first: int = 1, second: int = 2) -> float:
        """The median time of one byte by TCP from one node to another, as links are now."""
        text = self._run("pingpong", f"node{first}", f"node{second}", "50")
        match = re.search(r"median ([\d.]+)", text)
        if match is None:
            raise RunError(f"pingpong: it said '{text.strip()}'")
        return float(match[1])

    def command(
        self, variant: Variant, ranks: int, per_node: int, program: list[str], launcher: Path | None
    ) -> list[str]:
        """A job of so many ranks on each of the first nodes; `launcher` is tutti-run, for variants with Tutti."""
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
