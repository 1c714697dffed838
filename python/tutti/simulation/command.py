"""The command `tutti sim`. It checks all options before anything runs."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from tutti.bench.measurements import COLLECTIVES, ROOTED, VECTORS
from tutti.bench.present import WIDE, Output, Report
from tutti.bench.progress import with_progress
from tutti.bench.words import MOST_BYTES, parse_collectives, parse_sizes
from tutti.errors import UserError
from tutti.options import BYTES_HELP, AsJson, JsonFile, Plot, option, taking
from tutti.rows import members
from tutti.simulation import applications, injection, injection_report
from tutti.simulation.jobs import (
    Cell,
    Run,
    Settings,
    simulate,
    simulated_program,
    smpirun,
    write_files,
)
from tutti.simulation.machines import MACHINES, MOST_NODES, OWN, Clusters, Machine, checked, named
from tutti.simulation.predictions import as_json as predictions_json
from tutti.simulation.predictions import model_of_cluster, predict_all
from tutti.simulation.predictions import show as show_predictions
from tutti.simulation.report import Results, draw, machines_table, show
from tutti.simulation.report import as_json as results_json
from tutti.simulation.servers import EXPERIMENTS, experiment
from tutti.simulation.variants import AGAINST, TUTTI, Variant, parse_against

DEFAULT_SIZES = "8,1K,64K,1M"
DEFAULT_ROOTS = "0"
ALL = "all"
# alltoallw is the same operation as alltoallv, and its displacements in bytes overflow on many ranks.
SIMULATED = tuple(name for name in COLLECTIVES if name != "alltoallw")
DEALS = ("block", "round_robin")


@dataclass(frozen=True)
class Asked:
    """The options."""

    collectives: Annotated[
        str,
        typer.Argument(
            help="Collectives, separated by commas, as `tutti bench` names them; or all."
        ),
    ] = ALL
    app: Annotated[
        str | None,
        option(
            metavar="NAME",
            words="Simulate the collectives of an application at a paper's size, instead of "
            f"collectives and sizes: {', '.join(applications.APPLICATIONS)}.",
        ),
    ] = None
    machine: Annotated[
        str | None, option(f"A known cluster ({', '.join(MACHINES)}), or a machine's file.")
    ] = None
    list_: Annotated[
        bool,
        option("List the known clusters with their figures, and simulate nothing.", "--list"),
    ] = False
    servers: Annotated[
        bool,
        typer.Option(
            "--servers",
            help="Simulate how one-sided messages are injected, by clients and by servers, on "
            f"--machine {' or '.join(injection.known_machines())} or a file. In place of "
            f"collectives give all, or some of {', '.join(EXPERIMENTS)}.",
        ),
    ] = False
    nodes: Annotated[
        int | None,
        option("Number of nodes, of a new cluster or in place of the known cluster's number."),
    ] = None
    cores: Annotated[
        int | None,
        option("Number of cores of a node, with a rank on each; likewise."),
    ] = None
    latency: Annotated[
        float | None,
        option("Latency from adapter to adapter, in microseconds; likewise."),
    ] = None
    bandwidth: Annotated[
        float | None,
        option("Bandwidth of a node's link in each direction, in GB/s; likewise."),
    ] = None
    clusters: Annotated[
        int, option("Number of groups of nodes, with a link between each two groups.")
    ] = 1
    cluster_latency: Annotated[float, option("Latency of that link, in microseconds.")] = 1000
    cluster_bandwidth: Annotated[
        float, option("Bandwidth of that link in each direction, in GB/s.")
    ] = 0.125
    ranks: Annotated[int | None, option("Number of ranks (default: one for each core).")] = None
    deal: Annotated[str, option("How ranks are placed on nodes: block or round_robin.")] = "block"
    bytes: Annotated[
        str | None,
        option(f"{BYTES_HELP} (default: {DEFAULT_SIZES}; with --servers powers of two from 8 on)."),
    ] = None
    roots: Annotated[
        str, option("Roots to simulate, for collectives with a root, as in 0,5; or all.")
    ] = DEFAULT_ROOTS
    against: Annotated[
        str,
        option(f"What to compare Tutti with: all, none, or some of {', '.join(AGAINST)}."),
    ] = "mpich,ompi,mvapich2,impi"
    tutti: Annotated[bool, option("Simulate Tutti too.")] = True
    warm: Annotated[
        int,
        option("Untimed operations of each cell (collective and size) before the timed."),
    ] = 1
    operations: Annotated[
        int, option("Timed operations of each cell; the result is their median.")
    ] = 2
    seconds: Annotated[float, option("Stop a simulation that takes more seconds than this.")] = 900
    predict: Annotated[
        bool,
        typer.Option(
            "--predict",
            help="Also predict Tutti's times by the model, with the same figures, and show the "
            "difference.",
        ),
    ] = False
    as_json: AsJson = False
    json_file: JsonFile = None
    plot: Plot = None
    files: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Write SimGrid's platform.xml and hosts to DIR."),
    ] = None


def machine_of(asked: Asked) -> Machine:
    """A known machine or a new one, with the figures that were given in place of its own.

    Raises UserError.
    """
    if asked.machine is None and (asked.nodes is None or asked.cores is None):
        raise UserError(
            f"--machine is missing: give one of {', '.join(MACHINES)} (tutti sim --list), or "
            "--nodes and --cores"
        )
    machine = named(asked.machine) if asked.machine is not None else OWN

    def given(**values: float | None) -> dict[str, Any]:
        return {name: value for name, value in values.items() if value is not None}

    links = given(latency_us=asked.latency, gigabytes=asked.bandwidth)
    changed = replace(
        machine,
        network=replace(machine.network, **links),
        clusters=Clusters(asked.clusters, asked.cluster_latency, asked.cluster_bandwidth),
        **given(nodes=asked.nodes, cores=asked.cores),
    )
    return checked(changed)


def ranks_of(ranks: int | None, machine: Machine) -> int:
    if ranks is None:
        return machine.ranks
    if not 2 <= ranks <= machine.ranks:
        raise UserError(
            f"--ranks: {ranks} is not accepted; give 2 to {machine.ranks}, a rank on each core of "
            f"{machine.name}"
        )
    return ranks


def parse_roots(text: str, ranks: int) -> list[int]:
    if text == "all":
        return list(range(ranks))
    roots = []
    for word in text.split(","):
        if not word.isdigit() or int(word) >= ranks:
            raise UserError(
                f"--roots: '{word}' is not a rank; give all, or some of 0 to {ranks - 1}"
            )
        roots.append(int(word))
    return list(dict.fromkeys(roots))


def cells_of(collectives: list[str], sizes: list[int], roots: list[int], ranks: int) -> list[Cell]:
    cells = []
    for collective in collectives:
        for root in roots if collective in ROOTED else [0]:
            for size in [0] if collective == "barrier" else sizes:
                if collective not in VECTORS and size * ranks > MOST_BYTES:
                    raise UserError(
                        f"--bytes: in {collective}, {size} bytes for each of {ranks} ranks are "
                        "more than 1024M; give smaller sizes or fewer ranks"
                    )
                cells.append(Cell(collective, size, root))
    return cells


def cells_of_application(app: str, asked: Asked) -> list[Cell]:
    for word, given in (
        ("collectives", asked.collectives != ALL),
        ("--bytes", asked.bytes is not None),
        ("--roots", asked.roots != DEFAULT_ROOTS),
    ):
        if given:
            raise UserError(
                f"{word}: --app has collectives, sizes and roots of its own; leave one of them out"
            )
    return [step.cell for step in applications.steps_of(app)]


def run(settings: Settings) -> Results:
    def simulate_all(before_cell: Callable[[str], None]) -> dict[str, Run]:
        before_cell(settings.variants[0].label)
        return {
            variant.key: simulate(settings, variant, partial(before_cell, variant.label))
            for variant in settings.variants
        }

    cells = len(settings.cells) * len(settings.variants)
    return Results(settings, with_progress(cells, "", simulate_all, ticks=1))


def _list(name: str | None) -> Report:
    """All known machines, or one with all that is said of it."""
    machines = [named(name)] if name is not None else list(MACHINES.values())
    more = "`tutti sim --list --machine NAME` says where the figures are from."
    if name is not None:
        more = f"figures from: {machines[0].source}"

    def show_machines(console: Console) -> None:
        console.print(machines_table(machines))
        console.print(more, highlight=False)

    document = {"format": "tutti-sim-machines 1", "machines": [asdict(one) for one in machines]}
    return Report(show_machines, document)


def _directory(name: str) -> Path:
    directory = Path(name)
    try:
        directory.mkdir(exist_ok=True)
    except OSError as error:
        raise UserError(
            f"--files: cannot make '{name}': {error.strerror}; give another directory"
        ) from error
    return directory


def _servers(asked: Asked) -> Report:
    """`tutti sim --servers`."""
    wanted = asked.collectives.split(",")
    if asked.collectives == ALL:
        wanted = list(EXPERIMENTS)
    for name in wanted:
        if name not in EXPERIMENTS:
            raise UserError(
                f"'{name}' is unknown; with --servers give all, or some of {', '.join(EXPERIMENTS)}"
            )
    simulator = injection.Simulator(*injection.read_machine(asked.machine or "edison"))
    count = asked.nodes if asked.nodes is not None else simulator.machine.get("nodes", 2)
    if not isinstance(count, int) or not 2 <= count <= MOST_NODES:
        raise UserError(f"--nodes: {count} is not accepted; give 2 to {MOST_NODES}")
    sizes = parse_sizes(asked.bytes) if asked.bytes is not None else None
    document = with_progress(
        1, ", ".join(wanted), lambda _: experiment(simulator, wanted, count, sizes), ticks=1
    )
    return Report(
        partial(injection_report.show, document), document, partial(injection_report.draw, document)
    )


def _check_without_servers(asked: Asked) -> None:
    """Refuses experiments and machines that only --servers knows."""
    only_there = [
        name
        for name in asked.collectives.split(",")
        if name in EXPERIMENTS and name not in SIMULATED
    ]
    if asked.machine in injection.known_machines():
        only_there.append(f"--machine {asked.machine}")
    if only_there:
        raise UserError(f"'{only_there[0]}' is simulated with --servers; give that, too")


def _check_numbers(asked: Asked) -> None:
    for word, value, least, most in (
        ("--warm", asked.warm, 0, 1000),
        ("--operations", asked.operations, 1, 1000),
        ("--seconds", asked.seconds, 1, 1e6),
    ):
        if not least <= value <= most:
            raise UserError(
                f"{word}: {value:g} is not accepted; give a number from {least} to {most:g}"
            )


def _report(asked: Asked) -> Report:
    if asked.list_:
        return _list(asked.machine)
    if asked.servers:
        return _servers(asked)
    _check_without_servers(asked)
    _check_numbers(asked)
    place = machine_of(asked)
    count = ranks_of(asked.ranks, place)
    if asked.deal not in DEALS:
        raise UserError(f"--deal: '{asked.deal}' is unknown; known are {' and '.join(DEALS)}")
    variants = ([Variant(TUTTI)] if asked.tutti else []) + parse_against(asked.against)
    if not variants:
        raise UserError("--no-tutti --against none: nothing is left to simulate; leave one out")
    if asked.app is not None:
        cells = cells_of_application(asked.app, asked)
    else:
        cells = cells_of(
            parse_collectives(asked.collectives, SIMULATED),
            parse_sizes(DEFAULT_SIZES if asked.bytes is None else asked.bytes),
            parse_roots(asked.roots, count),
            count,
        )
    settings = Settings(
        place,
        count,
        cells=cells,
        variants=variants,
        **members(asked, "deal", "warm", "operations", "seconds"),
    )
    if asked.predict:
        if not asked.tutti:
            raise UserError("--predict: it is about Tutti's times; leave --no-tutti out")
        model_of_cluster(place)  # fails now, not after the simulation
    smpirun()
    for variant in variants:
        simulated_program(variant.tutti)
    if asked.files is not None:
        write_files(settings, _directory(asked.files))
    results = run(settings)
    total = applications.total_of(asked.app, results) if asked.app is not None else None
    predictions = predict_all(settings, results) if asked.predict else []
    document = results_json(results)
    if total is not None:
        document["application"] = applications.as_json(total)
    if asked.predict:
        document["predictions"] = predictions_json(predictions)

    def show_all(console: Console) -> None:
        show(results, console)
        if total is not None:
            console.print(applications.total_table(total, results))
        if asked.predict:
            show_predictions(predictions, console)

    return Report(show_all, document, partial(draw, results))


def _run(asked: Asked) -> None:
    """Simulate the collectives of Tutti and of MPIs on a cluster.

    It needs SimGrid, a package of the system (docs/simulation.md).
    """
    output = Output(asked.as_json, asked.json_file, asked.plot)
    output.present(replace(_report(asked), width=WIDE))


sim = taking(Asked, _run)
