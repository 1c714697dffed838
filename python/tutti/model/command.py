"""`tutti model predict`."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from tutti.bench.words import parse_sizes
from tutti.errors import UserError
from tutti.model.machines import read_model
from tutti.model.prediction import Cell, Where, parse_late, predict, shared_levels
from tutti.model.report import print_one, print_table
from tutti.places import core
from tutti.plan.command.files import (
    ALGORITHM_HELP,
    COLLECTIVES_HELP,
    MOST_RANKS,
    ROOT_HELP,
    generate,
    read,
)
from tutti.plan.command.machines import DEAL_HELP, SHAPES, levels_of, nodes_of

app = typer.Typer(help="Predict how long collectives take on a machine.", no_args_is_help=True)


@app.callback()
def _app() -> None:
    """Predict how long collectives take on a machine."""


def _plans(what: str, algorithms: str | None, ranks: int, root: int, levels: str) -> dict[str, Any]:
    """The plans to predict, by the words that name them."""
    if what in core().collectives():
        if algorithms is None:
            raise UserError(f"{what}: give --algorithm; `tutti plan list` names them")
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


@app.command("predict")
def predict_command(
    collective_or_file: Annotated[
        str, typer.Argument(help=f"{COLLECTIVES_HELP}; or the file of a plan or a tree.")
    ],
    ranks: Annotated[int, typer.Option(help="Number of ranks.")],
    machine: Annotated[
        Path, typer.Option(help="The file with the machine's costs (docs/model.md).")
    ],
    algorithm: Annotated[
        str | None,
        typer.Option(help=f"{ALGORITHM_HELP} Several, with commas between, make a table."),
    ] = None,
    sizes: Annotated[
        str,
        typer.Option(help="Bytes of the vector or of one part; 64,4K,1M makes a table."),
    ] = "64",
    root: Annotated[int, typer.Option(help=ROOT_HELP)] = 0,
    shape: Annotated[
        str | None,
        typer.Option(
            help=f"The machine whose cores the ranks are bound to: {SHAPES} (default: one level)."
        ),
    ] = None,
    deal: Annotated[str, typer.Option(help=DEAL_HELP)] = "block",
    late: Annotated[
        str | None,
        typer.Option(help="Ranks that make the call later, as in 3=2.5,7=10 (microseconds)."),
    ] = None,
    segment: Annotated[
        int, typer.Option(help="Bytes of a segment that a rule would ask for; 0: none does.")
    ] = 0,
    reached: Annotated[
        bool, typer.Option(help="Ranks reach each other's buffers, as with --shared-heap.")
    ] = False,
    trace: Annotated[
        Path | None,
        typer.Option(
            help="Also write the prediction as a trace here, for `tutti trace`; of one algorithm "
            "and one size."
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Write JSON, with every step of every rank.")
    ] = False,
) -> None:
    """Predict the time of a call: all ranks' programs run in virtual time on a machine's costs.

    One algorithm and one size show the steps that decide the time, and the load of each link.
    """
    if not 1 <= ranks <= MOST_RANKS:
        raise UserError(f"--ranks: {ranks} is out of range; give 1 to {MOST_RANKS}")
    if segment < 0:
        raise UserError(f"--segment: {segment} is out of range; give 0 or more bytes")
    levels = levels_of(shape, deal, ranks)
    where = Where(
        ranks,
        shared_levels(levels),
        nodes_of(shape, deal, ranks),
        reached,
        segment,
        parse_late(late, ranks),
    )
    plans = _plans(collective_or_file, algorithm, ranks, root, levels)
    model = read_model(machine)
    wanted = [(size, name) for size in parse_sizes(sizes) for name in plans]
    if trace is not None and len(wanted) > 1:
        raise UserError(f"--trace: it is for one prediction, not for {len(wanted)}")
    cells = [
        predict(model, plans[name], name, size, where, as_json, trace) for size, name in wanted
    ]
    collective = next(iter(plans.values())).collective
    costs = json.loads(model.text)
    if as_json:
        print(_as_json(cells, costs, where, collective))
        return
    title = f"{collective}, {ranks} ranks on {costs['name']}"
    if len(cells) == 1:
        size = f", {cells[0].size} bytes" if collective != "barrier" else ""
        print_one(cells[0], f"{title}, {cells[0].algorithm}{size}")
    else:
        print_table(cells, title)
