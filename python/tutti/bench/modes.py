"""The modes of `tutti bench`: each function checks those of one kind of measurement,
and then runs it.
"""

import json
from collections.abc import Callable
from pathlib import Path

from rich.console import Console

from tutti.bench import applications_command, nodes_command, threads_command
from tutti.bench.applications import AppSettings
from tutti.bench.checks import (
    choose_mpis,
    default_ranks,
    output_file,
    plot_stem,
    with_tutti,
)
from tutti.bench.document import as_json
from tutti.bench.driver import run
from tutti.bench.forms_command import Modes, parse_modes
from tutti.bench.measurements import (
    DEFAULT_COLLECTIVES,
    HALO,
    LENGTHS,
    ROOTED,
    Measurements,
    Settings,
)
from tutti.bench.mpis import Mpi, find_mpis
from tutti.bench.options import DEFAULT_SIZES, Options
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
from tutti.errors import UserError, cannot_write
from tutti.probes import sessions_are_groups

QUICK_SIZES = "8,512,4K,64K"
OPENMP_SIZES = "64,512,4K,16K,64K,256K,1M,4M"
SIZES_BETWEEN = "8,1K,16K,256K,1M"  # sizes of one-sided transfers between nodes
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


def refuse_with_kinds(given: dict[str, bool]) -> None:
    """Raises UserError if an option was given that only goes with tables over sizes."""
    for option, is_given in given.items():
        if is_given:
            raise UserError(
                f"{option}: it cannot be combined with --kinds, --mixed and --cold, which compare "
                "kinds of calls; leave it out"
            )


def refuse_without_hosts(options: Options, *of_hosts: str) -> None:
    words = [option for option, is_given in options.given(*of_hosts).items() if is_given]
    if words and options.hosts is None:
        raise UserError(
            f"{words[0]}: it needs --hosts, the directory of the scripts that make nodes"
        )


def refuse_with_hosts(options: Options, *of_one_node: str) -> None:
    if options.ranks is not None:
        raise UserError(
            "--ranks: with --hosts the rank counts follow from --nodes and --per-node; leave it out"
        )
    for option, is_given in options.given(*of_one_node).items():
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
        raise cannot_write(error, json_file or stem) from error


def bench_openmp(options: Options, threads: list[int], console: Console) -> None:
    from tutti.bench import openmp

    usual_sizes = QUICK_SIZES if options.quick else OPENMP_SIZES
    sizes = parse_sizes(usual_sizes if options.sizes is None else options.sizes)
    json_file = output_file("--json", options.json_name)
    documents = [
        openmp.measure(count, sizes, options.count, options.milliseconds) for count in threads
    ]
    for document in documents:
        openmp.show(document, console)
    if json_file is not None:
        json_file.write_text(json.dumps(documents, indent=1) + "\n")
        console.print(f"wrote {json_file}", highlight=False)


def refuse_beside_application(options: Options) -> None:
    """Raises UserError if the application is not known, or an option does not go with it."""
    assert options.app is not None
    applications_command.require_known(options.app)
    if options.servers:
        applications_command.require_forms(options.app)
    applications_command.refuse_with_app(
        options.given(
            "--collectives",
            "--sizes",
            "--every-root",
            "--mixed",
            "--cold",
            "--kinds",
            "--form",
            "--overlap",
            "--compute",
            "--halo",
            "--faces",
            "--no-dirty",
            "--openmp",
            "--one-sided",
            "--saturation",
            "--array",
            "--worth",
            "--load",
            "--budget-ms",
        )
    )


def bench_native(options: Options, console: Console) -> None:
    """--one-sided, --alltoall, --saturation and --array."""
    native = options.given("--one-sided", "--alltoall", "--saturation", "--array")
    given = options.given(
        "--collectives",
        "--kinds",
        "--form",
        "--overlap",
        "--halo",
        "--mixed",
        "--cold",
        "--every-root",
        "--openmp",
        "--hosts",
        "--shared-heap",
        "--ranks",
        "--sizes",
        "--repetitions",
        "--mpi",
        "--plot",
        "--load",
    )
    mode = threads_command.choose_mode(
        [name for name, is_wanted in native.items() if is_wanted],
        [name for name, is_given in given.items() if is_given],
    )
    json_file = output_file("--json", options.json_name)
    refuse_without_hosts(options, "--nodes", "--per-node", "--delay")
    if options.hosts is not None:
        return bench_native_between_nodes(options, mode, options.hosts, json_file, console)
    if mode == "--saturation":
        milliseconds = options.budget_ms or (2 if options.quick else 10)
        stem = plot_stem(options.plot)
        return threads_command.bench_saturation(milliseconds, json_file, stem, console)
    if mode == "--array":
        return threads_command.bench_array(options.count, json_file, console)
    if mode == "--alltoall":
        return threads_command.bench_alltoall(
            options.ranks, options.sizes, options.count, json_file, console
        )
    found = find_mpis()
    mpis = choose_mpis(options.mpi or [], found) if options.mpi or found else []
    with_tutti(True, mpis)
    return threads_command.bench_one_sided(mpis, options.count, json_file, console)


def bench_native_between_nodes(
    options: Options, mode: str, hosts: str, json_file: Path | None, console: Console
) -> None:
    of_map = mode == "--saturation"
    startable = nodes_command.startable(
        choose_mpis(options.mpi or [], find_mpis()), named=bool(options.mpi)
    )
    with_tutti(True, startable)
    usual_time = threads_command.MILLISECONDS_BETWEEN[mode][1 if options.quick else 0]
    usual_ranks = options.cores if of_map else 1
    between = threads_command.between_plan(
        startable[:1] if of_map and not options.mpi else startable,
        hosts,
        options.nodes,
        usual_ranks if options.per_node is None else options.per_node,
        options.delay or ("0" if of_map else nodes_command.DEFAULT_DELAYS),
        options.budget_ms or usual_time,
    )
    if of_map:
        stem = plot_stem(options.plot)
        return threads_command.bench_saturation_between(between, json_file, stem, console)
    usual_sizes = QUICK_SIZES_BETWEEN if options.quick else SIZES_BETWEEN
    sizes = parse_sizes(usual_sizes if options.sizes is None else options.sizes)
    return threads_command.bench_one_sided_between(
        between, sizes, options.count, options.seed, json_file, console
    )


def bench_application(
    options: Options,
    mpis: list[Mpi],
    ranks: list[int],
    json_file: Path | None,
    stem: Path | None,
    console: Console,
) -> None:
    assert options.app is not None
    settings = AppSettings(
        application=options.app,
        arguments=tuple(options.words or ()),
        mpis=mpis,
        ranks=ranks,
        cores=options.cores,
        repetitions=options.repetitions or applications_command.usual_repetitions(options.quick),
        tutti=with_tutti(options.tutti, mpis),
        heap=options.shared_heap,
        peer_settings=options.peer_settings,
        bind=options.bind,
        seed=options.seed,
        limits=not options.quick,
        servers=options.servers,
    )
    if options.hosts is not None:
        refuse_with_hosts(options, "--bind", "--peer-settings")
        settings = applications_command.over_nodes(
            settings,
            options.hosts,
            options.nodes or "2",
            2 if options.per_node is None else options.per_node,
            options.delay or nodes_command.DEFAULT_DELAYS,
        )
    return applications_command.bench_application(settings, json_file, stem, console)


def bench_over_nodes(
    options: Options,
    settings: Settings,
    modes: Modes,
    json_file: Path | None,
    stem: Path | None,
    console: Console,
) -> None:
    assert options.hosts is not None
    worth = options.worth
    refuse_with_hosts(options, "--bind", "--peer-settings", "--shared-heap", "--load")
    if worth and options.lengths is not None:
        raise UserError("--lengths: --worth measures the usual ones; leave one of them out")
    if worth and options.every_root:
        raise UserError("--every-root: --worth measures root 0; leave one of them out")
    if worth and stem is not None:
        raise UserError("--plot: --worth draws nothing; give --json instead")
    plan = nodes_command.nodes_plan(
        settings,
        options.hosts,
        options.nodes or nodes_command.DEFAULT_NODES,
        2 if options.per_node is None else options.per_node,
        options.delay or ("0" if worth else nodes_command.DEFAULT_DELAYS),
    )
    if options.overlap:
        if worth:
            raise UserError(
                "--worth: it cannot be combined with --overlap over nodes; leave one of them out"
            )
        return nodes_command.bench_overlap(plan, modes.computing, json_file, stem, console)
    if worth:
        return nodes_command.bench_worth(plan, json_file, console)
    return nodes_command.bench_nodes(plan, json_file, stem, console)


def kinds_of(options: Options) -> str:
    """The kinds of calls, as tutti-bench takes them; empty if collectives and sizes say what is
    measured. Raises UserError."""
    kinds = options.kinds
    if kinds is None and options.mixed and options.collectives is None and options.sizes is None:
        kinds = PROGRAMS
    listed = parse_kinds(kinds) if kinds else ""
    if listed and (options.collectives is not None or options.sizes is not None):
        raise UserError(
            "--kinds: a kind has its collective and its size; leave --collectives and --sizes out"
        )
    if options.mixed and not options.dirty:
        raise UserError(
            "--no-dirty: with --mixed the kinds share buffers, so each rank must rewrite its "
            "buffer; leave --no-dirty or --mixed out"
        )
    return listed


def modes_of(options: Options) -> Modes:
    return parse_modes(
        options.form,
        options.compute,
        options.faces,
        overlap=options.overlap,
        halo=options.halo,
        quick=options.quick,
        given=options.given(
            "--form",
            "--overlap",
            "--collectives",
            "--sizes",
            "--kinds",
            "--mixed",
            "--cold",
            "--every-root",
            "--openmp",
            "--hosts",
        ),
    )


def bench_collectives(options: Options, console: Console) -> None:
    """Collectives of MPIs, and what shares their options: applications and --openmp."""
    from tutti.bench.report import show

    modes = modes_of(options)
    cores, hosts = options.cores, options.hosts
    ranks = parse_ranks(options.ranks) if options.ranks is not None else default_ranks(cores)
    listed = kinds_of(options)
    cold_bytes = parse_bytes("--cold", options.cold) if options.cold else 0
    if listed or options.mixed or cold_bytes:
        refuse_with_kinds(options.given("--openmp", "--hosts", "--every-root", "--plot"))
    wanted = parse_collectives(
        ",".join(DEFAULT_COLLECTIVES) if options.collectives is None else options.collectives
    )
    if options.every_root:
        require_rooted(wanted, options.openmp)
    if options.openmp:
        return bench_openmp(options, ranks, console)
    one_of("--bind", options.bind, BINDINGS)
    one_of("--peer-settings", options.peer_settings, SETTINGS)
    if hosts is None and options.bind == "core" and max(ranks) > cores:
        raise UserError(
            f"--bind core: there are more ranks ({max(ranks)}) than cores ({cores}); give "
            "--bind auto"
        )
    refuse_without_hosts(
        options, "--nodes", "--per-node", "--delay", "--lengths", "--worth", "--servers"
    )
    usual_sizes = nodes_command.DEFAULT_SIZES if hosts is not None else DEFAULT_SIZES
    if options.quick:
        usual_sizes = QUICK_SIZES
    sizes = parse_sizes(usual_sizes if options.sizes is None else options.sizes)
    json_file, stem = output_file("--json", options.json_name), plot_stem(options.plot)
    mpis = choose_mpis(options.mpi or [], find_mpis())
    if hosts is not None:
        mpis = nodes_command.startable(mpis, named=bool(options.mpi))
    if options.app is not None:
        return bench_application(options, mpis, ranks, json_file, stem, console)
    settings = Settings(
        mpis=mpis,
        ranks=ranks,
        cores=cores,
        collectives=[HALO] if options.halo else wanted,
        sizes=sizes,
        repetitions=options.count,
        dirty=options.dirty,
        tutti=with_tutti(options.tutti, mpis),
        heap=options.shared_heap,
        peer_settings=options.peer_settings,
        bind=options.bind,
        budget_ms=options.milliseconds,
        seed=options.seed,
        every_root=options.every_root,
        kinds=listed,
        mixed=options.mixed,
        cold=cold_bytes,
        forms=modes.forms,
        overlap=options.overlap,
        lengths=LENGTHS[:1] if options.lengths is None else parse_lengths(options.lengths),
        faces=modes.faces,
        load=options.load,
    )
    if hosts is not None:
        return bench_over_nodes(options, settings, modes, json_file, stem, console)
    if max(ranks) > cores and any(one.family == "mpich" for one in mpis) and sessions_are_groups():
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
    return None
