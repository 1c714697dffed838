"""`tutti model predict`."""

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from tutti.bench.checks import choose_mpis, output_file, plot_stem, with_tutti
from tutti.bench.mpis import find_mpis
from tutti.bench.progress import with_progress
from tutti.bench.words import parse_ranks, parse_sizes
from tutti.choose import rules
from tutti.choose.candidates import parse_collectives
from tutti.choose.proposals import proposals, table_text
from tutti.errors import UserError
from tutti.model import check as checking
from tutti.model.algorithms import Late, checked_reach
from tutti.model.latency import (
    draw_latency,
    latency_document,
    latency_table,
    measure_latency,
    pairs_of,
)
from tutti.model.measure import measure, units_here
from tutti.model.messages import choose_mpi, measure_messages, parse_between
from tutti.model.report import (
    draw,
    print_check,
    print_machine,
    print_machines,
    print_one,
    print_rules,
    print_table,
)
from tutti.options import (
    AsJson,
    Bytes,
    Collectives,
    Costs,
    Deal,
    LateRanks,
    Output,
    Plot,
    Reached,
    Root,
    option,
)
from tutti.places import core
from tutti.plan.command.files import (
    ALGORITHM_HELP,
    COLLECTIVES_HELP,
    MOST_RANKS,
    generate,
    read,
)
from tutti.plan.command.machines import SHAPES, levels_of, nodes_of, shape_of_costs
from tutti.predict.machines import known_costs, known_files, model_of, read_model
from tutti.predict.prediction import Cell, Where, parse_late, predict, shared_levels
from tutti.tables import new_console

app = typer.Typer(help="Predict how long collectives take on a machine.", no_args_is_help=True)


@app.callback()
def _app() -> None:
    """Predict how long collectives take on a machine."""


def _plans(what: str, algorithms: str | None, ranks: int, root: int, levels: str) -> dict[str, Any]:
    """The plans to predict, by the words that name them."""
    if what in core().collectives():
        if algorithms is None:
            names = [one["name"] for one in core().algorithms() if what in one["collectives"]]
            raise UserError(f"{what}: give --algorithm, one of {', '.join(names)}")
        return {
            algorithm: generate(what, algorithm, ranks, root, levels)
            for algorithm in algorithms.split(",")
        }
    if algorithms is not None:
        raise UserError(
            f"'{what}' is read as a file, which is a plan already; leave --algorithm out"
        )
    plan = read(Path(what))
    if plan.ranks != ranks:
        raise UserError(f"'{what}' is a plan of {plan.ranks} ranks; give --ranks {plan.ranks}")
    return {Path(what).name: plan}


def _reach(given: dict[str, bool]) -> str:
    """How ranks reach each other's buffers, by the option that says so."""
    names = {"--reached": "mapped", "--cma": "cma", "--messages": "net"}
    options = [option for option, is_given in given.items() if is_given]
    if len(options) > 1:
        raise UserError(
            f"{options[0]} {options[1]}: each says how ranks reach each other's data; leave one out"
        )
    return names[options[0]] if options else "slots"


def _as_json(cells: list[Cell], machine: dict[str, Any], where: Where, what: str) -> str:
    return json.dumps(
        {
            "format": "tutti-prediction 1",
            "machine": machine,
            "collective": what,
            "ranks": where.ranks,
            "levels": dict(where.levels),
            "nodes": where.nodes,
            "cells": [
                {"algorithm": cell.algorithm, "bytes": cell.size}
                | {"predicted_us": cell.microseconds}
                | cell.found
                for cell in cells
            ],
        },
        indent=1,
    )


@app.command("machines")
def machines_command(
    name: Annotated[
        str | None, typer.Argument(help="A machine whose sources are to be shown.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the machines that come with Tutti.

    With a name, say where the figures of that machine are from.
    """
    if name is not None and name not in known_files():
        raise UserError(f"there is no machine '{name}'; known are {', '.join(known_files())}")
    machines = [known_costs(one) for one in ([name] if name is not None else known_files())]
    if as_json:
        print(json.dumps({"format": "tutti-machines 1", "machines": machines}, indent=1))
    else:
        print_machines(machines)


@app.command("predict")
def predict_command(
    collective_or_file: Annotated[
        str, typer.Argument(help=f"{COLLECTIVES_HELP}; or the file of a plan or a tree.")
    ],
    ranks: Annotated[int, option("Number of ranks.")],
    machine: Costs = None,
    algorithm: Annotated[
        str | None,
        option(f"{ALGORITHM_HELP} Several, with commas between, make a table."),
    ] = None,
    bytes: Bytes = "64",
    root: Root = 0,
    shape: Annotated[
        str | None,
        option(
            f"The machine whose cores the ranks are bound to: {SHAPES} (default: that of "
            "--machine, else one level)."
        ),
    ] = None,
    deal: Deal = "block",
    late: LateRanks = None,
    segment: Annotated[
        int, option("Bytes of a segment that a rule would ask for; 0: none does.")
    ] = 0,
    reached: Reached = False,
    cma: Annotated[
        bool,
        option(
            "Ranks read each other's buffers by the system's copies, as a rule with "
            "`reach cma` asks for.",
            "--cma",
        ),
    ] = False,
    messages: Annotated[
        bool,
        option(
            "Ranks of a node share no memory and exchange messages, as in `tutti sim`.",
            "--messages",
        ),
    ] = False,
    trace: Annotated[
        Path | None,
        option(
            "Also write the prediction as a trace here, for `tutti trace`; of one algorithm "
            "and one size."
        ),
    ] = None,
    export: Annotated[
        str | None,
        option("goal: write one call as a GOAL schedule to stdout instead, for LogGOPSim."),
    ] = None,
    plot: Plot = None,
    as_json: AsJson = False,
) -> None:
    """Predict the time of a call on a machine.

    The programs of all ranks run in virtual time, with the costs of --machine, which is required.

    One algorithm and one size show the steps that decide the time, and the load of each link. With
    --json they have all steps of all ranks, too.
    """
    if not 1 <= ranks <= MOST_RANKS:
        raise UserError(f"--ranks: {ranks} is out of range; give 1 to {MOST_RANKS}")
    if segment < 0:
        raise UserError(f"--segment: {segment} is out of range; give 0 or more bytes")
    reach = _reach({"--reached": reached, "--cma": cma, "--messages": messages})
    stem = plot_stem(plot)
    if machine is None:
        raise UserError(
            "--machine is missing: give a file that `tutti model measure` has written, or a "
            "machine that `tutti model machines` lists"
        )
    model = read_model(machine)
    costs = json.loads(model.text)
    if shape is None:
        shape = costs.get("shape")
    levels = levels_of(shape, deal, ranks)
    where = Where(
        ranks,
        shared_levels(levels),
        nodes_of(shape, deal, ranks),
        reach,
        segment,
        parse_late(late, ranks),
    )
    plans = _plans(collective_or_file, algorithm, ranks, root, levels)
    wanted = [(size, name) for size in parse_sizes(bytes) for name in plans]
    if trace is not None and len(wanted) > 1:
        raise UserError(f"--trace: it is for one prediction, not for {len(wanted)}")
    if export is not None:
        if export != "goal" or len(wanted) > 1:
            raise UserError(
                f"--export: '{export}' of {len(wanted)} calls; `--export goal` is known, for one "
                "algorithm and one size"
            )
        bytes_of_call, name = wanted[0]
        found = predict(model, plans[name], name, bytes_of_call, where, goal=True).found
        print(found["goal"], end="")
        return
    # The events of many cells of thousands of ranks would take gigabytes.
    with_events = as_json and len(wanted) == 1

    def one(say: Callable[..., None], size: int, name: str) -> Cell:
        say(f"{name}, {size} bytes")
        return predict(model, plans[name], name, size, where, with_events, trace)

    cells = with_progress(
        len(wanted), "predicting", lambda say: [one(say, size, name) for size, name in wanted]
    )
    collective = next(iter(plans.values())).collective
    title = f"{collective}, {ranks} ranks on {costs['name']}"
    if stem is not None:
        for path in draw(cells, title, stem):
            print(f"drawn: {path}", file=sys.stderr)
    if as_json:
        print(_as_json(cells, costs, where, collective))
        return
    if len(cells) == 1:
        size = f", {cells[0].size} bytes" if collective != "barrier" else ""
        print_one(cells[0], f"{title}, {cells[0].algorithm}{size}")
    else:
        print_table(cells, title)


def refuse_without_network(network: bool, given: dict[str, object]) -> None:
    words = [option for option, value in given.items() if value is not None]
    if words and not network:
        raise UserError(f"{words[0]}: it needs --network, which measures messages of the host MPI")


@app.command("measure")
def measure_command(
    network: Annotated[
        bool,
        option(
            "Also measure messages of the host MPI: within this node, and, with --hosts or "
            "--launch, between two nodes.",
            "--network",
        ),
    ] = False,
    hosts: Annotated[
        str | None,
        typer.Option(
            metavar="A,B",
            help="With --network: the names of two hosts, on each of which mpiexec starts a rank; "
            "or a directory with the scripts that emulate nodes (tests/hosts of Tutti's sources, "
            "docs/clusters.md).",
        ),
    ] = None,
    launch: Annotated[
        str | None,
        typer.Option(
            metavar="WORDS",
            help="With --network, where mpiexec starts no jobs: the words that start one rank on "
            "each of two nodes, as in 'srun -N 2 -n 2'.",
        ),
    ] = None,
    delay: Annotated[
        str | None,
        option("With emulated nodes: the one-way delay of their links (default: 0)."),
    ] = None,
    mpi: Annotated[
        str | None,
        option("With --network: the host MPI, as `tutti bench` names it (default: the first)."),
    ] = None,
    machine: Annotated[
        Path | None,
        option(
            "With --network: a file with a machine whose steps are measured; only messages "
            "are measured then."
        ),
    ] = None,
    latency: Annotated[
        bool,
        option(
            "Measure how long a read of a modified line takes instead, over the size of the data: "
            "of the own core, and of one at each level.",
            "--latency",
        ),
    ] = False,
    cores: Annotated[
        str | None,
        option(
            "With --latency: the core that reads and those that modify the lines, in place of one "
            "pair for each level.",
            metavar="A,B[,C]",
        ),
    ] = None,
    output: Output = None,
    plot: Plot = None,
    as_json: AsJson = False,
) -> None:
    """Measure what the steps of programs cost on this machine.

    The other commands take the file as --machine. --plot draws the curves of --latency.

    It takes seconds. Run it while nothing else does.
    """
    file = output_file("--output", output)
    refuse_without_network(
        network,
        {
            "--hosts": hosts,
            "--launch": launch,
            "--delay": delay,
            "--mpi": mpi,
            "--machine": machine,
        },
    )
    if latency:
        if network:
            raise UserError("--latency: it measures no messages; leave --network out")
        _show_latency(cores, file, plot_stem(plot), as_json)
        return
    if cores is not None:
        raise UserError("--cores: they are of --latency; give that, too")
    if plot is not None:
        raise UserError("--plot: it draws the curves of --latency; give that, too")
    between = parse_between(hosts, launch, delay)
    base = json.loads(read_model(machine).text) if machine is not None else None
    chosen = choose_mpi(mpi) if network else None
    jobs = (0 if base is not None else len(units_here())) + (1 if network else 0) + bool(between)

    def work(say: Callable[[str], None]) -> dict[str, Any]:
        costs = base if base is not None else measure(say)
        return measure_messages(costs, chosen, between, say) if chosen is not None else costs

    text = model_of(json.dumps(with_progress(jobs, "measuring", work)), "tutti model measure").text
    if file is not None:
        file.write_text(text, encoding="utf-8")
    if as_json:
        print(text, end="")
    else:
        print_machine(json.loads(text))
        if network and not between:
            print(
                "both ranks were on this node; for the network between two nodes give --hosts "
                "or --launch"
            )
    if file is not None and not as_json:
        print(f"written to {file}")


def _show_latency(cores: str | None, file: Path | None, stem: Path | None, as_json: bool) -> None:
    pairs = pairs_of(cores)
    curves = with_progress(len(pairs), "measuring", lambda say: measure_latency(pairs, say))
    text = json.dumps(latency_document(curves), indent=1)
    written = draw_latency(curves, stem) if stem is not None else []
    if file is not None:
        file.write_text(text + "\n", encoding="utf-8")
        written.insert(0, file)
    if as_json:
        print(text)
        return
    new_console(80).print(latency_table(curves))
    if written:
        print(f"written to {', '.join(map(str, written))}")


def _late_rank(text: str | None, ranks: Sequence[int]) -> Late | None:
    arrivals = parse_late(text, min(ranks))
    late = [(rank, time) for rank, time in enumerate(arrivals) if time > 0]
    if len(late) > 1:
        raise UserError("--late: one rank can be late, as in --late 1=2.5")
    return Late(late[0][0], late[0][1] / 1000) if late else None


def _conditions(
    ranks: Sequence[int],
    reach: str | None,
    shuffled: bool,
    late: str | None,
    mpi: str | None,
    budget: float | None,
) -> checking.Conditions:
    if mpi is None:
        if budget is not None:
            raise UserError(
                "--budget: it is for jobs of an MPI; give --mpi, or fewer --repetitions"
            )
        return checking.Conditions(
            checked_reach(reach or "threads"), shuffled, _late_rank(late, ranks)
        )
    if late is not None:
        raise UserError("--late: ranks of MPI jobs cannot be held back; leave --mpi or --late out")
    if checked_reach(reach or "slots") == "threads":
        raise UserError("--reach: ranks of MPI jobs are processes; give slots or mapped")
    chosen = choose_mpis([mpi], find_mpis())[0]
    with_tutti(True, [chosen])
    return checking.Conditions(reach or "slots", shuffled, None, chosen, budget or 0)


@app.command("check")
def check_command(
    ranks: Annotated[str, option("Numbers of ranks, on this machine's cores.")] = "2",
    collectives: Collectives = "barrier,bcast,reduce,allreduce",
    bytes: Bytes = "8,64,512,4K,32K,256K,1M,4M",
    repetitions: Annotated[int, typer.Option(min=2, max=1000, help="Of each cell.")] = 10,
    machine: Costs = None,
    reach: Annotated[
        str | None,
        option(
            "threads reach each other's buffers; so do processes with --shared-heap (mapped); "
            "others use slots [threads; with --mpi slots]."
        ),
    ] = None,
    mpi: Annotated[
        str | None,
        option("Measure over jobs of this MPI, as `tutti bench calls --mpi` takes it."),
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option(
            min=1,
            metavar="SECONDS",
            help="With --mpi: about how long to measure in all. Cells get less time than the usual "
            "20 ms, and if that is not enough there are fewer repetitions, but 2 at least.",
        ),
    ] = None,
    mixed: Annotated[
        bool,
        option("Make the calls of all kinds in a shuffled order, not repeated.", "--mixed"),
    ] = False,
    late: LateRanks = None,
    as_json: AsJson = False,
) -> None:
    """Measure algorithms here, and compare them with predictions.

    Without --machine the costs are measured in the same run. It also tells the regret: what the algorithm that is predicted best costs over the one that is
    best. With more ranks than cores only the regret is judged. With --late one rank is late in each
    call, and times count from its call on.
    """
    counts = parse_ranks(ranks)
    names, lengths = parse_collectives(collectives), parse_sizes(bytes)
    conditions = _conditions(counts, reach, mixed, late, mpi, budget)
    model = read_model(machine) if machine is not None else None
    checked = with_progress(
        checking.steps_of(counts, repetitions, conditions),
        "measuring",
        lambda say: checking.check(model, names, counts, lengths, repetitions, conditions, say),
    )
    if as_json:
        print(json.dumps(checking.as_json(checked), indent=1))
    else:
        print_check(checked)


@app.command("rules")
def rules_command(
    machine: Annotated[
        str,
        option(
            "Machines, with commas between: files with costs and a shape, or names of "
            "machines that come with Tutti (`tutti model machines`)."
        ),
    ] = "hmpi-xeon,hmpi-opteron,juropa,judge",
    collectives: Collectives = "barrier,bcast,reduce,allreduce",
    bytes: Bytes = "8,64,512,2K,8K,32K,128K,1M",
    ranks: Annotated[
        str | None,
        option("Numbers of ranks; by default a rank for each core of --nodes."),
    ] = None,
    nodes: Annotated[str, option("Numbers of nodes, with a rank on each core.")] = "1",
    reached: Reached = False,
    bound: Annotated[
        bool,
        option(
            "Ranks are bound, or their levels are known otherwise. Unbound ones lie on the "
            "same cores, but no plan or rule knows the levels that they share."
        ),
    ] = True,
    table: Annotated[Path | None, option("A table whose rules are asked before Tutti's.")] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            help="Write a table for several nodes here: for each call the candidate that loses "
            "least on the machine where it loses most. It needs --nodes with 2 or more.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Predict what Tutti's rules choose, beside the best choice.

    The regret of a rule is how much longer its choice takes than the best. Calls with a root are
    predicted with roots in different positions, and count by the mean.
    """
    names, wanted = parse_collectives(collectives), parse_sizes(bytes)
    file = output_file("--output", output)
    if table is not None and not table.is_file():
        raise UserError(f"--table: '{table}' is no file; give a table, as `tutti tune` writes it")
    asked = str(table or "")
    work = []
    for word in machine.split(","):
        model = read_model(Path(word))
        shape = shape_of_costs(word)
        counts = parse_ranks(ranks) if ranks is not None else None
        on = rules.placements_of(
            shape, counts, parse_ranks(nodes), "mapped" if reached else "slots", bound
        )
        work.append((model, on))
    cells = with_progress(
        sum(len(on) for _, on in work) * len(names),
        "predicting",
        lambda say: [
            cell
            for model, on in work
            for cell in rules.rule_cells(model, on, names, wanted, say, asked)
        ],
    )
    if file is not None:
        proposed = proposals(cells)
        if not proposed:
            raise UserError("--output: no call is on several nodes; give --nodes 2 or more")
        file.write_text(table_text(proposed, [one.machine for one in cells]), encoding="utf-8")
    if as_json:
        print(json.dumps(rules.as_json(cells, asked), indent=1))
    else:
        print_rules(cells, asked)
        if file is not None:
            print(f"written to {file}")
