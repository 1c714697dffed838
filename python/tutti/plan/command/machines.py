"""The machine and the deal of ranks that commands are given with --shape and --deal."""

from tutti.errors import UserError
from tutti.plan.machine import DEALS, Deal, Machine

SHAPES = "'node:4 core:8', this (what hwloc finds here), or an XML file that lstopo wrote"
DEAL_HELP = "How ranks are dealt: block, round_robin, or each rank's core, 0,4,1,5."


def machine(shape: str) -> Machine:
    if shape == "this":
        return Machine.this()
    if shape.endswith(".xml") or "/" in shape:
        return Machine.from_xml(shape)
    return Machine.parse(shape)


def levels_of(shape: str | None, deal: str, ranks: int) -> str:
    """What so many ranks, bound to the cores of a machine, share; without a shape nothing is known."""
    return "" if shape is None else machine(shape).place(ranks, deal_of(deal)).levels()


def nodes_of(shape: str | None, deal: str, ranks: int) -> list[int]:
    """The node of each of so many ranks; nothing where all are on one."""
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
