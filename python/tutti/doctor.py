"""`tutti doctor` reports what this machine has, what Tutti will use, and how to get what is
missing.
"""

import json
import os
import shutil
from dataclasses import asdict, dataclass
from typing import Annotated, Any

import typer

from tutti import __version__, probes
from tutti.bench.mpis import Mpi, find_mpis
from tutti.bench.texts import size_text
from tutti.choose.found import directories, found_table
from tutti.errors import UserError
from tutti.model.measure import places_of
from tutti.places import INTERPOSERS, MPIS, core, find_interposer, find_library, find_program
from tutti.plan.machine import Machine
from tutti.plan.node import read_node
from tutti.predict.binding import gain_of_binding
from tutti.tables import grid_of, new_console

GOOD, POOR, BAD = "ok", "note", "missing"


@dataclass(frozen=True)
class Finding:
    name: str
    state: str  # GOOD; POOR: Tutti works without it; BAD: Tutti cannot work without it
    says: str
    remedy: str = ""


def bytes_text(count: int) -> str:
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if count >= unit:
            return f"{count / unit:.3g} {name}"
    return f"{count} bytes"


def load_tree(topology: str) -> Any:
    try:
        return core().load_tree(topology)
    except core().Error as error:
        raise UserError(str(error)) from error


def examine_cores(tree: Any) -> Finding:
    total, usable = len(tree.cores), tree.usable_cores
    says = f"{usable} of {total} cores usable ({tree.source})"
    if usable < total:
        return Finding(
            "cores",
            POOR,
            says,
            "this process is bound to these cores (taskset, cpuset); ranks may be bound to others",
        )
    return Finding("cores", GOOD, says)


def _gain_by_the_model(topology: str) -> str:
    gain = gain_of_binding(Machine(read_node(topology)))
    if gain is None:
        return ""
    collective, size = gain.most_of
    whose = f"by the model of {gain.machine}"
    if not gain.is_same:
        whose += ", which has such levels but not these cores"
    return (
        f". Calls of unbound ranks take {gain.mean:.2f} times as long in the mean, {whose} "
        f"({gain.ranks} ranks; most: {collective} of {size_text(size)}, {gain.most:.1f} times)"
    )


def examine_binding(tree: Any, topology: str = "") -> Finding:
    """Tells whether it matters where ranks are (docs/algorithms.md, "Levels"), and by how much."""
    names = {"socket": "sockets", "numa": "NUMA regions", "cache": "shared caches"}
    places = places_of(tree).values()
    counts = {level: len({place[level] for place in places if level in place}) for level in names}
    groups = {level: count for level, count in counts.items() if count > 1}
    if not groups:
        return Finding("binding", GOOD, "the usable cores are on one level: binding adds nothing")
    found = ", ".join(f"{count} {names[level]}" for level, count in groups.items())
    return Finding(
        "binding",
        POOR,
        f"{found}: algorithms follow them. Ranks that the launcher does not bind count as being "
        "where they run in MPI_Init, if each has a core of its own there; else as on one level"
        + _gain_by_the_model(topology),
        "bind ranks: mpiexec --bind-to core (Open MPI) or -bind-to core (MPICH), or "
        "tutti-run --bind core; tutti model rules, with and without --no-bound, has times by a model",
    )


def examine_servers(tree: Any) -> Finding:
    """Servers gain where a core is left for each of them (docs/servers.md)."""
    cores = tree.usable_cores
    if cores < 2:
        return Finding(
            "servers",
            POOR,
            "no free core: servers would share the only core with the ranks",
            "run without servers, or with more cores",
        )
    last = [core["processing_units"][0] for core in tree.cores if core["usable"]][-1]
    says = (
        f"with N servers (tutti-run --servers N) and at most {cores} - N ranks on this node, each "
        f"server has a core of its own (one server: processing unit {last}); else they share the "
        "ranks' cores. They are threads of the ranks' processes, unless --servers-as says "
        "processes. Between nodes those that are threads exchange one-sided transfers, and one more "
        "thread of each process answers the ranks' own and drives collectives; the report counts "
        "what they did"
    )
    return Finding("servers", GOOD, says)


def examine_saturation(files: str) -> Finding:
    """The saturation maps that transfers follow (TUTTI_SATURATION), of this machine."""
    name = "saturation map"
    if not files:
        return Finding(
            name,
            POOR,
            "none: servers get one-sided transfers by their length alone",
            "to have one: tutti bench saturation --json-file FILE measures this machine, and "
            "TUTTI_SATURATION=FILE makes servers follow it",
        )
    known: dict[bool, str] = {}  # True: within a node; False: between nodes
    for file in filter(None, files.split(",")):
        try:
            cores, messages, most_bytes, is_of_node = core().saturation_of_here(file)
        except core().Error as error:
            what, _, remedy = str(error).rpartition("; ")
            return Finding(name, POOR, f"{what}; until then no transfer follows it", remedy)
        if is_of_node in known:
            return Finding(
                name,
                POOR,
                f"{file} is a second map {'of a node' if is_of_node else 'between nodes'}, and left out",
                "name at most one of a node and one between nodes in TUTTI_SATURATION",
            )
        follows = (
            "servers that select transfers follow it"
            if is_of_node
            else "transfers between nodes follow it"
        )
        known[is_of_node] = (
            f"{file}: of this machine, up to {cores} cores, {messages} messages and "
            f"{bytes_text(most_bytes)}; {follows}"
        )
    return Finding(name, GOOD, ". ".join(known.values()))


def examine_tables(mpis: list[Mpi]) -> list[Finding]:
    """The tables of rules that jobs find without an option."""
    name = "table of rules"
    found = {mpi.label: found_table(mpi) for mpi in mpis} or {"all MPIs": found_table(None)}
    broken = dict.fromkeys(line for one in found.values() for line in one.broken)
    findings = [Finding(name, POOR, *line.rsplit(": ", 1)) for line in broken]
    labels: dict[str, list[str]] = {}
    for label, one in found.items():
        if one.file:
            labels.setdefault(f"{one.file}, {one.whose}", []).append(label)
    findings += [
        Finding(name, GOOD, f"{file}, for {', '.join(mine)}") for file, mine in labels.items()
    ]
    if findings:
        return findings
    says = f"none is found for this machine, in {' or '.join(map(str, directories().values()))}"
    remedy = "to have one: tutti tune --model --install user measures this machine, in seconds"
    return [Finding(name, POOR, says, remedy)]


def examine_server_processes() -> Finding:
    """Examines the needs of servers as processes: their program, and the system's copies."""
    name, instead = "servers as processes", "--servers-as processes starts threads instead"
    if find_program("tutti-server") is None:
        return Finding(
            name,
            POOR,
            f"the program tutti-server is not found: {instead}",
            "install a tutti-mpi wheel that has it",
        )
    tried = probes.cma()
    if not tried.works:
        remedy = (
            "nothing to do, threads serve as well; to permit copies: sysctl "
            "kernel.yama.ptrace_scope=0, in containers --cap-add=SYS_PTRACE"
        )
        return Finding(
            name, POOR, f"a process may not copy from a rank ({tried.reason}): {instead}", remedy
        )
    says = "tutti-run --servers-as processes starts them, and an idle one uses no core"
    watched = probes.process_descriptors()
    if watched.works:
        return Finding(name, GOOD, says)
    says = (
        "tutti-run --servers-as processes starts them; the system has no descriptors of processes "
        f"({watched.reason}), so each looks twice a second whether its rank lives"
    )
    return Finding(name, POOR, says, "nothing to do; threads look at nothing while they are idle")


def examine_shared_memory() -> list[Finding]:
    anonymous = probes.memfd()
    named, size, free = probes.shm_directory()
    found = []
    if anonymous.works:
        found.append(
            Finding(
                "memfd",
                GOOD,
                "shared between processes, without a name, not limited by the size of /dev/shm",
            )
        )
    else:
        remedy = (
            "nothing to do, Tutti uses /dev/shm"
            if named.works
            else "run on a kernel with memfd, or mount /dev/shm"
        )
        found.append(Finding("memfd", POOR if named.works else BAD, anonymous.reason, remedy))
    if named.works:
        found.append(Finding("/dev/shm", GOOD, f"{bytes_text(size)}, {bytes_text(free)} free"))
    else:
        remedy = (
            "nothing to do, Tutti uses memfd"
            if anonymous.works
            else "mount a tmpfs there (containers: --shm-size)"
        )
        found.append(Finding("/dev/shm", POOR if anonymous.works else BAD, named.reason, remedy))
    return found


def examine_heap() -> Finding:
    """The shared heap gives direct reach: all ranks of a node map it."""
    size, reason = core().try_shared_heap()
    if size == 0:
        return Finding(
            "shared heap",
            POOR,
            reason,
            "ranks work without direct reach; raise the limit that the message names, or use memfd",
        )
    says = (
        f"{bytes_text(size)} of addresses for each rank; MPI_Alloc_mem and tutti_alloc give memory "
        "that all ranks of a node reach directly"
    )
    if find_library("libtutti-heap.so") is None:
        remedy = (
            "tutti-run --shared-heap needs it: install a tutti-mpi wheel that was built with "
            "jemalloc"
        )
        return Finding("shared heap", POOR, f"{says}; libtutti-heap.so is not found", remedy)
    return Finding(
        "shared heap",
        GOOD,
        f"{says}; with tutti-run --shared-heap, so does malloc",
    )


def examine_cma() -> Finding:
    tried = probes.cma()
    if tried.works:
        says = (
            "a process may read another's memory; TUTTI_REACH=cma and rules with `reach cma` use "
            "this for long messages"
        )
        return Finding("CMA", GOOD, says)
    remedy = (
        "nothing to do, Tutti uses slots in shared memory; to permit CMA: sysctl "
        "kernel.yama.ptrace_scope=0, in containers --cap-add=SYS_PTRACE"
    )
    return Finding("CMA", POOR, f"refused: {tried.reason}", remedy)


def examine_task_groups() -> list[Finding]:
    if not probes.sessions_are_groups():
        return []
    says = (
        "the kernel schedules each session as a group: if there are more ranks than cores and the "
        "launcher starts each rank in a session of its own, as MPICH's does, a rank that yields "
        "keeps its core; with any launcher some kernels (Linux 6.18) leave ranks without a core "
        "for seconds"
    )
    return [
        Finding("task groups", POOR, says, "for such jobs: sysctl kernel.sched_autogroup_enabled=0")
    ]


def examine_launcher() -> Finding:
    launcher = find_program("tutti-run")
    if launcher is None:
        return Finding(
            "tutti-run",
            BAD,
            "not found",
            "install the tutti-mpi wheel, or put tutti-run on the PATH",
        )
    return Finding("tutti-run", GOOD, str(launcher))


def examine_interposers() -> list[Finding]:
    found = []
    for abi, name in INTERPOSERS.items():
        library = find_interposer(abi)
        if library is None:
            remedy = f"{MPIS[abi]} needs it: install a tutti-mpi wheel that was built with it"
            found.append(Finding(name, POOR, "not found", remedy))
        else:
            found.append(Finding(name, GOOD, f"for {MPIS[abi]}"))
    if all(f.state == POOR for f in found):
        found = [Finding(f.name, BAD, f.says, f.remedy) for f in found]
    return found


def examine_mpi(mpi: Mpi) -> Finding:
    name = f"MPI {mpi.name}"
    if mpi.library is None:
        return Finding(
            name,
            POOR,
            f"{mpi.label}, {mpi.launcher}: its library is not found",
            "install this MPI again",
        )
    if find_interposer(mpi.abi) is None:
        return Finding(
            name,
            POOR,
            f"{mpi.label}, {mpi.launcher}",
            f"Tutti needs {INTERPOSERS[mpi.abi]} for it",
        )
    return Finding(name, GOOD, f"{mpi.label}, {mpi.launcher}, served by {INTERPOSERS[mpi.abi]}")


def examine_path(mpis: list[Mpi]) -> list[Finding]:
    """Examines the programs that a shell must find for `mpiexec -n 4 tutti-run ./app`, and the line that makes it so."""
    missing = [name for name in ("mpiexec", "tutti-run") if shutil.which(name) is None]
    if not missing:
        return []
    found = {"mpiexec": mpis[0].launcher if mpis else None, "tutti-run": find_program("tutti-run")}
    launchers = [found[name] for name in missing]
    places = [str(one.parent.absolute()) for one in launchers if one is not None]
    if not places:
        return []
    return [
        Finding(
            "PATH",
            POOR,
            f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} not on it",
            f"export PATH={':'.join(places)}:$PATH",
        )
    ]


def examine_mpis(mpis: list[Mpi]) -> list[Finding]:
    if not mpis:
        return [
            Finding(
                "MPI", BAD, "none found", "install one: pip install mpich, or the system's packages"
            )
        ]
    return [examine_mpi(mpi) for mpi in mpis] + examine_path(mpis)


def examine_environment() -> list[Finding]:
    try:
        warnings = core().environment_warnings()
    except core().Error as error:
        return [Finding("environment", BAD, str(error), "correct it, or unset the variable")]
    found = [Finding("environment", POOR, warning, "rename or unset it") for warning in warnings]
    given = {name: row for name, row in core().environment().items() if row[0] is not None}
    found += [
        Finding(name, GOOD, f"{row[0]} (default: {row[1] or 'not set'})")
        for name, row in given.items()
    ]
    return found


def what_is_used(findings: list[Finding], cores: int) -> list[str]:
    """Lines that tell what a job on this machine will use."""
    state = {finding.name: finding.state for finding in findings}
    if any(finding.state == BAD for finding in findings):
        return [
            "Tutti cannot work here until the missing parts above are there. "
            "Programs run on their MPI alone."
        ]
    memory = "memfd" if state.get("memfd") == GOOD else "/dev/shm"
    served = [finding.name.removeprefix("MPI ") for finding in findings
              if finding.name.startswith("MPI ") and finding.state == GOOD]  # fmt: skip
    reach = ["slots in shared memory"]
    reach += (
        ["the shared heap, for buffers that lie in it"] if state.get("shared heap") == GOOD else []
    )
    reach += (
        ["CMA, for long messages, if TUTTI_REACH or a rule requests it"]
        if state.get("CMA") == GOOD
        else []
    )
    return [
        f"Shared memory comes from {memory}.",
        f"Ranks reach each other's buffers through {', '.join(reach)} (TUTTI_REACH restricts it).",
        f"Up to {cores} ranks spin while they wait; if there are more, waiting ranks yield.",
        f"tutti-run works with these MPIs: {', '.join(served) or 'none'}.",
    ]


def examine() -> tuple[Any, list[Finding], list[str]]:
    environment = examine_environment()
    malformed = any(finding.state == BAD for finding in environment)
    topology = "" if malformed else os.environ.get("TUTTI_TOPOLOGY", "")
    tree = load_tree(topology)
    mpis = find_mpis()
    findings = [
        examine_cores(tree),
        examine_binding(tree, topology),
        examine_servers(tree),
        examine_server_processes(),
        examine_saturation(os.environ.get("TUTTI_SATURATION", "")),
        *examine_task_groups(),
        *examine_shared_memory(),
        examine_heap(),
        examine_cma(),
        examine_launcher(),
        *examine_interposers(),
        *examine_mpis(mpis),
        *examine_tables(mpis),
        *environment,
    ]
    return tree, findings, what_is_used(findings, tree.usable_cores)


def _print(tree: Any, findings: list[Finding], used: list[str]) -> None:
    console = new_console(132)
    console.print(f"Tutti {__version__}\n\n{tree.text.rstrip()}\n", highlight=False, markup=False)
    colours = {GOOD: "green", POOR: "yellow", BAD: "red"}
    console.print(
        grid_of(
            (
                f"[{colours[finding.state]}]{finding.state}[/]",
                finding.name,
                finding.says + (f"\n-> {finding.remedy}" if finding.remedy else ""),
            )
            for finding in findings
        )
    )
    console.print()
    for line in used:
        console.print(line, highlight=False, markup=False)


def doctor(as_json: Annotated[bool, typer.Option("--json", help="Write JSON.")] = False) -> None:
    """Check the machine, its MPIs and Tutti's own parts.

    The exit code is 1 if Tutti cannot work here.
    """
    tree, findings, used = examine()
    if as_json:
        document = {
            "format": "tutti-doctor 1",
            "tutti": __version__,
            "tree": {
                "source": tree.source,
                "cores": tree.cores,
                "vertices": tree.vertices,
                "usable": tree.usable_cores,
            },
            "findings": [asdict(finding) for finding in findings],
            "used": used,
        }
        print(json.dumps(document, indent=1))
    else:
        _print(tree, findings, used)
    if any(finding.state == BAD for finding in findings):
        raise typer.Exit(1)
