"""The command `tutti bench`: its subcommands, and the options that each takes. All options are
checked before anything runs."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import typer
from rich.console import Console

from tutti.bench.applications import APPLICATIONS, FORMS, AppSettings
from tutti.bench.checks import choose_mpis, default_ranks, startable, with_tutti
from tutti.bench.core_ways import COMMUNICATING, CoreWays, parse_problems
from tutti.bench.measurements import (
    DEFAULT_COLLECTIVES,
    HALO,
    LENGTHS,
    ROOTED,
    Measurements,
    Settings,
)
from tutti.bench.mpis import Mpi, find_mpis
from tutti.bench.options import (
    DEFAULT_DELAYS,
    DEFAULT_FACES,
    DEFAULT_NODES,
    DEFAULT_SIZES,
    QUICK_FACES,
    Options,
)
from tutti.bench.over_nodes import Nodes, nodes_plan
from tutti.bench.present import Output
from tutti.bench.progress import ONCE_IN_A_WHILE, Result, with_progress
from tutti.bench.variants import BINDINGS, SETTINGS
from tutti.bench.view import view
from tutti.bench.words import (
    PROGRAMS,
    near_text,
    one_of,
    parse_bytes,
    parse_calls,
    parse_collectives,
    parse_delays,
    parse_faces,
    parse_forms,
    parse_kinds,
    parse_lengths,
    parse_microseconds,
    parse_ranks,
    parse_sizes,
)
from tutti.errors import RunError, UserError
from tutti.options import taking
from tutti.probes import sessions_are_groups

QUICK_SIZES = "8,512,4K,64K"
NODES_SIZES = "8,512,4K,64K,1M"
OPENMP_SIZES = "64,512,4K,16K,64K,256K,1M,4M"
BETWEEN_SIZES = "8,1K,16K,256K,1M"  # sizes of one-sided transfers between nodes
QUICK_BETWEEN_SIZES = "8,16K,1M"
# The widths of tables that are not printed to a terminal.
WIDTH, WIDE, WIDEST = 132, 160, 176
OF_HOSTS = ("--nodes", "--per-node", "--delay")


def sizes_of(options: Options, usual: str, quick: str = QUICK_SIZES) -> list[int]:
    usual = quick if options.quick else usual
    return parse_sizes(usual if options.bytes is None else options.bytes)


def check_hosts(options: Options, of_hosts: Sequence[str], of_one_node: Sequence[str] = ()) -> None:
    """Raises UserError if an option was given that does not go with --hosts, or needs it."""
    wrong = options.given(*(of_hosts if options.hosts is None else of_one_node))
    if wrong and options.hosts is None:
        raise UserError(
            f"{wrong[0]}: it needs --hosts, the directory of the scripts that make nodes"
        )
    if wrong:
        raise UserError(
            f"{wrong[0]}: --hosts has its own settings, because its nodes share this machine's "
            "cores; leave it out"
        )


def require_hosts(options: Options) -> str:
    if options.hosts is None:
        raise UserError(
            "--hosts: give the directory of the scripts that make nodes (tests/hosts of Tutti's "
            "sources)"
        )
    return options.hosts


def mpis_of(options: Options) -> list[Mpi]:
    mpis = choose_mpis(options.mpi or [], find_mpis())
    return startable(mpis, named=bool(options.mpi)) if options.hosts is not None else mpis


def output_of(options: Options, width: int) -> Output:
    return Output(options.as_json, options.json_file, options.plot, width)


def settings_of(options: Options, **changes: Any) -> Settings:
    """Reads the options that measurements of collectives share. Raises UserError."""
    cores = options.cores
    ranks = parse_ranks(options.ranks) if options.ranks is not None else default_ranks(cores)
    if options.kinds and options.given("--collectives", "--bytes"):
        raise UserError(
            "--kinds: a kind has its collective and its size; leave --collectives and --bytes out"
        )
    one_of("--bind", options.bind, BINDINGS)
    one_of("--peer-settings", options.peer_settings, SETTINGS)
    if options.hosts is None and options.bind == "core" and max(ranks) > cores:
        raise UserError(
            f"--bind core: there are more ranks ({max(ranks)}) than cores ({cores}); give "
            "--bind auto"
        )
    usual = ",".join(DEFAULT_COLLECTIVES)
    settings = Settings(
        mpis=[],
        ranks=ranks,
        cores=cores,
        collectives=parse_collectives(
            usual if options.collectives is None else options.collectives
        ),
        sizes=sizes_of(options, DEFAULT_SIZES if options.hosts is None else NODES_SIZES),
        repetitions=options.count,
        dirty=options.dirty,
        heap=options.shared_heap,
        peer_settings=options.peer_settings,
        bind=options.bind,
        budget_ms=options.milliseconds,
        seed=options.seed,
        every_root=options.every_root,
        kinds=parse_kinds(options.kinds) if options.kinds else "",
        cold=parse_bytes("--cold", options.cold) if options.cold else 0,
        load=options.load,
    )
    if options.every_root and not any(name in ROOTED for name in settings.collectives):
        raise UserError(
            f"--every-root: none of {', '.join(settings.collectives)} has a root; add one of "
            f"{', '.join(ROOTED)}, or leave --every-root out"
        )
    mpis = mpis_of(options)
    return replace(settings, mpis=mpis, tutti=with_tutti(options.tutti, mpis), **changes)


def plan_of(options: Options, settings: Settings, delays: str = DEFAULT_DELAYS) -> Nodes:
    return nodes_plan(
        settings,
        require_hosts(options),
        options.nodes or DEFAULT_NODES,
        2 if options.per_node is None else options.per_node,
        options.delay or delays,
    )


def measure_and_present(
    settings: Settings,
    output: Output,
    jobs: int,
    measure: Callable[[Callable[[str], None]], Measurements],
) -> None:
    from tutti.bench.document import as_json
    from tutti.bench.remarks import show_lines
    from tutti.bench.report import draw, show

    measured = with_progress(jobs, "the machine's limits", measure)

    def show_with_note(console: Console) -> None:
        show(measured, console)
        show_lines(console, [note_on_sessions(settings)])

    output.present(show_with_note, as_json(measured), lambda stem: draw(measured, stem))


def note_on_sessions(settings: Settings) -> str:
    of_mpich = any(one.family == "mpich" for one in settings.mpis)
    if max(settings.ranks) <= settings.cores or not of_mpich or not sessions_are_groups():
        return ""
    return (
        "note: MPICH's launcher starts each rank in a session of its own, and this kernel "
        "schedules each session as a group, so ranks that share a core cannot yield to each "
        "other. To change this: sysctl kernel.sched_autogroup_enabled=0"
    )


def run_calls(options: Options, width: int, **changes: Any) -> None:
    from tutti.bench.driver import run

    settings = settings_of(options, **changes)
    if settings.kinds and options.every_root:
        raise UserError("--every-root: each of --kinds has its root; leave one of them out")
    if options.plot is not None and (settings.kinds or settings.mixed or settings.cold):
        raise UserError(
            "--plot: kinds of calls under several conditions have no plot; leave it out"
        )
    measure_and_present(
        settings,
        output_of(options, width),
        settings.jobs,
        lambda before_job: run(settings, before_job),
    )


def calls(options: Options) -> None:
    """Measure single calls that are repeated.

    The host MPI is measured with and without Tutti, beside other MPIs.
    """
    run_calls(options, WIDE if options.kinds or options.cold else WIDTH)


def _mixed(options: Options) -> dict[str, Any]:
    """The changes of the settings for calls in a shuffled order. Raises UserError."""
    if not options.dirty:
        raise UserError(
            "--no-dirty: calls in a shuffled order share buffers, so each rank must rewrite its "
            "buffer; leave --no-dirty out, or measure without a shuffled order"
        )
    usual = {} if options.kinds or options.given("--collectives", "--bytes") else PROGRAMS
    return {"mixed": True} | ({"kinds": usual} if usual else {})


def mixed(options: Options) -> None:
    """Measure kinds of calls in a shuffled order, too.

    Programs alternate calls, so a repeated call looks too fast.
    """
    run_calls(options, WIDE, **_mixed(options))


def forms(options: Options) -> None:
    """Measure non-blocking and persistent calls.

    They are waited for at once. The tables show the start alone, and start and wait beside the
    blocking call, the host MPI and the best peer.
    """
    changes = _mixed(options) if options.mixed else {}
    run_calls(options, WIDE, forms=parse_forms(options.form or "all"), **changes)


def halo(options: Options) -> None:
    """Measure exchanges of ghost cells.

    They are in three dimensions: neighbourhood collectives beside MPI_Isend and MPI_Irecv.
    """
    run_calls(options, WIDE, collectives=[HALO], faces=_faces(options))


def _faces(options: Options) -> tuple[int, ...]:
    return parse_faces(options.faces or (QUICK_FACES if options.quick else DEFAULT_FACES))


def overlap(options: Options) -> None:
    """Measure calls beside computations.

    Computations are bound by arithmetic and by memory. All are whole times: start, compute, wait;
    and call, then compute. With --hosts ranks are on several nodes.
    """
    check_hosts(
        options,
        (*OF_HOSTS, "--halo"),
        ("--ranks", "--bind", "--peer-settings", "--shared-heap", "--load"),
    )
    if options.faces is not None and not options.halo:
        raise UserError("--faces: it needs --halo, which exchanges faces of ghost cells")
    computing = parse_microseconds(options.compute)
    changes: dict[str, Any] = {"forms": parse_forms(options.form or "nonblocking")}
    if options.halo:
        if wrong := options.given("--collectives", "--bytes", "--kinds", "--form"):
            raise UserError(f"{wrong[0]}: --halo exchanges ghost cells; leave one of them out")
        changes = {"collectives": [HALO], "faces": _faces(options)}
    settings = settings_of(options, overlap=True, **changes)
    output = output_of(options, WIDEST)
    if options.hosts is not None:
        from tutti.bench import overlap_nodes

        plan = plan_of(options, settings)
        rows = with_progress(
            overlap_nodes.jobs(plan),
            "the nodes",
            lambda before_job: overlap_nodes.measure_overlap(plan, computing, before_job),
        )
        return output.present(
            lambda console: overlap_nodes.show_overlap(plan, rows, console),
            overlap_nodes.overlap_json(plan, rows),
            lambda stem: overlap_nodes.draw_overlap(rows, stem),
        )
    from tutti.bench.overlap import jobs, measure

    return measure_and_present(
        settings,
        output,
        jobs(settings) if computing is None else settings.jobs,
        lambda before_job: measure(settings, computing, before_job),
    )


def nodes(options: Options) -> None:
    """Measure collectives over several nodes.

    The nodes are emulated on this machine.
    """
    from tutti.bench import nodes_report
    from tutti.bench.over_nodes import measure_nodes

    require_hosts(options)
    lengths = LENGTHS[:1] if options.lengths is None else parse_lengths(options.lengths)
    plan = plan_of(options, settings_of(options, lengths=lengths))
    output = output_of(options, WIDTH)
    results = with_progress(
        plan.jobs, "the nodes", lambda before_job: measure_nodes(plan, before_job)
    )
    output.present(
        lambda console: nodes_report.show(plan, results, console),
        nodes_report.nodes_json(plan, results),
        lambda stem: nodes_report.draw_delays(plan, results, stem),
    )


def worth(options: Options) -> None:
    """Measure what shared memory within nodes gains.

    The tables show how much faster it is than messages alone, and how much faster it could be.
    """
    from tutti.bench.worth import jobs, measure_worth, show_worth, worth_json

    require_hosts(options)
    plan = plan_of(options, settings_of(options), delays="0")
    if plan.per_node < 2:
        raise UserError(
            "--per-node: a node needs two or more ranks that share memory; give --per-node 2"
        )
    if len(plan.delays) > 1:
        raise UserError("--delay: give one")
    output = output_of(options, WIDTH)
    rows = with_progress(
        jobs(plan), "the nodes", lambda before_job: measure_worth(plan, before_job)
    )
    output.present(lambda console: show_worth(plan, rows, console), worth_json(plan, rows))


def between_of(options: Options, usual_ranks: int, delays: str, milliseconds: int) -> Any:
    """The measurement between two nodes. Raises UserError before anything runs."""
    from tutti.bench.between_nodes import between_plan

    mpis = mpis_of(options)
    with_tutti(True, mpis)
    return between_plan(
        mpis,
        require_hosts(options),
        options.nodes,
        usual_ranks if options.per_node is None else options.per_node,
        parse_delays(options.delay or delays),
        options.budget_ms or milliseconds,
    )


def one_sided(options: Options) -> None:
    """Measure one-sided transfers.

    They are between threads and between processes, by their callers and through a server, beside
    the machine's stores, loads and lines. With --hosts they are between two nodes, with and without
    servers, beside MPI_Put and MPI_Get.
    """
    check_hosts(options, (*OF_HOSTS, "--bytes", "--budget-ms"))
    if options.hosts is None:
        from tutti.bench.threads import measure_one_sided, show_one_sided

        found = find_mpis()
        mpis = choose_mpis(options.mpi or [], found) if options.mpi or found else []
        with_tutti(True, mpis)
        output = output_of(options, WIDTH)
        document = with_progress(
            1 + len(mpis),
            "threads",
            lambda before_job: measure_one_sided(options.count, mpis, before_job),
        )
        return output.present(lambda console: show_one_sided(document, console), document)
    from tutti.bench import one_sided_nodes

    plan = between_of(options, 1, DEFAULT_DELAYS, 20 if options.quick else 40)
    sizes = sizes_of(options, BETWEEN_SIZES, QUICK_BETWEEN_SIZES)
    output = output_of(options, WIDEST)
    measured = with_progress(
        one_sided_nodes.jobs(plan, options.count),
        "the nodes",
        lambda before_job: one_sided_nodes.measure(
            plan, sizes, options.count, options.seed, before_job
        ),
    )
    return output.present(
        lambda console: one_sided_nodes.show(plan, measured, console),
        one_sided_nodes.document(plan, measured),
    )


def one_job(line: str, measure: Callable[[], Result]) -> Result:
    """Measures by one job, and shows that it goes on."""
    return with_progress(1, line, lambda _: measure(), ONCE_IN_A_WHILE)


def saturation(options: Options) -> None:
    """Measure how much keeps the memory busy.

    The map says how many cores and messages do, for puts and gets from 8 B to 1 MiB; with --hosts,
    how many keep the network between two nodes busy. --json-file writes the map that
    TUTTI_SATURATION takes.
    """
    from tutti.bench import saturation as of_node
    from tutti.saturation import draw_map

    check_hosts(options, (*OF_HOSTS, "--mpi"))
    output, milliseconds = output_of(options, WIDTH), 2 if options.quick else 10
    if options.hosts is None:
        map_ = one_job("map", lambda: of_node.measure(options.budget_ms or milliseconds))
        show = of_node.show
    else:
        from tutti.bench import saturation_nodes

        plan = between_of(options, options.cores, "0", milliseconds)
        plan = plan if options.mpi else replace(plan, mpis=plan.mpis[:1])
        if len(plan.delays) > 1:
            raise UserError("--delay: a saturation map is of one delay; give one")
        if len(plan.mpis) > 1:
            names = ", ".join(mpi.name for mpi in plan.mpis)
            raise UserError(f"--mpi: a saturation map is of one host MPI; give one of {names}")
        map_, show = one_job("map", lambda: saturation_nodes.measure(plan)), saturation_nodes.show
    output.present(lambda console: show(map_, console), map_, lambda stem: draw_map(map_, stem))


def one_count(options: Options, usual: int) -> int:
    """The value of --ranks, which must be one number."""
    counts = [usual] if options.ranks is None else parse_ranks(options.ranks)
    if len(counts) != 1:
        raise UserError(f"--ranks: '{options.ranks}' is not accepted; one number is")
    return counts[0]


def lives(options: Options) -> None:
    """Measure communicators that make few calls.

    Each is split off, makes some calls, and is freed, with Tutti and without.
    """
    from tutti.bench import lives as of_lives

    output, rounds = output_of(options, WIDTH), options.rounds
    ranks = str(one_count(options, 2))
    calls = of_lives.CALLS if options.calls is None else parse_calls(options.calls)
    settings = settings_of(replace(options, ranks=ranks))
    found = with_progress(
        settings.repetitions * len(settings.mpis) * len(calls),
        "communicators",
        lambda before_job: of_lives.measure(settings, calls, rounds, before_job),
    )
    output.present(
        lambda console: of_lives.show(settings, found, console),
        of_lives.as_json(settings, rounds, found),
        lambda stem: of_lives.draw(settings, found, stem),
    )


def waits(options: Options) -> None:
    """Measure calls that wait in the host MPI.

    Messages, splits, barriers and one-sided calls, as a rule of more ranks than cores.
    """
    from tutti.bench import waits as of_waits

    output, ranks = output_of(options, WIDTH), one_count(options, of_waits.RANKS)
    if ranks < 2:
        raise UserError(f"--ranks: '{ranks}' is not accepted; 2 or more are")
    settings = settings_of(replace(options, ranks=str(ranks)))
    found = with_progress(
        settings.repetitions * len(settings.mpis),
        "jobs with and without Tutti",
        lambda before_job: of_waits.measure(settings, options.work, options.rounds, before_job),
    )
    output.present(
        lambda console: of_waits.show(settings, options.work, found, console),
        of_waits.as_json(settings, options.work, found),
    )


def alltoall(options: Options) -> None:
    """Measure an all-to-all of gets between threads.

    It is executed by the ranks, and handed to servers.
    """
    from tutti.bench import threads

    ranks = one_count(options, threads.ALLTOALL_RANKS)
    sizes = threads.ALLTOALL_SIZES if options.bytes is None else parse_sizes(options.bytes)
    output = output_of(options, WIDTH)
    document = one_job("alltoall", lambda: threads.measure_alltoall(ranks, sizes, options.count))
    output.present(lambda console: threads.show_alltoall(document, console), document)


def array(options: Options) -> None:
    """Measure the reduction of a shared array.

    Threads reduce it to one element, beside a loop and a reduction, without MPI.
    """
    from tutti.bench import threads

    output = output_of(options, WIDTH)
    document = one_job("array", lambda: threads.measure_array(options.count))
    output.present(lambda console: threads.show_array(document, console), document)


def openmp(options: Options) -> None:
    """Compare ranks as threads with OpenMP.

    Its array reductions are measured, without MPI.
    """
    from tutti.bench import threads

    ranks = default_ranks(options.cores) if options.ranks is None else parse_ranks(options.ranks)
    output, sizes = output_of(options, WIDTH), sizes_of(options, OPENMP_SIZES)
    documents = [
        one_job(
            f"{count} threads",
            partial(threads.measure_openmp, count, sizes, options.count, options.milliseconds),
        )
        for count in ranks
    ]
    output.present(lambda console: threads.show_openmp(documents, console), documents)


def apps(options: Options) -> None:
    """Run a whole program with and without Tutti.

    Its answers are compared, and its times by phase. Its own options follow after --.
    """
    from tutti.bench import applications, applications_report, applications_results
    from tutti.bench.core_ways_report import ways_json

    output = output_of(options, WIDEST if options.core_ways else WIDTH)
    if options.app is None:
        return output.present(applications_report.list_applications, list(APPLICATIONS))
    if options.app not in APPLICATIONS:
        raise UserError(
            f"'{options.app}' is unknown; {near_text(options.app, list(APPLICATIONS))}known are "
            f"{', '.join(APPLICATIONS)} (`tutti bench apps` says what they are)"
        )
    if options.servers and options.app not in FORMS:
        raise UserError(
            f"--servers: {options.app} has no overlapped form, which servers could help; those that "
            f"have one are {' and '.join(FORMS)}"
        )
    if options.core_ways and options.app not in COMMUNICATING:
        raise UserError(
            f"--core-ways: {options.app} has no one-sided transfers, which servers could get; those "
            f"that have some are {' and '.join(COMMUNICATING)}"
        )
    if options.core_ways and (wrong := options.given("--servers", "--bind", "--no-tutti")):
        raise UserError(f"{wrong[0]}: it does not go with --core-ways; leave one of them out")
    if options.problems is not None and not options.core_ways:
        raise UserError("--problems: it needs --core-ways")
    check_hosts(
        options,
        (*OF_HOSTS, "--servers"),
        ("--ranks", "--bind", "--peer-settings"),
    )
    count = options.repetitions or (3 if options.quick or options.core_ways else 5)
    settings = settings_of(options, repetitions=count)
    asked = AppSettings(
        **vars(settings),
        application=options.app,
        arguments=tuple(options.words or ()),
        limits=not options.quick,
        servers=options.servers,
    )
    if options.core_ways:  # a launcher's binding would leave no core to give
        ways = CoreWays(
            options.app,
            options.core_ways,
            parse_problems(options.app, options.problems),
            options.cores,
        )
        asked = replace(asked, core_ways=ways, bind="none")
    if options.hosts is not None:
        asked = applications.over_nodes(asked, plan_of(replace_nodes(options), settings))
    if asked.core_ways is not None:
        asked.core_ways.check(max(asked.ranks) if asked.hosts is None else asked.per_node)
    applications.require_built(asked)
    measured = with_progress(
        asked.jobs, options.app, lambda before_job: applications.measure(asked, before_job)
    )
    document = applications_results.as_json(measured)
    if asked.core_ways is not None:
        document["core_ways"] = ways_json(measured)
    if measured.interrupted:
        document["interrupted"] = True
        ended = (
            f"interrupted: the results of {measured.settings.repetitions} of {count} repetitions"
        )
        output.console.print(ended, highlight=False)
    output.present(
        lambda console: applications_report.show(measured, console),
        document,
        lambda stem: applications_report.draw(measured, stem),
    )
    if different := applications_results.differences(measured):
        raise RunError(f"{options.app}: the answers differ: {different[0]}")
    if measured.interrupted:
        raise KeyboardInterrupt
    return None


def whole(options: Options) -> None:
    """Time a whole program of yours with and without Tutti.

    The program follows after --. Its time is that of the command, and what it prints itself.
    """
    from tutti.bench.whole import Program, measure, show

    output = output_of(options, WIDTH)
    if not options.program:
        raise UserError("the program is missing; give it after --, as in -- pw.x -in silicon.in")
    try:
        pattern = re.compile(options.time) if options.time is not None else None
    except re.error as error:
        raise UserError(f"--time: '{options.time}' is no expression: {error}") from None
    if pattern is not None and pattern.groups != 1:
        raise UserError("--time: the expression must have one group, for the seconds")
    settings = settings_of(replace(options, ranks=options.ranks or "2"))
    asked = Program(settings, options.program, pattern)
    document = with_progress(asked.jobs, "", lambda before_job: measure(asked, before_job))
    output.present(lambda console: show(document, console), document)


def replace_nodes(options: Options) -> Options:
    """The options with the usual number of nodes of a program."""
    return replace(options, nodes=options.nodes or "2")


FILES = ("as_json", "json_file")
PLOT = (*FILES, "plot")
JOBS = ("repetitions", "quick", "mpi", "tutti", "seed", "budget_ms", "dirty")
WHICH = ("collectives", "bytes")
HERE = ("ranks", "peer_settings", "bind", "shared_heap")
NODES = ("hosts", "nodes", "per_node", "delay")
SUBCOMMANDS: dict[str, tuple[Callable[[Options], None], tuple[str, ...]]] = {
    "calls": (calls, (*WHICH, *HERE, "every_root", "kinds", "cold", "load", *JOBS, *PLOT)),
    "mixed": (mixed, (*WHICH, *HERE, "kinds", "cold", "load", *JOBS, *FILES)),
    "forms": (forms, (*WHICH, *HERE, "form", "kinds", "mixed", "cold", "load", *JOBS, *PLOT)),
    "overlap": (
        overlap,
        (*WHICH, *HERE, "form", "kinds", "compute", "load", *NODES, "halo", "faces", *JOBS, *PLOT),
    ),
    "halo": (halo, (*HERE, "faces", "load", *JOBS, *PLOT)),
    "nodes": (nodes, (*NODES, *WHICH, "lengths", "every_root", *JOBS, *PLOT)),
    "worth": (worth, (*NODES, *WHICH, *JOBS, *FILES)),
    "one-sided": (
        one_sided,
        (*NODES, "bytes", "mpi", "repetitions", "quick", "budget_ms", "seed", *FILES),
    ),
    "lives": (lives, ("ranks", "calls", "rounds", "bind", "mpi", "repetitions", "quick", "seed", *PLOT)),
    "waits": (waits, ("ranks", "rounds", "work", "bind", "mpi", "repetitions", "quick", "seed", *FILES)),
    "whole": (
        whole,
        ("program", "time", *HERE, "repetitions", "quick", "mpi", "seed", *FILES),
    ),
    "alltoall": (alltoall, ("ranks", "bytes", "repetitions", "quick", *FILES)),
    "saturation": (saturation, (*NODES, "mpi", "quick", "budget_ms", *PLOT)),
    "array": (array, ("repetitions", "quick", *FILES)),
    "openmp": (openmp, ("ranks", "bytes", "repetitions", "quick", "budget_ms", *FILES)),
    "apps": (
        apps,
        ("app", "words", *HERE, *NODES, "servers", "core_ways", "problems", "repetitions", "quick",
         "mpi", "tutti", "seed", *PLOT),
    ),
}  # fmt: skip
app = typer.Typer(
    help="Measure the installed MPIs with and without Tutti, interleaved.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
for name, (run, fields) in SUBCOMMANDS.items():
    app.command(name)(taking(Options, run, fields))
app.command("view")(view)
