"""The machine and the placement of ranks that the options --shape and --deal give."""

import json
from pathlib import Path

from tutti.errors import UserError
from tutti.plan.machine import DEALS, Deal, Machine

SHAPES = (
    "a shape such as 'node:4 core:8', `this` for this machine, an XML file from lstopo, or what "
    "--machine takes: a machine that `tutti model machines` lists, or its file"
)
DEAL_HELP = "How ranks are placed: block, round_robin, or the core of each rank, as in 0,4,1,5."


def shape_of_costs(name: str) -> str:
    """The shape in a machine's file, or of a machine that comes with Tutti. Raises UserError."""
    from tutti.predict.machines import read_model

    shape: str | None = json.loads(read_model(Path(name)).text).get("shape")
    if not shape:
        raise UserError(f"'{name}' has no \"shape\"; add it to the file")
    return shape


def _is_machine(name: str) -> bool:
    """True for the file of a machine, or the name of one that comes with Tutti."""
    from tutti.predict.machines import known_files

    return name.endswith(".json") or name in known_files()


def machine(shape: str) -> Machine:
    if shape == "this":
        return Machine.this()
    if _is_machine(shape):
        return Machine.parse(shape_of_costs(shape))
    if shape.endswith(".xml") or "/" in shape:
        return Machine.from_xml(shape)
    return Machine.parse(shape)


def levels_of(shape: str | None, deal: str, ranks: int) -> str:
    """The levels that so many ranks share if they are bound to a machine's cores; "" without a
    shape.
    """
    return "" if shape is None else machine(shape).place(ranks, deal_of(deal)).levels()


def nodes_of(shape: str | None, deal: str, ranks: int) -> list[int]:
    """The node of each rank; empty if all ranks are on one node."""
    if shape is None:
        return []
    placed = machine(shape).place(ranks, deal_of(deal))
    return (
        [placed.group_of(rank, "node").index for rank in range(ranks)]
        if len(placed.nodes) > 1
        else []
    )


def deal_of(text: str) -> Deal:
    if text in DEALS:
        return text
    try:
        return [int(number) for number in text.split(",")]
    except ValueError:
        raise UserError(
            f"--deal: '{text}' is neither {' nor '.join(DEALS)} nor a list of cores such as 0,4,1,5"
        ) from None
