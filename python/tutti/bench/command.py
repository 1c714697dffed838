"""The command `tutti bench`. It checks all options before anything runs."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from tutti.bench import applications_command, nodes_command, threads_command
from tutti.bench.applications import APPLICATIONS, FORMS, AppSettings
from tutti.bench.document import as_json
from tutti.bench.driver import run
from tutti.bench.forms_command import DEFAULT_FACES, QUICK_FACES, parse_modes
from tutti.bench.load import MOST_BUSY
from tutti.bench.measurements import (
    COLLECTIVES,
    DEFAULT_COLLECTIVES,
    HALO,
    LENGTHS,
    ROOTED,
    Measurements,
    Settings,
)
from tutti.bench.mpis import Mpi, find_mpis
from tutti.bench.progress import with_progress
from tutti.bench.variants import BINDINGS, SETTINGS
from tutti.bench.words import (
    PROGRAMS,
    one_of,
    parse_bytes,
    parse_collectives,
    parse_kinds,
    parse_lengths,
    parse_ranks,
    parse_sizes,
)
from tutti.errors import RunError, UserError
from tutti.places import find_interposer, find_program
from tutti.probes import sessions_are_groups

DEFAULT_SIZES = "8,64,512,4K,32K,64K,256K,1M"
QUICK_SIZES = "8,512,4K,64K"
OPENMP_SIZES = "64,512,4K,16K,64K,256K,1M,4M"
SIZES_BETWEEN = "8,1K,16K,256K,1M"  # of one-sided transfers between nodes
QUICK_SIZES_BETWEEN = "8,16K,1M"


def require_rooted(collectives: list[str], openmp: bool) -> None:
    if openmp:
        raise UserError(
            "--every-root: --openmp measures no collective with a root; leave one of the two out"
        )
    if not any(name in ROOTED for name in collectives):
        raise UserError(
            f"--every-root: none of {', '.join(collectives)} has a root; add one of "
            f"{', '.join(ROOTED)}, or leave --every-root out"
        )


def default_ranks(cores: int) -> list[int]:
    """Two ranks, one rank on each core (at most 16), and two ranks on each core (at most 32)."""
    return sorted({2, max(2, min(cores, 16)), max(2, min(2 * cores, 32))})


def choose_mpis(names: list[str], found: list[Mpi]) -> list[Mpi]:
    """The MPIs with these names; without names the first of each family. Raises UserError."""
    found = [mpi for mpi in found if mpi.library is not None]
    if not found:
        raise UserError(
            "no MPI was found; install one into .mpi/NAME (make does), or put its mpiexec on the "
            "PATH"
        )
    if not names:
        families = {mpi.family: mpi for mpi in reversed(found)}
        return sorted(families.values(), key=found.index)
    chosen = []
    for name in dict.fromkeys(name for text in names for name in text.split(",")):
        matching = [mpi for mpi in found if mpi.name == name]
        if not matching:
            raise UserError(
                f"--mpi: there is no '{name}'; found are {', '.join(mpi.name for mpi in found)}"
            )
        chosen += matching
    return chosen


def output_file(option: str, name: str | None) -> Path | None:
    """The path of an output file. Raises UserError, before anything runs, if it is not writable."""
    if name is None:
        return None
    path = Path(name)
    if path.is_dir() or not path.name:
        raise UserError(f"{option}: '{name}' is a directory; give the name of a file")
    if not path.parent.is_dir():
        raise UserError(f"{option}: there is no directory '{path.parent}'; make it first")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise UserError(f"{option}: '{name}' cannot be written; give another file")
    return path


def plot_stem(name: str | None) -> Path | None:
    path = output_file("--plot", name)
    return path.with_suffix("") if path and path.suffix in (".png", ".svg") else path


def refuse_with_kinds(given: dict[str, bool]) -> None:
    """Raises UserError if an option was given that only goes with tables over sizes."""
    for option, is_given in given.items():
        if is_given:
            raise UserError(
                f"{option}: it cannot be combined with --kinds, --mixed and --cold, which compare "
                "kinds of calls; leave it out"
            )


def with_tutti(wanted: bool, mpis: list[Mpi]) -> bool:
    if not wanted:
        return False
    missing = "the launcher tutti-run" if find_program("tutti-run") is None else ""
    for mpi in mpis:
        if not missing and find_interposer(mpi.abi) is None:
            missing = f"the interposer for {mpi.label}"
    if missing:
        raise UserError(
            f"{missing} is missing; install the tutti-mpi wheel, or give --no-tutti to measure the "
            "MPIs without Tutti"
        )
    return True


def refuse_without_hosts(hosts: str | None, given: dict[str, object]) -> None:
    words = [option for option, value in given.items() if value is not None]
    if words and hosts is None:
        raise UserError(
            f"{words[0]}: it needs --hosts, the directory of the scripts that make nodes"
        )


def refuse_with_hosts(ranks: str | None, given: dict[str, bool]) -> None:
    if ranks is not None:
        raise UserError(
            "--ranks: with --hosts the rank counts follow from --nodes and --per-node; leave it out"
        )
    for option, is_given in given.items():
        if is_given:
            raise UserError(
                f"{option}: --hosts has its own settings, because its nodes share this machine's "
                "cores; leave it out"
            )


def measure(settings: Settings, microseconds: float | None) -> Measurements:
    if settings.overlap:
        from tutti.bench import overlap

        return with_progress(
            overlap.jobs(settings) if microseconds is None else settings.jobs,
            "the machine's limits",
            lambda before_job: overlap.measure(settings, microseconds, before_job),
        )
    return with_progress(
        settings.jobs, "the machine's limits", lambda before_job: run(settings, before_job)
    )


def drawing(settings: Settings) -> Callable[[Measurements, Path], list[Path]]:
    """The function that draws these measurements."""
    from tutti.bench import forms_report, halo, overlap_report, plot

    if settings.faces:
        return halo.draw_halo
    if settings.overlap:
        return overlap_report.draw_overlap
    return forms_report.draw_forms if settings.forms else plot.draw


def save(
    measurements: Measurements, json_file: Path | None, stem: Path | None, console: Console
) -> None:
    try:
        if json_file is not None:
            json_file.write_text(json.dumps(as_json(measurements), indent=1) + "\n")
            console.print(f"wrote {json_file}", highlight=False)
        if stem is not None:
            for name in drawing(measurements.settings)(measurements, stem):
                console.print(f"wrote {name}", highlight=False)
    except OSError as error:
        raise RunError(f"cannot write '{error.filename}': {error.strerror}") from error


def bench_openmp(
    threads: list[int],
    sizes: list[int],
    repetitions: int,
    budget_ms: int,
    json_file: Path | None,
    console: Console,
) -> None:
    from tutti.bench import openmp

    documents = [openmp.measure(count, sizes, repetitions, budget_ms) for count in threads]
    for document in documents:
        openmp.show(document, console)
    if json_file is not None:
        json_file.write_text(json.dumps(documents, indent=1) + "\n")
        console.print(f"wrote {json_file}", highlight=False)


def bench(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="-- OPTIONS", help="With --app: the application's own options."),
    ] = None,
    app: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help=f"Run a whole program: {', '.join(APPLICATIONS)}; list says what they are. Its "
            "own options follow after --. Compares answers, and times by phase.",
        ),
    ] = None,
    ranks: Annotated[
        str | None,
        typer.Option(
            help="Rank counts, as in 2,4,8 (default: 2, the number of cores, "
            "twice the number of cores)."
        ),
    ] = None,
    collectives: Annotated[
        str | None,
        typer.Option(
            help=f"Which collectives: all, or some of {', '.join(COLLECTIVES)} "
            f"(default: {','.join(DEFAULT_COLLECTIVES)})."
        ),
    ] = None,
    sizes: Annotated[
        str | None,
        typer.Option(
            help="Message sizes in bytes: of one rank's part, or of the whole vector if all ranks "
            f"have it (default: {DEFAULT_SIZES})."
        ),
    ] = None,
    lengths: Annotated[
        str | None,
        typer.Option(
            metavar="LIST",
            help="With --hosts, how long the parts of v-collectives and reduce_scatter are: ramp "
            "(from 1/2 to 3/2 of the size), equal, heavy (one part has nearly all), or all "
            "(default: ramp). Their mean is the size.",
        ),
    ] = None,
    every_root: Annotated[
        bool,
        typer.Option(
            "--every-root",
            help="Measure bcast, reduce, gather and scatter from every root in turn, and show the "
            "fastest, the median and the slowest root. (With root 0 alone, trees that ignore the "
            "machine's topology look too good.) With P ranks this takes P times as long.",
        ),
    ] = False,
    mixed: Annotated[
        bool,
        typer.Option(
            "--mixed",
            help="Also measure the kinds of calls in a shuffled order, because programs alternate "
            "calls (with --kinds programs by default).",
        ),
    ] = False,
    cold: Annotated[
        str | None,
        typer.Option(
            metavar="BYTES",
            help="Also measure with cold caches: before each operation each rank streams over "
            "so many bytes of its own memory, as in 4M. With --mixed both orders are measured "
            "so.",
        ),
    ] = None,
    kinds: Annotated[
        str | None,
        typer.Option(
            help="Kinds of calls, instead of --collectives and --sizes: "
            "COLLECTIVE:BYTES[:ROOT][:uint32][:dup], as in bcast:4K:1,allreduce:4:uint32:dup "
            "(dup: on a duplicate of MPI_COMM_WORLD); or `programs`, which stands for 18 kinds "
            "of short calls."
        ),
    ] = None,
    form: Annotated[
        str | None,
        typer.Option(
            metavar="LIST",
            help="Also measure non-blocking or persistent calls that are waited for at once: "
            "nonblocking, persistent or all. The tables show the start alone, and start and wait "
            "beside the blocking call, the host MPI and the best peer.",
        ),
    ] = None,
    overlap: Annotated[
        bool,
        typer.Option(
            "--overlap",
            help="Measure calls beside computations bound by arithmetic and by memory, as whole "
            "times: start, compute, wait (in the forms of --form; default: nonblocking), and call, "
            "then compute.",
        ),
    ] = False,
    compute: Annotated[
        str | None,
        typer.Option(
            metavar="US",
            help="With --overlap: microseconds of computation (default: as long as the best peer's "
            "blocking call, which jobs before the others find).",
        ),
    ] = None,
    halo: Annotated[
        bool,
        typer.Option(
            "--halo",
            help="Measure exchanges of ghost cells in three dimensions: neighbourhood collectives "
            "beside MPI_Isend and MPI_Irecv. With --overlap --hosts: over nodes, beside "
            "computations.",
        ),
    ] = False,
    faces: Annotated[
        str | None,
        typer.Option(
            metavar="LIST",
            help="With --halo: bytes of a face, squares of 4-byte cells "
            f"(default: {DEFAULT_FACES}; with --quick: {QUICK_FACES}).",
        ),
    ] = None,
    dirty: Annotated[
        bool,
        typer.Option(help="Each rank rewrites its buffer before each operation, as programs do."),
    ] = True,
    repetitions: Annotated[
        int | None, typer.Option(help="How often every variant runs (default: 10).")
    ] = None,
    openmp: Annotated[
        bool,
        typer.Option(
            "--openmp",
            help="Compare Tutti's ranks as threads with OpenMP's array reductions, without MPI.",
        ),
    ] = False,
    one_sided: Annotated[
        bool,
        typer.Option(
            "--one-sided",
            help="Measure one-sided transfers between threads and between processes, by their "
            "callers and through a server, beside the machine's stores, loads and lines. With "
            "--hosts: between two nodes, with and without servers, beside MPI_Put and MPI_Get.",
        ),
    ] = False,
    alltoall: Annotated[
        bool,
        typer.Option(
            "--alltoall",
            help="With --one-sided: measure an all-to-all of gets between threads, executed by the "
            "ranks and handed to servers; --ranks and --sizes say how many and how long.",
        ),
    ] = False,
    saturation: Annotated[
        bool,
        typer.Option(
            "--saturation",
            help="Measure how many cores and messages keep this node's memory busy, for puts and "
            "gets from 8 B to 1 MiB; with --hosts, how many keep the network between two nodes "
            "busy. --json writes the map that TUTTI_SATURATION takes.",
        ),
    ] = False,
    array: Annotated[
        bool,
        typer.Option(
            "--array",
            help="Measure the reduction of a shared array to one element between threads, beside "
            "a loop and a reduction, without MPI.",
        ),
    ] = False,
    hosts: Annotated[
        str | None,
        typer.Option(
            metavar="DIRECTORY",
            help="Measure over several nodes. The scripts in this directory (tests/hosts of "
            "Tutti's sources, docs/clusters.md) emulate the nodes on this machine. Needs root.",
        ),
    ] = None,
    nodes: Annotated[
        str | None,
        typer.Option(
            help=f"With --hosts: numbers of nodes (default: {nodes_command.DEFAULT_NODES})."
        ),
    ] = None,
    per_node: Annotated[
        int | None,
        typer.Option(
            help="With --hosts: ranks on each node (default: 2; with --one-sided: 1; with "
            "--saturation: the number of cores)."
        ),
    ] = None,
    delay: Annotated[
        str | None,
        typer.Option(
            help="With --hosts: one-way delays between nodes "
            f"(default: {nodes_command.DEFAULT_DELAYS}; with --worth and --saturation: 0)."
        ),
    ] = None,
    servers: Annotated[
        bool,
        typer.Option(
            "--servers",
            help=f"With --hosts and --app {' or '.join(FORMS)}: run the program's "
            "blocking and overlapped form, and the latter with a server of Tutti's in each process.",
        ),
    ] = False,
    load: Annotated[
        int,
        typer.Option(
            help="Run so many busy processes on the ranks' cores beside each job "
            f"(0 to {MOST_BUSY}), to see how calls stand a machine with other work."
        ),
    ] = 0,
    worth: Annotated[
        bool,
        typer.Option(
            "--worth",
            help="With --hosts: measure how much faster shared memory within nodes is than "
            "messages alone, and how much faster it could be at most.",
        ),
    ] = False,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="Take 3 repetitions, fewer sizes and less time for each cell."
        ),
    ] = False,
    mpi: Annotated[
        list[str] | None,
        typer.Option(
            help="Name of an MPI, as `tutti doctor` lists it; may be repeated (default: the first "
            "of each family)."
        ),
    ] = None,
    peer_settings: Annotated[
        str,
        typer.Option(
            help="Settings of the MPIs: default, best (for more ranks than cores) or both; auto: "
            "both if there are more ranks than cores; all: also other algorithms that a user can "
            "select."
        ),
    ] = "auto",
    bind: Annotated[
        str,
        typer.Option(
            help="Binding of ranks: core, none or default (the MPI's own); auto: core if there "
            "is a core for each rank, else none."
        ),
    ] = "auto",
    tutti: Annotated[bool, typer.Option(help="Run each MPI with Tutti too.")] = True,
    shared_heap: Annotated[
        bool,
        typer.Option("--shared-heap", help="Run each MPI with Tutti's shared heap too."),
    ] = False,
    budget_ms: Annotated[
        int | None,
        typer.Option(
            help="Milliseconds for each cell (collective and size) of each job (default: 40; "
            "with --quick: 20)."
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            help="Seed of the order of the variants and of --mixed (default: random; it is "
            "printed)."
        ),
    ] = None,
    json_name: Annotated[
        str | None, typer.Option("--json", metavar="FILE", help="Write all numbers here.")
    ] = None,
    plot: Annotated[
        str | None, typer.Option(metavar="FILE", help="Draw FILE.png and FILE.svg.")
    ] = None,
) -> None:
    """Measure the installed MPIs' collectives with and without Tutti, interleaved in one run."""
    from tutti.bench import applications_report
    from tutti.bench.report import show

    console = Console()
    if not console.is_terminal:
        wide = mixed or cold or kinds or form or halo or (one_sided and hosts)
        console = Console(width=160 if wide else 132)
        if overlap:
            console = Console(width=176)
    if repetitions is not None and not 1 <= repetitions <= 1000:
        raise UserError(
            f"--repetitions: '{repetitions}' is not accepted; whole numbers from 1 to 1000 are"
        )
    if budget_ms is not None and not 1 <= budget_ms <= 60000:
        raise UserError(
            f"--budget-ms: '{budget_ms}' is not accepted; whole numbers from 1 to 60000 are"
        )
    if words and app is None:
        raise UserError(
            f"'{words[0]}' is not understood; words after -- are options of an application, "
            "which --app names"
        )
    if not 0 <= load <= MOST_BUSY:
        raise UserError(f"--load: {load} is not accepted; whole numbers from 0 to {MOST_BUSY} are")
    if servers and app is None:
        raise UserError(
            f"--servers: it needs --app {' or '.join(FORMS)}; --overlap --hosts measures single "
            "collectives with and without servers, and --one-sided --hosts transfers"
        )
    if app == applications_command.LIST:
        return applications_report.list_applications(console)
    if app is not None:
        applications_command.require_known(app)
        if servers:
            applications_command.require_forms(app)
        applications_command.refuse_with_app(
            {
                "--collectives": collectives is not None,
                "--sizes": sizes is not None,
                "--every-root": every_root,
                "--mixed": mixed,
                "--cold": cold is not None,
                "--kinds": kinds is not None,
                "--form": form is not None,
                "--overlap": overlap,
                "--compute": compute is not None,
                "--halo": halo,
                "--faces": faces is not None,
                "--no-dirty": not dirty,
                "--openmp": openmp,
                "--one-sided": one_sided,
                "--saturation": saturation,
                "--array": array,
                "--worth": worth,
                "--load": load > 0,
                "--budget-ms": budget_ms is not None,
            }
        )
    if one_sided or array or saturation or alltoall:
        given = {
            "--collectives": collectives is not None,
            "--kinds": kinds is not None,
            "--form": form is not None,
            "--overlap": overlap,
            "--halo": halo,
            "--mixed": mixed,
            "--cold": cold is not None,
            "--every-root": every_root,
            "--openmp": openmp,
            "--hosts": hosts is not None,
            "--shared-heap": shared_heap,
            "--ranks": ranks is not None,
            "--sizes": sizes is not None,
            "--repetitions": repetitions is not None,
            "--mpi": bool(mpi),
            "--plot": plot is not None,
            "--load": load > 0,
        }
        native = {
            "--one-sided": one_sided,
            "--alltoall": alltoall,
            "--saturation": saturation,
            "--array": array,
        }
        mode = threads_command.choose_mode(
            [name for name, is_wanted in native.items() if is_wanted],
            [name for name, is_given in given.items() if is_given],
        )
        count, json_file = repetitions or (3 if quick else 10), output_file("--json", json_name)
        refuse_without_hosts(hosts, {"--nodes": nodes, "--per-node": per_node, "--delay": delay})
        if hosts is not None:
            of_map = mode == "--saturation"
            startable = nodes_command.startable(
                choose_mpis(mpi or [], find_mpis()), named=bool(mpi)
            )
            with_tutti(True, startable)
            usual_time = threads_command.MILLISECONDS_BETWEEN[mode][1 if quick else 0]
            usual_ranks = len(os.sched_getaffinity(0)) if of_map else 1
            between = threads_command.between_plan(
                startable[:1] if of_map and not mpi else startable,
                hosts,
                nodes,
                usual_ranks if per_node is None else per_node,
                delay or ("0" if of_map else nodes_command.DEFAULT_DELAYS),
                budget_ms or usual_time,
            )
            if of_map:
                return threads_command.bench_saturation_between(
                    between, json_file, plot_stem(plot), console
                )
            usual_lengths = QUICK_SIZES_BETWEEN if quick else SIZES_BETWEEN
            lengths_between = parse_sizes(usual_lengths if sizes is None else sizes)
            return threads_command.bench_one_sided_between(
                between, lengths_between, count, seed, json_file, console
            )
        if mode == "--saturation":
            milliseconds = budget_ms or (2 if quick else 10)
            return threads_command.bench_saturation(
                milliseconds, json_file, plot_stem(plot), console
            )
        if mode == "--array":
            return threads_command.bench_array(count, json_file, console)
        if mode == "--alltoall":
            return threads_command.bench_alltoall(ranks, sizes, count, json_file, console)
        found = find_mpis()
        mpis = choose_mpis(mpi or [], found) if mpi or found else []
        with_tutti(True, mpis)
        return threads_command.bench_one_sided(mpis, count, json_file, console)
    modes = parse_modes(
        form,
        compute,
        faces,
        overlap=overlap,
        halo=halo,
        quick=quick,
        given={
            "--form": form is not None,
            "--overlap": overlap,
            "--collectives": collectives is not None,
            "--sizes": sizes is not None,
            "--kinds": kinds is not None,
            "--mixed": mixed,
            "--cold": cold is not None,
            "--every-root": every_root,
            "--openmp": openmp,
            "--hosts": hosts is not None,
        },
    )
    cores = len(os.sched_getaffinity(0))
    rank_counts = parse_ranks(ranks) if ranks is not None else default_ranks(cores)
    if kinds is None and mixed and collectives is None and sizes is None:
        kinds = PROGRAMS
    listed, cold_bytes = (
        parse_kinds(kinds) if kinds else "",
        parse_bytes("--cold", cold) if cold else 0,
    )
    if listed and (collectives is not None or sizes is not None):
        raise UserError(
            "--kinds: a kind has its collective and its size; leave --collectives and --sizes out"
        )
    if mixed and not dirty:
        raise UserError(
            "--no-dirty: with --mixed the kinds share buffers, so each rank must rewrite its "
            "buffer; leave --no-dirty or --mixed out"
        )
    if listed or mixed or cold_bytes:
        refuse_with_kinds(
            {
                "--openmp": openmp,
                "--hosts": hosts is not None,
                "--every-root": every_root,
                "--plot": plot is not None,
            }
        )
    wanted = parse_collectives(
        collectives if collectives is not None else ",".join(DEFAULT_COLLECTIVES)
    )
    if every_root:
        require_rooted(wanted, openmp)
    if openmp:
        usual_sizes = QUICK_SIZES if quick else OPENMP_SIZES
        return bench_openmp(
            rank_counts,
            parse_sizes(usual_sizes if sizes is None else sizes),
            repetitions or (3 if quick else 10),
            budget_ms or (20 if quick else 40),
            output_file("--json", json_name),
            console,
        )
    one_of("--bind", bind, BINDINGS)
    one_of("--peer-settings", peer_settings, SETTINGS)
    if hosts is None and bind == "core" and max(rank_counts) > cores:
        raise UserError(
            f"--bind core: there are more ranks ({max(rank_counts)}) than cores ({cores}); give "
            "--bind auto"
        )
    refuse_without_hosts(
        hosts,
        {
            "--nodes": nodes,
            "--per-node": per_node,
            "--delay": delay,
            "--lengths": lengths,
            "--worth": worth or None,
            "--servers": servers or None,
        },
    )
    usual_sizes = nodes_command.DEFAULT_SIZES if hosts is not None else DEFAULT_SIZES
    if quick:
        usual_sizes = QUICK_SIZES
    message_sizes = parse_sizes(usual_sizes if sizes is None else sizes)
    json_file, stem = output_file("--json", json_name), plot_stem(plot)
    mpis = choose_mpis(mpi or [], find_mpis())
    if hosts is not None:
        mpis = nodes_command.startable(mpis, named=bool(mpi))
    if app is not None:
        of_application = AppSettings(
            application=app,
            arguments=tuple(words or ()),
            mpis=mpis,
            ranks=rank_counts,
            cores=cores,
            repetitions=repetitions or applications_command.usual_repetitions(quick),
            tutti=with_tutti(tutti, mpis),
            heap=shared_heap,
            peer_settings=peer_settings,
            bind=bind,
            seed=seed,
            limits=not quick,
            servers=servers,
        )
        if hosts is not None:
            refuse_with_hosts(
                ranks, {"--bind": bind != "auto", "--peer-settings": peer_settings != "auto"}
            )
            of_application = applications_command.over_nodes(
                of_application,
                hosts,
                nodes or "2",
                2 if per_node is None else per_node,
                delay or nodes_command.DEFAULT_DELAYS,
            )
        return applications_command.bench_application(of_application, json_file, stem, console)
    settings = Settings(
        mpis=mpis,
        ranks=rank_counts,
        cores=cores,
        collectives=[HALO] if halo else wanted,
        sizes=message_sizes,
        repetitions=repetitions or (3 if quick else 10),
        dirty=dirty,
        tutti=with_tutti(tutti, mpis),
        heap=shared_heap,
        peer_settings=peer_settings,
        bind=bind,
        budget_ms=budget_ms or (20 if quick else 40),
        seed=seed,
        every_root=every_root,
        kinds=listed,
        mixed=mixed,
        cold=cold_bytes,
        forms=modes.forms,
        overlap=overlap,
        lengths=parse_lengths(lengths) if lengths is not None else LENGTHS[:1],
        faces=modes.faces,
        load=load,
    )
    if hosts is not None:
        delays = delay or ("0" if worth else nodes_command.DEFAULT_DELAYS)
        refuse_with_hosts(
            ranks,
            {
                "--bind": bind != "auto",
                "--peer-settings": peer_settings != "auto",
                "--shared-heap": shared_heap,
                "--load": load > 0,
            },
        )
        if worth and lengths is not None:
            raise UserError("--lengths: --worth measures the usual ones; leave one of them out")
        if worth and every_root:
            raise UserError("--every-root: --worth measures root 0; leave one of them out")
        if worth and stem is not None:
            raise UserError("--plot: --worth draws nothing; give --json instead")
        plan = nodes_command.nodes_plan(settings, hosts, nodes or nodes_command.DEFAULT_NODES,
                                        2 if per_node is None else per_node, delays)  # fmt: skip
        if overlap:
            if worth or stem is not None:
                raise UserError(
                    f"{'--worth' if worth else '--plot'}: it cannot be combined with --overlap over "
                    "nodes; leave one of them out"
                )
            return nodes_command.bench_overlap(plan, modes.computing, json_file, console)
        if worth:
            return nodes_command.bench_worth(plan, json_file, console)
        return nodes_command.bench_nodes(plan, json_file, stem, console)
    if (
        max(rank_counts) > cores
        and any(one.family == "mpich" for one in mpis)
        and sessions_are_groups()
    ):
        console.print(
            "note: MPICH's launcher starts each rank in a session of its own, and this kernel "
            "schedules each session as a group, so ranks that share a core cannot yield to each "
            "other. To change this: sysctl kernel.sched_autogroup_enabled=0",
            highlight=False,
            markup=False,
        )
    measurements = measure(settings, modes.computing)
    show(measurements, console)
    save(measurements, json_file, stem, console)
