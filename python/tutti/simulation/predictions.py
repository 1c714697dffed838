"""`tutti sim --predict`: the model's predictions beside SimGrid's simulation of the same machine."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from rich.console import Console

from tutti.bench.texts import size_text
from tutti.choose.candidates import Candidate, core_name
from tutti.choose.choice import Question, predicted
from tutti.errors import UserError
from tutti.places import core
from tutti.plan import machine as plan_machine
from tutti.predict.machines import known_costs, model_of
from tutti.predict.prediction import Where, shared_levels
from tutti.rows import members
from tutti.simulation.jobs import Cell, Settings
from tutti.simulation.machines import MACHINES, OWN_BASE, Machine
from tutti.simulation.report import Results
from tutti.simulation.variants import SIMULATED, TUTTI
from tutti.tables import number, table_of, words


@dataclass(frozen=True)
class Prediction:
    cell: Cell
    algorithm: str
    predicted: float | None  # microseconds; None if the model cannot say
    simulated: float | None
    why_not: str = ""

    @property
    def difference(self) -> float | None:
        if self.predicted is None or not self.simulated:
            return None
        return self.predicted / self.simulated - 1


def model_of_cluster(cluster: Machine) -> Any:
    """The model of a simulated cluster, whose links may be others than those of its file.

    A rank's own work takes no time, as in the simulation.
    """
    if cluster.clusters.count > 1:
        raise UserError("--predict: the model knows no slow links between groups of nodes")
    name = cluster.name if cluster.name in MACHINES else OWN_BASE
    costs = known_costs(name)
    network = cluster.network
    costs["network"] |= {
        "latency": network.latency_us * 1000,
        "byte": 1 / network.gigabytes,
        "overhead": network.overhead_us * 1000,
        "gap": network.gap_us * 1000,
        "prompt": cluster.eager_bytes,
    }
    costs["own"] = {"call": 0, "step": 0, "copy": 0, "combine": 0}
    return model_of(json.dumps(costs), name)


@contextmanager
def _as_simulated() -> Iterator[None]:
    """The environment in which the simulated ranks choose: the user's, with what it lacks."""
    added = [name for name in SIMULATED if name not in os.environ]
    os.environ.update({name: SIMULATED[name] for name in added})
    try:
        yield
    finally:
        for name in added:
            del os.environ[name]


def predict_all(settings: Settings, results: Results) -> list[Prediction]:
    """A prediction for each cell, by the algorithm that the simulated ranks chose."""
    model = model_of_cluster(settings.machine)
    shape = f"node:{settings.machine.nodes} core:{settings.machine.cores}"
    placed = plan_machine.Machine.parse(shape).place(
        settings.ranks, "round_robin" if settings.deal == "round_robin" else "block"
    )
    levels = placed.levels()
    nodes = [placed.group_of(rank, "node").index for rank in range(settings.ranks)]
    if len(set(nodes)) == 1:
        nodes = []
    where = Where(settings.ranks, shared_levels(levels), nodes, "net", 0, [])
    predictions = []
    for cell in settings.cells:
        name = core_name(cell.collective)
        simulated = results.time(TUTTI, cell)
        if name not in core().collectives():
            predictions.append(Prediction(cell, "", None, simulated, "v-collectives are not known"))
            continue
        with _as_simulated():
            found = core().explain(
                name, cell.bytes, settings.ranks, cell.root, False, [], "", "", levels, nodes
            )
        candidate = Candidate(found["runs"], found["wanted_segment_bytes"])
        question = Question(name, cell.bytes, cell.root, levels, where)
        order, refused = predicted(model, question, [candidate])
        predictions.append(
            Prediction(
                cell,
                candidate.label,
                order[0].microseconds if order else None,
                simulated,
                refused[0] if refused else "",
            )
        )
    return predictions


def as_json(predictions: list[Prediction]) -> dict[str, Any]:
    known = [abs(one.difference) for one in predictions if one.difference is not None]
    return {
        "cells": [
            asdict(one.cell)
            | members(one, "algorithm", "difference")
            | {"predicted_us": one.predicted, "simulated_us": one.simulated}
            for one in predictions
        ],
        "median_difference": median(known) if known else None,
    }


COLUMNS = [
    words("collective", lambda one: one.cell.collective),
    number("size", lambda one: size_text(one.cell.bytes) if one.cell.bytes else ""),
    words("algorithm", lambda one: one.algorithm),
    number("simulated us", lambda one: "" if one.simulated is None else f"{one.simulated:.2f}"),
    number(
        "predicted us", lambda one: one.why_not if one.predicted is None else f"{one.predicted:.2f}"
    ),
    number(
        "difference", lambda one: "" if one.difference is None else f"{100 * one.difference:+.1f}%"
    ),
]


def show(predictions: list[Prediction], console: Console) -> None:
    title = "predictions beside the simulation of Tutti"
    console.print(table_of(title, COLUMNS, predictions))
    found = as_json(predictions)["median_difference"]
    if found is not None:
        console.print(f"median difference: {100 * found:.1f}%", highlight=False)
