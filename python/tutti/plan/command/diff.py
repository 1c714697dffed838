"""`tutti plan diff`: whether two plans are the same, and what one does that the other does not.

Two plans are the same where they differ in nothing but the order of transfers that do not depend on each other (and in
comments, labels, and the files they were written in). Every transfer is taken at its depth, the length of the longest
chain of transfers that must run before it; plans with the same transfers at the same depths mean the same.
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
# What is shown; all of it is in the JSON.
SHOWN = 24
# So that no text, however made, takes long to compare.
MOST_BLOCKS = 1 << 22
Block = tuple[int, str, int]


def _blocks(region: dict[str, Any]) -> Iterator[Block]:
    for at in range(region["count"]):
        yield region["rank"], region["buffer"], region["first"] + at * region["stride"]


def depths(transfers: list[dict[str, Any]]) -> list[int]:
    """For each transfer the longest chain of earlier ones that it depends on: it reads or overwrites what they wrote,
    or overwrites what they read, or they stand before a token of its rank."""
    written: dict[Block, int] = {}  # the depth after the last write
    touched: dict[Block, int] = {}  # the depth after the last read or write
    latest: dict[int, int] = {}  # by rank: the depth after all that it has done
    held: dict[int, int] = {}  # by rank: the depth after its last token
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
            f"a plan moves {plan.moves} blocks, and the order of at most {MOST_BLOCKS} can be compared; use fewer, larger blocks"
        )
    return Counter(zip(depths(plan.transfers), plan.transfer_texts, strict=True))


def _operand(text: str, like: Any) -> Any:
    """A file; or builtin:ALGORITHM, for the calls that the other plan serves."""
    if not text.startswith("builtin:"):
        return read(Path(text))
    if like is None:
        raise UserError(
            f"'{text}' is compared with a file, which says for how many ranks; give one of each"
        )
    if like.collective in EXCHANGES and like.ranks > MOST_RANKS_OF_EXCHANGES:
        raise UserError(
            f"'{text}' of {like.collective} is made for at most {MOST_RANKS_OF_EXCHANGES} ranks, and the other plan has "
            f"{like.ranks}; give two files"
        )
    try:
        return core().generate(
            like.collective, text.removeprefix("builtin:"), like.ranks, like.root
        )
    except core().Error as error:
        raise UserError(str(error)) from error


def _placed(one: Any, other: Any, shape: str | None, deal: str) -> Placed | None:
    """Where the ranks are, for counting messages by level; None where nobody said."""
    text = shape if shape is not None else one.shape or other.shape
    dealt = deal_of(deal)
    return (
        machine(text).place(max(one.ranks, other.ranks), dealt)
        if text or shape is not None
        else None
    )


def messages_by_level(plan: Any, placed: Placed) -> dict[str, int]:
    """How many messages cross each level; a message is what one rank hands another in one transfer."""
    return dict(Counter(placed.level(source, target) for source, target, _ in plan.edges))


def _by_rank(texts: list[str], executors: dict[str, int]) -> dict[str, int]:
    counts = Counter(executors[text] for text in texts)
    return {str(rank): counts[rank] for rank in sorted(counts)}


def _missing(texts: list[str], others: list[str]) -> list[str]:
    """The transfers, in plan order, that the other plan does not have, or not as often."""
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
        # What merely moved to another depth because of what was added or removed would be no change of its own.
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
        yield "the same transfers, in an order that means something else:"
    for sign, key in (("-", "removed"), ("+", "added")):
        texts = found[key]
        yield from (f"{sign}{text}" for text in texts[:SHOWN])
        if len(texts) > SHOWN:
            yield f"{sign}... and {len(texts) - SHOWN:,} more"
    for key in ("removed", "added"):
        if found[key]:
            yield f"{counted(len(found[key]), 'transfer')} {key}: {_ranks_text(found[f'{key}_by_rank'])}"
    if found["levels"]:
        before, after = found["levels"]
        for level in sorted(before.keys() | after.keys()):
            yield f"messages over {level}: {before.get(level, 0)} -> {after.get(level, 0)}"


def diff(
    one: Annotated[
        str, typer.Argument(help="A plan or a tree; - for stdin; or builtin:ALGORITHM.")
    ],
    other: Annotated[str, typer.Argument(help="Another one.")],
    shape: Annotated[
        str | None,
        typer.Option(
            help=f"Count messages by level of a machine: {SHAPES}; unless said, of the plans' shape."
        ),
    ] = None,
    deal: Annotated[str, typer.Option(help=DEAL_HELP)] = "block",
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON.")] = False,
) -> None:
    """Compare two plans: transfers added and removed, by rank and by level; exit code 1 where they differ."""
    if one == other == "-":
        raise UserError("stdin can be read once; give a file as one of the two")
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
