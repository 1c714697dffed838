"""`tutti bench apps`: what its options ask for (applications.py says how programs are measured)."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, ClassVar

import typer

from tutti.bench import applications
from tutti.bench.applications import APPLICATIONS, FORMS, AppSettings
from tutti.bench.applications_report import draw, list_applications, show
from tutti.bench.applications_results import as_json, differences
from tutti.bench.asked import check_hosts, plan_of, settings_of
from tutti.bench.core_ways import (
    COMMUNICATING,
    GETS,
    PUTS,
    SERVED,
    CoreWays,
    parse_problems,
    parse_transfers,
)
from tutti.bench.core_ways_report import ways_json
from tutti.bench.options import HERE, NODES, PLOT, Kind, Options
from tutti.bench.present import WIDEST, WIDTH, Report
from tutti.bench.progress import with_progress
from tutti.bench.words import near_text
from tutti.errors import RunError, UserError
from tutti.options import option


@dataclass(frozen=True)
class AppOptions(Options):
    app: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]",
            help=f"The program: {', '.join(APPLICATIONS)}. Without a name: says what they are.",
        ),
    ] = None
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[-- OPTIONS]", help="The program's own options."),
    ] = None
    servers: Annotated[
        bool,
        option(
            f"With --hosts, for {' and '.join(FORMS)}: run the program's blocking and overlapped "
            "form, and the latter with a server of Tutti's in each process.",
            "--servers",
        ),
    ] = False
    core_ways: Annotated[
        int | None,
        option(
            f"For {' and '.join(COMMUNICATING)}: run the program by messages, and by one-sided transfers "
            f"with so many servers on each node, to which cores are given in the ways "
            f"{', '.join(SERVED)}.",
            metavar="SERVERS",
        ),
    ] = None
    problems: Annotated[
        str | None,
        option(
            "With --core-ways: the program's problems, as SIDExBOXES of multigrid ("
            f"{COMMUNICATING['multigrid'].problems}) or NXxNYxNZ of fft ({COMMUNICATING['fft'].problems}).",
            metavar="LIST",
        ),
    ] = None
    transfers: Annotated[
        str | None,
        option(
            f"With --core-ways: by which one-sided transfers, {GETS} or {PUTS} that signal, which "
            f"multigrid has (default: {GETS}).",
            metavar="KIND",
        ),
    ] = None

    RANGES: ClassVar[dict[str, tuple[int, int]]] = Options.RANGES | {"core_ways": (1, 64)}


def run(options: AppOptions) -> Report:
    """Run a whole program with and without Tutti.

    Its answers are compared, and its times by phase. Its own options follow after --.
    """
    if options.app is None:
        return Report(list_applications, list(APPLICATIONS))
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
    if not options.core_ways and (alone := options.given("--problems", "--transfers")):
        raise UserError(f"{alone[0]}: it needs --core-ways")
    check_hosts(
        options,
        ("--nodes", "--per-node", "--delay", "--servers"),
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
            parse_transfers(options.app, options.transfers),
        )
        asked = replace(asked, core_ways=ways, bind="none")
    if options.hosts is not None:
        plan = plan_of(replace(options, nodes=options.nodes or "2"), settings)
        asked = applications.over_nodes(asked, plan)
    if asked.core_ways is not None:
        asked.core_ways.check(max(asked.ranks) if asked.hosts is None else asked.per_node)
    applications.require_built(asked)
    measured = with_progress(asked.jobs, options.app, partial(applications.measure, asked))
    document, note = as_json(measured), ""
    if asked.core_ways is not None:
        document["core_ways"] = ways_json(measured)
    different = differences(measured)
    failure: BaseException | None = None
    if measured.interrupted:
        document["interrupted"] = True
        note = f"interrupted: the results of {measured.settings.repetitions} of {count} repetitions"
        failure = KeyboardInterrupt()
    if different:
        failure = RunError(f"{options.app}: the answers differ: {different[0]}")
    return Report(
        partial(show, measured),
        document,
        partial(draw, measured),
        WIDEST if options.core_ways else WIDTH,
        note,
        failure,
    )


KIND = Kind(
    run,
    ("app", "words", *HERE, *NODES, "servers", "core_ways", "problems", "transfers", "repetitions", "quick",
     "mpi", "tutti", "seed", *PLOT),
    AppOptions,
)  # fmt: skip
