"""Applications (`tutti bench apps`): whole programs with and without Tutti on every host MPI.

The programs are in examples/apps of Tutti's sources. They are plain MPI programs, one for each MPI
ABI, and print lines that parse_output reads (examples/apps/phases.h): the seconds of their phases,
their answers, and the whole time. Every repetition runs all variants in shuffled order, as in the
other benchmarks. One more job of each variant with Tutti, which is not timed, writes Tutti's
report, from which the share of each collective is computed.
"""

import json
import random
import re
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tutti.bench.core_ways import CoreWays
from tutti.bench.driver import (
    NO_HEAP,
    JobNodes,
    execute_job,
    measure_limits,
    scratch,
    started_as,
    what_failed,
)
from tutti.bench.hosts import Hosts
from tutti.bench.load import watched
from tutti.bench.measurements import JOB_SECONDS, Settings
from tutti.bench.over_nodes import Nodes
from tutti.bench.reading import Output, parse_output
from tutti.bench.variants import Variant, binding_for
from tutti.errors import RunError, UserError
from tutti.places import find_program, program

APPLICATIONS = {
    "matvec": "dense matrix times vector: scatter, bcast, then a reduce in each iteration",
    "barnes_hut": "Barnes-Hut's tree: allreduces whose length changes from level to level",
    "fft": "Fourier transform in three dimensions: transposes by alltoall",
    "multigrid": "geometric multigrid: ghost cells between boxes",
    "array_reduce": "all values of a distributed array become one element",
}
# The forms of a program, with the arguments that choose them: one in which communication and
# computation take turns, and one in which communication is under way while the program computes.
BLOCKING, OVERLAPPED = "blocking", "overlapped"
FORMS: dict[str, dict[str, tuple[str, ...]]] = {
    "fft": {
        BLOCKING: ("--blocking",),
        OVERLAPPED: ("--overlap", "--slices", "1", "--ahead", "2"),
    },
    "multigrid": {BLOCKING: ("--together", "1"), OVERLAPPED: ("--together", "4")},
}
# One thread computes for each rank, in the libraries that programs may use, unless the user says
# otherwise.
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def program_name(application: str, abi: str) -> str:
    return f"tutti-app-{application}-{abi}"


def find_application(application: str, abi: str) -> Path:
    """The program of an application. Raises UserError if it was not built."""
    found = find_program(program_name(application, abi))
    if found is None:
        raise UserError(
            f"--app: {application} was not built for this MPI ({program_name(application, abi)} is "
            "missing); build Tutti's sources with the MPI's compiler wrapper and the libraries "
            "that examples/README.md names"
        )
    return found


@dataclass(frozen=True)
class Place:
    """Where a job runs: so many ranks, on this machine or on emulated nodes."""

    ranks: int
    nodes: int | None = None
    delay: str | None = None  # one way, in the units of tests/hosts/link
    problem: str = ""  # with --core-ways: the program's problem (core_ways.py)

    @property
    def text(self) -> str:
        ranks = f"{self.ranks} rank{'s' if self.ranks > 1 else ''}"
        where = ranks if self.nodes is None else f"{self.nodes} nodes, {ranks}, delay {self.delay}"
        return f"{self.problem}, {where}" if self.problem else where


@dataclass(frozen=True)
class AppSettings(Settings):
    """The settings of calls, as far as they hold for programs, and those of the application."""

    application: str = ""
    arguments: tuple[str, ...] = ()  # the application's arguments
    limits: bool = True  # measure the machine's own operations before each repetition
    # The directory of the scripts that make nodes. Then `ranks` are nodes * per_node for each number
    # of nodes.
    hosts: Path | None = None
    per_node: int = 1
    delays: tuple[str, ...] = ()
    servers: bool = False  # the forms of the program, and Tutti's servers with the overlapped one
    core_ways: CoreWays | None = None

    def variants(self, ranks: int) -> list[Variant]:
        plain = super().variants(ranks)
        if self.core_ways is not None:
            return list(self.core_ways.variants(plain))
        if not self.servers:
            return plain
        # Without servers Tutti leaves non-blocking collectives between nodes to the host.
        return [
            replace(variant, form=form, servers=variant.tutti and form == OVERLAPPED)
            for variant in plain
            for form in FORMS[self.application]
        ]

    def arguments_of(self, variant: Variant, place: Place) -> tuple[str, ...]:
        """The user's arguments come last, so that they can change a form."""
        if self.core_ways is not None:
            nodes = place.nodes or 1
            ranks = place.ranks // nodes
            chosen = self.core_ways.arguments(variant.form, place.problem, nodes, ranks)
            return (*chosen, *self.arguments)
        return (*(FORMS[self.application][variant.form] if variant.form else ()), *self.arguments)

    @property
    def places(self) -> list[Place]:
        places = [
            Place(ranks, ranks // self.per_node, delay)
            for delay in self.delays
            for ranks in self.ranks
        ]
        if self.hosts is None:
            places = [Place(ranks) for ranks in self.ranks]
        if self.core_ways is None:
            return places
        problems = self.core_ways.problems
        return [replace(place, problem=problem) for place in places for problem in problems]

    @property
    def cores_of_node(self) -> int:
        """The cores that an emulated node needs to itself."""
        return 1 if self.core_ways is None else self.core_ways.cores_of_node(self.per_node)

    @property
    def jobs(self) -> int:
        """The number of jobs, with those that write reports and those that measure the machine."""
        every = [variant for place in self.places for variant in self.variants(place.ranks)]
        timed = self.repetitions * (len(every) + self.limits)
        return timed + sum(variant.tutti for variant in every)


@dataclass
class Jobs:
    """The jobs of one variant at one place, by repetition."""

    outputs: list[Output] = field(default_factory=list)
    shares_of_others: list[float | None] = field(default_factory=list)
    report: dict[str, Any] | None = None  # Tutti's, of a job of its own
    reported: Output | None = None  # the output of that job


@dataclass
class Applications:
    """All jobs of one `tutti bench apps`."""

    settings: AppSettings
    seed: int
    # Indexed by place and variant's key.
    jobs: dict[tuple[Place, str], Jobs] = field(default_factory=dict)
    one_way_us: dict[str, list[float]] = field(default_factory=dict)  # indexed by delay
    limits: list[dict[str, Any]] = field(default_factory=list)  # one for each repetition
    interrupted: bool = False  # the user has ended it; only whole repetitions are here

    def of(self, place: Place, variant: Variant) -> Jobs:
        return self.jobs.setdefault((place, variant.key), Jobs())

    def keep(self, repetitions: int) -> None:
        """Leaves out the jobs of later repetitions, which have not all run."""
        self.settings = replace(self.settings, repetitions=repetitions)
        del self.limits[repetitions:]
        for jobs in self.jobs.values():
            del jobs.outputs[repetitions:]
            del jobs.shares_of_others[repetitions:]


def failure(application: str, code: int, out: str, err: str) -> str:
    """One line that says why a job failed: the application's own, if it said one."""
    own = re.search(rf"^{application}: .*$", err, re.MULTILINE)
    return own[0] if own else f"exit code {code}: {what_failed(err + out)}"


def run_application(
    settings: AppSettings,
    place: Place,
    variant: Variant,
    directory: Path,
    hosts: Hosts | None = None,
    report: Path | None = None,
) -> tuple[Output, float | None]:
    """Runs one job; returns its output and the share of the cores that other processes used.

    `report` is a file for Tutti's report. Raises RunError, or UserError if the application does
    not accept its arguments.
    """
    binary = find_application(settings.application, variant.mpi.abi)
    binding = binding_for(settings.bind, settings.oversubscribed(place.ranks))
    words = [str(binary), *settings.arguments_of(variant, place)]
    if settings.core_ways is not None:
        words = settings.core_ways.before_program(variant.form, variant.mpi.abi) + words
    nodes = JobNodes(hosts, settings.per_node) if hosts is not None else None
    started, environ = started_as(variant, place.ranks, binding, words, directory, nodes)
    environ = dict.fromkeys(ONE_THREAD, "1") | environ
    if settings.core_ways is not None:
        environ |= settings.core_ways.variables(variant.form)
    if report is not None:
        # Not every launcher passes variables on to other nodes, but all pass arguments on.
        started.insert(started.index(str(program("tutti-run"))) + 1, f"--report={report}")
    where = f"{variant.label}, {place.text}"
    try:
        with watched(place.ranks) as watch:
            code, out, err = execute_job(started, environ, JOB_SECONDS)
        if code != 0:
            said = failure(settings.application, code, out, err)
            if said.startswith(f"{settings.application}: "):
                raise UserError(said)
            raise RunError(said)
        if variant.heap and NO_HEAP in err:
            raise RunError(what_failed(err))
        return parse_output(out), watch.share
    except (OSError, RunError) as error:
        raise RunError(f"{where}: {error}") from error


def over_nodes(settings: AppSettings, plan: Nodes) -> AppSettings:
    """The settings for emulated nodes, which have settings of their own."""
    return replace(
        settings,
        ranks=plan.settings.ranks,
        peer_settings="default",
        bind="none",
        limits=False,  # nodes share cores
        hosts=plan.hosts,
        per_node=plan.per_node,
        delays=tuple(plan.delays),
    )


def most_nodes(settings: AppSettings) -> int:
    """The most nodes that are emulated, if any are."""
    return max([2, *(place.nodes or 0 for place in settings.places)])


@dataclass
class _Running:
    """The jobs of one `tutti bench apps`, and what they run in."""

    result: Applications
    shuffle: random.Random
    directory: Path
    hosts: Hosts | None
    before_job: Callable[[str], None]

    def repeat(self, repetition: int) -> None:
        """Runs the jobs of one repetition."""
        settings = self.result.settings
        if settings.limits:
            self.before_job("the machine's limits")
            self.result.limits.append(measure_limits())
        for place, variant in self._in_order():
            where = f"{place.text}, {variant.label}"
            self.before_job(f"{repetition + 1}/{settings.repetitions}, {where}")
            output, share = run_application(settings, place, variant, self.directory, self.hosts)
            jobs = self.result.of(place, variant)
            jobs.outputs.append(output)
            jobs.shares_of_others.append(share)

    def make_reports(self) -> None:
        """Runs the jobs that write Tutti's reports."""
        file = self.directory / "report.json"
        for place, variant in self._in_order():
            if variant.tutti:
                self.before_job(f"report, {place.text}, {variant.label}")
                file.unlink(missing_ok=True)
                jobs = self.result.of(place, variant)
                jobs.reported, _ = run_application(
                    self.result.settings, place, variant, self.directory, self.hosts, file
                )
                jobs.report = json.loads(file.read_text()) if file.exists() else None

    def _in_order(self) -> Iterable[tuple[Place, Variant]]:
        """All places and their variants, shuffled; sets the links' delay when it changes."""
        delay = None
        for place in self.result.settings.places:
            if self.hosts is not None and place.delay is not None and place.delay != delay:
                delay = place.delay
                self.hosts.link(delay)
                self.result.one_way_us.setdefault(delay, []).append(self.hosts.one_way_us())
            variants = self.result.settings.variants(place.ranks)
            self.shuffle.shuffle(variants)
            for variant in variants:
                yield place, variant


def measure(settings: AppSettings, before_job: Callable[[str], None]) -> Applications:
    """Runs all jobs; `before_job` gets a line before each job.

    After an interrupt (Ctrl-C) the result has the repetitions that had ended. If none had, the
    interrupt goes on to the caller.
    """
    seed = settings.seed if settings.seed is not None else random.randrange(1 << 31)
    result = Applications(settings, seed)
    emulated = (
        Hosts(settings.hosts, most_nodes(settings), settings.cores_of_node)
        if settings.hosts is not None
        else nullcontext()
    )
    ended = 0
    with scratch() as directory, emulated as hosts:
        running = _Running(result, random.Random(seed), directory, hosts, before_job)
        try:
            for repetition in range(settings.repetitions):
                running.repeat(repetition)
                ended += 1
            running.make_reports()
        except KeyboardInterrupt:
            if ended == 0:
                raise
            result.keep(ended)
            result.interrupted = True
    return result


def built(application: str) -> list[str]:
    """The ABIs for which the application was built."""
    return [abi for abi in ("mpich", "openmpi") if find_program(program_name(application, abi))]


def require_built(settings: AppSettings) -> None:
    for mpi in settings.mpis:
        find_application(settings.application, mpi.abi)
