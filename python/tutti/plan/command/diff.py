"""`tutti plan diff` tells whether two plans are the same, and which transfers differ.

Two plans are the same if they differ only in the order of transfers that do not depend on each
other (and in comments, labels and file names). The depth of a transfer is the length of the
longest chain of transfers that must run before it. Plans with the same transfers at the same
depths are the same.
"""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from tutti.errors import UserError
from tutti.places import core
from tutti.plan.command.files import EXCHANGES, MOST_RANKS_OF_EXCHANGES, counted, read
from tutti.plan.command.machines import DEAL_HELP, SHAPES, deal_of, machine
from tutti.plan.machine import Placed

SETTINGS = ("collective", "ranks", "root", "commutative", "blocks", "shape")
# The most transfers and ranks that are printed; the JSON has all.
SHOWN = 24
# Limits the time of a comparison, whatever the plans.
MOST_BLOCKS = 1 << 22
Block = tuple[int, str, int]


def _blocks(region: dict[str, Any]) -> Iterator[Block]:
    for at in range(region["count"]):
        yield region["rank"], region["buffer"], region["first"] + at * region["stride"]


def depths(transfers: list[dict[str, Any]]) -> list[int]:
    """For each transfer, the length of the longest chain of earlier transfers that it depends on.

    A transfer depends on those whose results it reads or overwrites, on those whose sources it
    overwrites, and on those that a token of its rank waits for.
    """
    written: dict[Block, int] = {}  # the depth after the last write
    touched: dict[Block, int] = {}  # the depth after the last read or write
    latest: dict[int, int] = {}  # for each rank, the depth after all its transfers so far
    held: dict[int, int] = {}  # for each rank, the depth after its last token
    found = []
    for transfer in transfers:
        rank = transfer["executor"]
        sources = [block for source in transfer["src"] for block in _blocks(source)]
        targets = list(_blocks(transfer["dst"]))
        depth = max(
            max((written.get(block, 0) for block in sources), default=0),
            max((touched.get(block, 0) for block in targets), default=0),
            held.get(rank, 0),
        )
        if transfer["kind"] == "token":
            depth = max(depth, *(latest.get(source["rank"], 0) for source in transfer["src"]))
            held[rank] = depth + 1
        latest[rank] = max(latest.get(rank, 0), depth + 1)
        for block in sources:
            touched[block] = max(touched.get(block, 0), depth + 1)
        for block in targets:
            written[block] = touched[block] = depth + 1
        found.append(depth)
    return found


def keyed(plan: Any) -> Counter[tuple[int, str]]:
    """(depth, text) of each transfer."""
    if plan.moves > MOST_BLOCKS:
        raise UserError(
            f"a plan moves {plan.moves} blocks, but only plans of at most {MOST_BLOCKS} can be "
            "compared; use fewer, larger blocks"
        )
    return Counter(zip(depths(plan.transfers), plan.transfer_texts, strict=True))


def _operand(text: str, like: Any) -> Any:
    """The plan of a file, or of builtin:ALGORITHM with the collective, ranks and root of `like`."""
    if not text.startswith("builtin:"):
        return read(Path(text))
    if like is None:
        raise UserError(
            f"'{text}' can only be compared with a file, which gives the number of ranks; give one "
            "file"
        )
    if like.collective in EXCHANGES and like.ranks > MOST_RANKS_OF_EXCHANGES:
        raise UserError(
            f"'{text}': a built-in {like.collective} can have at most {MOST_RANKS_OF_EXCHANGES} "
            f"ranks, but the other plan has {like.ranks}; give two files"
        )
    try:
        return core().generate(
            like.collective, text.removeprefix("builtin:"), like.ranks, like.root
        )
    except core().Error as error:
        raise UserError(str(error)) from error


def _placed(one: Any, other: Any, shape: str | None, deal: str) -> Placed | None:
    """The ranks on their machine, for counting messages by level; None if no shape is known."""
    text = shape if shape is not None else one.shape or other.shape
    dealt = deal_of(deal)
    return (
        machine(text).place(max(one.ranks, other.ranks), dealt)
        if text or shape is not None
        else None
    )


def messages_by_level(plan: Any, placed: Placed) -> dict[str, int]:
    """The number of messages of each level. A message is the data of one transfer between two
    ranks.
    """
    return dict(Counter(placed.level(source, target) for source, target, _ in plan.edges))


def _by_rank(texts: list[str], executors: dict[str, int]) -> dict[str, int]:
    counts = Counter(executors[text] for text in texts)
    return {str(rank): counts[rank] for rank in sorted(counts)}


def _missing(texts: list[str], others: list[str]) -> list[str]:
    """The transfers, in plan order, that the other plan lacks or has less often."""
    spare = Counter(others)
    missing = []
    for text in texts:
        if spare[text] > 0:
            spare[text] -= 1
        else:
            missing.append(text)
    return missing


def compare(one: Any, other: Any, placed: Placed | None) -> dict[str, Any]:
    gone, new = (
        _missing(one.transfer_texts, other.transfer_texts),
        _missing(other.transfer_texts, one.transfer_texts),
    )
    moved = False
    if not gone and not new:
        # Depths are compared only if both plans have the same transfers: a transfer that was added
        # or removed changes the depths of others, which are no changes of their own.
        here, there = keyed(one), keyed(other)
        gone = [text for _, text in sorted((here - there).elements())]
        new = [text for _, text in sorted((there - here).elements())]
        moved = bool(gone)
    executors = {
        text: transfer["executor"]
        for plan in (one, other)
        for text, transfer in zip(plan.transfer_texts, plan.transfers, strict=True)
    }
    settings = {
        name: [getattr(one, name), getattr(other, name)]
        for name in SETTINGS
        if getattr(one, name) != getattr(other, name)
    }
    return {
        "format": "tutti-plan-diff 1",
        "same": not settings and not gone and not new,
        "settings": settings,
        "removed": gone,
        "added": new,
        "moved": moved,
        "removed_by_rank": _by_rank(gone, executors),
        "added_by_rank": _by_rank(new, executors),
        "levels": [messages_by_level(plan, placed) for plan in (one, other)] if placed else None,
    }


def _ranks_text(counts: dict[str, int]) -> str:
    shown = [f"rank {rank}: {count}" for rank, count in list(counts.items())[:SHOWN]]
    return ", ".join(shown + (["..."] if len(counts) > SHOWN else []))


def _text(found: dict[str, Any], names: tuple[str, str]) -> Iterator[str]:
    yield f"--- {names[0]}"
    yield f"+++ {names[1]}"
    for name, (before, after) in found["settings"].items():
        yield f"-{name} {before}"
        yield f"+{name} {after}"
    if found["moved"]:
        yield "the same transfers, but in an order that gives other dependences:"
    for sign, key in (("-", "removed"), ("+", "added")):
        texts = found[key]
        yield from (f"{sign}{text}" for text in texts[:SHOWN])
        if len(texts) > SHOWN:
            yield f"{sign}... and {len(texts) - SHOWN:,} more"
    for key in ("removed", "added"):
        if found[key]:
            by_rank = _ranks_text(found[f"{key}_by_rank"])
            yield f"{counted(len(found[key]), 'transfer')} {key}: {by_rank}"
    if found["levels"]:
        before, after = found["levels"]
        for level in sorted(before.keys() | after.keys()):
            yield f"messages over {level}: {before.get(level, 0)} -> {after.get(level, 0)}"


def diff(
    one: Annotated[
        str,
        typer.Argument(help="The file of a plan or a tree, - for stdin, or builtin:ALGORITHM."),
    ],
    other: Annotated[str, typer.Argument(help="The second plan, given in the same way.")],
    shape: Annotated[
        str | None,
        typer.Option(
            help=f"Count messages by level of this machine: {SHAPES} (default: the plans' shape, "
            "if any)."
        ),
    ] = None,
    deal: Annotated[str, typer.Option(help=DEAL_HELP)] = "block",
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON.")] = False,
) -> None:
    """Compare two plans: list the transfers added and removed.

    Transfers are also counted by rank and by level.

    The exit code is 1 if the plans differ.
    """
    if one == other == "-":
        raise UserError("stdin can be read only once; give a file as one of the two")
    first = None if one.startswith("builtin:") else _operand(one, None)
    second = _operand(other, first)
    first = first or _operand(one, second)
    found = compare(first, second, _placed(first, second, shape, deal))
    if as_json:
        print(json.dumps(found, indent=1))
    elif found["same"]:
        print(f"{one} and {other} are the same plan")
    else:
        print("\n".join(_text(found, (one, other))))
    if not found["same"]:
        raise typer.Exit(1)
