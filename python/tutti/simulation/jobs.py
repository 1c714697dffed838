"""Runs simulations: one smpirun for each variant, which prints a line for each cell."""

import json
import os
import re
import shutil
import signal
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tutti.errors import RunError, UserError
from tutti.places import find_library
from tutti.processes import started
from tutti.rows import read_rows
from tutti.simulation.machines import Machine
from tutti.simulation.platform import hostfile, platform
from tutti.simulation.variants import Variant

PACKAGE = (
    "libsimgrid-dev (Debian, Ubuntu), or SimGrid from https://simgrid.org, and build Tutti with it "
    "(make)"
)
LOG_PREFIX = re.compile(r"^\[\d+\.\d+\] \S+: \[[^]]*\] ")
MEBIBYTES = 4096  # limit for the buffers of all ranks together
# SMPI corrects latencies and bandwidths by default for the cluster that it was calibrated on. These
# settings use the machine's own figures. Computation and MPI_Wtime take no simulated time.
SETTINGS = (
    "smpi/simulate-computation:no",
    "smpi/host-speed:10Gf",
    "smpi/wtime:0",
    "smpi/bw-factor:0:1",
    "smpi/lat-factor:0:1",
    "network/crosstraffic:no",
    "network/weight-S:0",
    "smpi/test:0",
    # All ranks share one copy of the program, and SMPI exchanges its globals when the rank
    # changes. A copy of the file for each rank would take minutes.
    "smpi/privatization:mmap",
)


# SMPI's own collectives, which Tutti's set-up and the simulated program use, run by algorithms with
# few messages. (By default SMPI uses linear ones, and its selectors need minutes of preparation for
# thousands of ranks.)
PLAIN = (
    "smpi/allgather:bruck",
    "smpi/allreduce:rdb",
    "smpi/barrier:ompi_recursivedoubling",
    "smpi/bcast:binomial_tree",
    "smpi/gather:ompi_binomial",
    "smpi/reduce:binomial",
)


@dataclass(frozen=True, order=True)
class Cell:
    collective: str
    # The size of one rank's part, or of the whole vector if all ranks have it; 0 for a barrier.
    bytes: int
    root: int  # 0 if there is none


@dataclass(frozen=True)
class Settings:
    machine: Machine
    ranks: int
    deal: str
    cells: list[Cell]
    variants: list[Variant]
    warm: int
    operations: int
    seconds: float  # time limit of a variant's simulation


@dataclass
class Run:
    """The results of one variant's simulation."""

    microseconds: dict[Cell, float] = field(default_factory=dict)
    verified: set[Cell] = field(default_factory=set)
    # Cells at which SMPI's own collectives failed, with the reason.
    failed: dict[Cell, str] = field(default_factory=dict)
    report: dict[str, Any] | None = None  # Tutti's report


def smpirun() -> str:
    found = shutil.which("smpirun")
    if found is None:
        raise UserError(f"SimGrid is missing: there is no smpirun on the PATH; install {PACKAGE}")
    return found


def simulated_program(tutti: bool) -> Path:
    name = "tutti-sim.so" if tutti else "tutti-sim-host.so"
    found = find_library(name)
    if found is None:
        raise UserError(f"{name} is missing: Tutti was built without SimGrid; install {PACKAGE}")
    return found


def _nanoseconds(microseconds: float) -> str:
    return str(round(microseconds * 1000))


def smpirun_words(ranks: int, directory: Path, options: Iterable[str]) -> list[str]:
    """The words that start a simulation, before the program; the directory has SimGrid's files."""
    files = ["-platform", str(directory / "platform.xml"), "-hostfile", str(directory / "hosts")]
    configured = [f"--cfg={option}" for option in options]
    return [smpirun(), "-quiet", "-np", str(ranks), *files, *configured, "--log=root.thres:warning"]


def command(settings: Settings, variant: Variant, cells: list[Cell], directory: Path) -> list[str]:
    machine = settings.machine
    eager = str(machine.eager_bytes + 1)  # SMPI takes the length from which messages wait
    choice = PLAIN if variant.tutti else (f"smpi/coll-selector:{variant.key}",)
    options = [
        *SETTINGS,
        *choice,
        f"smpi/async-small-thresh:{eager}",
        f"smpi/send-is-detached-thresh:{eager}",
    ]
    costs = (machine.memory.overhead_us, machine.network.overhead_us, machine.network.gap_us)
    return [
        *smpirun_words(settings.ranks, directory, options),
        str(simulated_program(variant.tutti)),
        str(settings.warm),
        str(settings.operations),
        str(MEBIBYTES),
        *map(_nanoseconds, costs),
        str(max(1, round(machine.network.gigabytes * 1000))),
        eager,
        *(f"{cell.collective}:{cell.bytes}:{cell.root}" for cell in cells),
    ]


def write_files(settings: Settings, directory: Path) -> None:
    (directory / "platform.xml").write_text(platform(settings.machine))
    (directory / "hosts").write_text(hostfile(settings.machine, settings.ranks, settings.deal))


@contextmanager
def _ending_on_request() -> Iterator[None]:
    """Turns SIGTERM into KeyboardInterrupt during the block, so that the simulation ends too."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _what_failed(text: str) -> str:
    """One line that tells what failed: the first of one of Tutti's programs, else the last one.

    The prefix of SimGrid's log is removed.
    """
    lines = [LOG_PREFIX.sub("", line).strip() for line in text.splitlines()]
    lines = [line for line in lines if line and not line.startswith("Execution failed")]
    ours = [line for line in lines if line.startswith("tutti")]
    return (ours or lines[-1:] or ["it said nothing"])[0]


def _read_cells(stream: Any, run: Run, each: Callable[[], None]) -> None:
    for line in stream:
        for row in read_rows([line]):
            cell = Cell(row["call"], row.get("bytes", 0), row["root"])
            run.microseconds[cell] = round(row["ns"] / 1000, 4)
            if row["verified"]:
                run.verified.add(cell)
            each()


def _execute(
    words: list[str], env: dict[str, str], seconds: float, run: Run, each: Callable[[], None]
) -> tuple[int, str]:
    """Runs a simulation to its end and returns (exit code, stderr). No process of it remains.

    Raises RunError after `seconds`.
    """
    with tempfile.TemporaryFile("w+") as said, started(words, env, said) as process:
        late = threading.Event()

        def end() -> None:
            if process.poll() is None:
                late.set()
                os.killpg(process.pid, signal.SIGKILL)

        timer = threading.Timer(seconds, end)
        timer.start()
        try:
            _read_cells(process.stdout, run, each)
            code = process.wait()
        finally:
            timer.cancel()
        if late.is_set():
            raise RunError(
                f"the simulation did not end within {seconds:.0f} s; give more --seconds, or fewer "
                "ranks or sizes"
            )
        said.seek(0)
        return code, said.read()


def _simulate_from(
    settings: Settings,
    variant: Variant,
    cells: list[Cell],
    directory: Path,
    run: Run,
    each: Callable[[], None],
) -> str:
    """Simulates the cells in order, until one fails. Returns what failed, or ""."""
    report = directory / "report.json"
    with _ending_on_request():
        words = command(settings, variant, cells, directory)
        code, said = _execute(words, variant.environment(report), settings.seconds, run, each)
    if code != 0 or not set(cells) <= run.microseconds.keys():
        return f"exit code {code}: {_what_failed(said)}"
    if variant.tutti:
        if not report.is_file():
            return f"Tutti did not take part: {_what_failed(said)}"
        run.report = json.loads(report.read_text())
    return ""


def simulate(settings: Settings, variant: Variant, each: Callable[[], None]) -> Run:
    """Simulates one variant; `each` is called after each cell. Raises RunError.

    Cells at which SMPI's own collectives fail are left out and listed in the result.
    """
    run = Run()
    cells = settings.cells
    with tempfile.TemporaryDirectory(prefix="tutti-sim-") as name:
        write_files(settings, Path(name))
        try:
            while failure := _simulate_from(settings, variant, cells, Path(name), run, each):
                missing = [cell for cell in cells if cell not in run.microseconds]
                if variant.tutti or not missing:
                    raise RunError(failure)
                run.failed[missing[0]] = failure
                each()
                cells = missing[1:]
                if not cells:
                    break
        except RunError as error:
            raise RunError(
                f"{variant.label}, {settings.ranks} ranks on {settings.machine.name}: {error}"
            ) from error
    return run
