"""The command `tutti bench`: its options. All of them are checked before anything runs."""

from typing import Annotated

import typer

from tutti.bench import applications_command, modes, nodes_command
from tutti.bench.applications import APPLICATIONS, FORMS
from tutti.bench.forms_command import DEFAULT_FACES, QUICK_FACES
from tutti.bench.load import MOST_BUSY
from tutti.bench.measurements import COLLECTIVES, DEFAULT_COLLECTIVES
from tutti.bench.options import DEFAULT_SIZES, Options


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
    """Measure the installed MPIs with and without Tutti, interleaved."""
    options = Options(**locals())
    options.check()
    console = options.console()
    if app == applications_command.LIST:
        from tutti.bench import applications_report

        return applications_report.list_applications(console)
    if app is not None:
        modes.refuse_beside_application(options)
    if one_sided or array or saturation or alltoall:
        return modes.bench_native(options, console)
    return modes.bench_collectives(options, console)
