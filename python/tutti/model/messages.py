"""The costs of a host MPI's messages: within this node, and between two nodes.

tutti-ranks measures them, a program for each MPI ABI. Between nodes its times become LogGP's
parameters (Alexandrov and others, 1995), by the method of Hoefler, Lichei and Rehm (2007).
"""

import re
import shlex
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tutti.bench.checks import choose_mpis
from tutti.bench.driver import execute_rows, started_as
from tutti.bench.hosts import Hosts
from tutti.bench.mpis import Mpi, find_mpis
from tutti.bench.variants import Variant, environment
from tutti.bench.words import parse_delays
from tutti.errors import UserError
from tutti.places import core, program
from tutti.rows import PrintedRow, job_of, rows_of

BUDGET_MS = 40  # for each value
SECONDS = 120
MOST_AT_ONCE = 16
WITHIN, NETWORK = "messages within a node", "network"  # in a machine's `source`


@dataclass(frozen=True)
class Between:
    """How two ranks are started on two nodes. At most one of the three is given; none: not at all."""

    hosts: tuple[str, str] | None = None  # the names of the two hosts
    emulated: Path | None = None  # the directory of the scripts that make nodes
    delay: str = "0"  # the delay of the emulated nodes' links
    launch: tuple[str, ...] = ()  # the words that start the two ranks, before the program

    def __bool__(self) -> bool:
        return self.hosts is not None or self.emulated is not None or bool(self.launch)

    @property
    def title(self) -> str:
        if self.hosts is not None:
            return f"between {self.hosts[0]} and {self.hosts[1]}"
        if self.emulated is not None:
            return f"between emulated nodes with a delay of {self.delay}"
        return f"between the two ranks of '{shlex.join(self.launch)}'"


def parse_between(hosts: str | None, launch: str | None, delay: str | None) -> Between:
    """The values of --hosts, --launch and --delay. Raises UserError."""
    if hosts is not None and launch is not None:
        raise UserError("--launch: it says where the ranks run, and so does --hosts; give one")
    if delay is not None and (hosts is None or "," in hosts):
        raise UserError(
            "--delay: it needs --hosts with the directory of the scripts that make nodes"
        )
    if launch is not None:
        try:
            words = tuple(shlex.split(launch))
        except ValueError as error:
            raise UserError(f"--launch: '{launch}': {error}") from None
        if not words:
            raise UserError("--launch: give the words that start two ranks, as in 'srun -N 2 -n 2'")
        return Between(launch=words)
    if hosts is None:
        return Between()
    if "," not in hosts:
        if not Path(hosts).is_dir():
            raise UserError(
                f"--hosts: '{hosts}' is neither two host names, as in a,b, nor a directory with "
                "the scripts that make nodes"
            )
        Hosts(Path(hosts), 2)  # raises if a script is missing
        delays = parse_delays(delay or "0")
        if len(delays) > 1:
            raise UserError(f"--delay: '{delay}' is more than one; give one")
        return Between(emulated=Path(hosts), delay=delays[0])
    names = hosts.split(",")
    if (
        len(names) != 2
        or names[0] == names[1]
        or not all(re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9.-]*", name) for name in names)
    ):
        raise UserError(f"--hosts: '{hosts}' must be two different host names, as in a,b")
    return Between(hosts=(names[0], names[1]))


def choose_mpi(name: str | None) -> Mpi:
    """The MPI with this name, or the first. Raises UserError."""
    if name is not None and "," in name:
        raise UserError(f"--mpi: give one MPI, not '{name}'; a machine's file is of one")
    return choose_mpis([name] if name is not None else [], find_mpis())[0]


def over_hosts(mpi: Mpi, hosts: tuple[str, str], program_words: list[str]) -> list[str]:
    """The command of a job with one rank on each of two hosts."""
    words = [str(mpi.launcher), "-n", "2"]
    if mpi.family == "openmpi":
        # Its daemons on other hosts have an environment of their own.
        words += ["--host", ",".join(f"{host}:1" for host in hosts), "--map-by", "node"]
        words += ["--bind-to", "core", "-x", "LD_LIBRARY_PATH"]
    else:
        words += ["-ppn", "1", "-hosts", ",".join(hosts)]
        words += ["-bind-to", "core"] if mpi.family == "mpich" else []
    return words + program_words


def found_by(rows: Sequence[PrintedRow]) -> dict[str, Any]:
    """The measurements of the kind `messages` of tutti-ranks, in microseconds."""
    found = job_of(rows)
    for row in rows_of(rows, "message"):
        name, size = row["call"], row.get("bytes", 0)
        if name == "prompt":
            found |= {"prompt": size, "prompt_limited": row["limited"]}
        elif name == "at_once":
            found["at_once"] = {"bytes": size, "us": row["ns"] / 1000}
        else:
            found.setdefault(name, {})[str(size)] = row["ns"] / 1000
    return found


def _run(title: str, words: list[str], env: dict[str, str]) -> dict[str, Any]:
    """Runs a job of tutti-ranks and returns what it has measured."""
    return found_by(execute_rows(f"messages {title}", words, env, SECONDS))


def usable_cores() -> int:
    """The cores of this machine that have a processing unit for this process."""
    return sum(1 for one in core().load_tree().cores if one["usable"])


def run_within(mpi: Mpi, cores: int) -> dict[str, Any]:
    """Messages within this node. As many ranks as there are cores exchange messages at once."""
    ranks = max(2, min(cores, MOST_AT_ONCE) // 2 * 2)
    variant = Variant(mpi, "default", False)
    words = [str(program(f"tutti-ranks-{mpi.abi}")), "messages", str(BUDGET_MS)]
    with tempfile.TemporaryDirectory(prefix="tutti-messages-") as directory:
        binding = "core" if cores >= ranks else "none"
        started = started_as(variant, ranks, binding, words, Path(directory))
        return _run(f"within this node, {mpi.label}", *started)


def run_between(mpi: Mpi, between: Between) -> dict[str, Any]:
    """Messages between two nodes. Raises UserError if both ranks are on one."""
    variant = Variant(mpi, "default", False)
    words = [str(program(f"tutti-ranks-{mpi.abi}")), "messages", str(BUDGET_MS)]
    with ExitStack() as stack:
        directory = stack.enter_context(tempfile.TemporaryDirectory(prefix="tutti-messages-"))
        env = environment(variant, "core", Path(directory))
        if between.emulated is not None:
            if mpi.family == "intel":
                raise UserError(
                    f"--mpi: '{mpi.name}' is {mpi.label}, whose jobs emulated nodes cannot start; "
                    "name an MPICH or an Open MPI"
                )
            hosts = stack.enter_context(Hosts(between.emulated, 2))
            hosts.link(between.delay)
            env |= hosts.variables
            job = hosts.command(variant, 2, 1, words, None)
        elif between.hosts is not None:
            job = over_hosts(mpi, between.hosts, words)
        else:
            job = [*between.launch, *words]
        found = _run(f"{between.title}, {mpi.label}", job, env)
    if found["nodes"] == 1:
        raise UserError(
            f"messages {between.title}: both ranks are on one node, so these are no figures of a "
            "network; --hosts must name hosts that share no memory, and --launch must start one "
            "rank on each of two nodes"
        )
    return found


def _loggp(found: dict[str, Any]) -> dict[str, float]:
    """o, L, g and G, in nanoseconds, from microseconds.

    A message's way takes o + L + o. If sending and receiving alone seem to take longer than that,
    each takes half of it: within a node, one rank's work may overlap with the other's. On a busy
    machine a train may seem to take no longer than one message. Then a gap is what a send takes,
    and the time of a byte is that of a single long message.
    """
    one_way = found["round_trip"]["8"] / 2
    overhead = min((found["send"]["8"] + found["receive"]["8"]) / 2, one_way / 2)
    longest = max(found["gap"], key=int)
    long_gap = found["gap"][longest] or found["round_trip"][longest] / 2 - one_way
    return {
        "overhead": round(1000 * overhead, 2),
        "latency": round(1000 * (one_way - 2 * overhead), 2),
        "gap": round(1000 * max(found["gap"]["8"], found["send"]["8"]), 2),
        "byte": round(1000 * long_gap / int(longest), 6),
    }


def network_of(found: dict[str, Any], mpi: Mpi) -> dict[str, Any]:
    """The `network` of a machine's file."""
    return _loggp(found) | {"prompt": found["prompt"], "mpi": mpi.abi}


def messages_of(found: dict[str, Any]) -> dict[str, Any]:
    """The `messages` of a machine's file: between ranks of one node."""
    costs = _loggp(found)
    at_once = 1000 * found["at_once"]["us"] / found["at_once"]["bytes"] / found["ranks"]
    return {
        "overhead": costs["overhead"],
        "latency": costs["latency"],
        "byte": costs["byte"],
        "shared": round(min(costs["byte"], at_once), 6),
    }


def measure_messages(
    machine: dict[str, Any], mpi: Mpi, between: Between, say: Callable[[str], None]
) -> dict[str, Any]:
    """The machine with what messages of this MPI cost. `say` takes a line before each job."""
    replaced = (WITHIN, NETWORK) if between else (WITHIN,)
    sources = [
        source
        for source in machine["source"].split("; ")
        if source and not source.startswith(replaced)
    ]
    found = dict(machine)
    if between:  # the step that may fail comes first
        say(f"messages {between.title}, {mpi.label}")
        found["network"] = network_of(run_between(mpi, between), mpi)
        sources.append(f"{NETWORK}: {mpi.label} {between.title}")
    say(f"messages within this node, {mpi.label}")
    found["messages"] = messages_of(run_within(mpi, usable_cores()))
    sources.append(f"{WITHIN}: {mpi.label}")
    return found | {"source": "; ".join(sources)}
