"""The page in which a plan runs step by step: what its scripts (pages/) work on, and their limits."""

import html
from typing import Any

from tutti.drawing.figure import caption
from tutti.drawing.flow import BUFFERS, Cell, Content, Event, at_start, everyone
from tutti.drawing.graph import LEVEL_TEXT, LEVELS, Graph
from tutti.drawing.layout import lay_out
from tutti.drawing.single_file import single_file
from tutti.errors import UserError

# What browsers bear: list entries, and regions that are marked.
MOST_TRANSFERS = 20_000
MOST_REGIONS = 400_000
MOST_CELLS = 1_000_000
SCRIPTS = ("contents.js", "drawing.js", "player.js")
PHASE_TEXT = {"reduce": "towards the result (reduce)", "bcast": "the result to all (bcast)"}
# Of a transfer's text; one that reads many ranks is longer than anybody reads.
MOST_TEXT = 240


def ranges(ranks: int) -> str:
    """The ranks of a set, as 0-3, 7 and the like."""
    words = []
    rank = 0
    while ranks >> rank:
        if not ranks >> rank & 1:
            rank += 1
            continue
        last = rank
        while ranks >> (last + 1) & 1:
            last += 1
        words.append(str(rank) if last == rank else f"{rank}-{last}")
        rank = last + 1
    return ", ".join(words)


class _Sets:
    """Each different set of ranks once; the page names them by number."""

    def __init__(self) -> None:
        self.numbers: dict[int, int] = {0: 0}

    def number(self, ranks: int) -> int:
        return self.numbers.setdefault(ranks, len(self.numbers))


def _runs(written: list[tuple[Cell, Content]], stride: int, sets: _Sets) -> list[list[int]]:
    """Blocks that hold the same set, and blocks of the vector as far apart as they are, in one run each."""
    runs: list[list[int]] = []
    for (_, _, block), content in written:
        number = sets.number(content.ranks)
        if runs and runs[-1][3] == number and content.block - runs[-1][4] == block - runs[-1][0]:
            runs[-1][1] += 1
        else:
            runs.append([block, 1, stride, number, content.block])
    return runs


def _transfer(
    event: Event, transfer: dict[str, Any], text: str, levels: dict[int, dict[int, int]], sets: _Sets
) -> dict[str, Any]:
    reads = [
        [region["rank"], BUFFERS.index(region["buffer"]), region["first"], region["first"] + (region["count"] - 1) * region["stride"]]
        for region in transfer["src"]
    ]
    return {
        "text": text if len(text) <= MOST_TEXT else f"{text[:MOST_TEXT]} ...",
        "step": event.step,
        "phase": event.phase,
        "target": event.target,
        "buffer": BUFFERS.index(transfer["dst"]["buffer"]),
        "writes": _runs(event.written, transfer["dst"]["stride"], sets),
        "reads": reads,
        "messages": [[source, level] for source, level in levels.get(event.number, {}).items()],
    }


def _tmp_blocks(graph: Graph) -> list[int]:
    blocks = [0] * graph.ranks
    for transfer in graph.transfers:
        for region in (transfer["dst"], *transfer["src"]):
            if region["buffer"] == "tmp":
                last = region["first"] + (region["count"] - 1) * region["stride"]
                blocks[region["rank"]] = max(blocks[region["rank"]], last + 1)
    return blocks


def _refuse_too_large(graph: Graph) -> None:
    regions = sum(1 + len(transfer["src"]) for transfer in graph.transfers)
    blocks = sum(_tmp_blocks(graph)) + 2 * graph.ranks * graph.plan.blocks
    for count, most, what in (
        (len(graph.transfers), MOST_TRANSFERS, "transfers"),
        (regions, MOST_REGIONS, "regions"),
        (blocks, MOST_CELLS, "blocks"),
    ):
        if count > most:
            raise UserError(f"the plan has {count} {what}, and {most} are the most that a page can play; take fewer ranks")


def _start(plan: Any, sets: _Sets) -> list[list[int]]:
    """[rank, buffer, set] for each buffer that holds something before the plan runs; block b of it is block b of its vector."""
    start = []
    for rank in range(plan.ranks):
        for number, buffer in enumerate(BUFFERS):
            content = at_start(plan, (rank, buffer, 0))
            if content.ranks:
                start.append([rank, number, sets.number(content.ranks)])
    return start


def page_data(graph: Graph, title: str, refusal: str) -> dict[str, Any]:
    """What the page's scripts work on."""
    plan = graph.plan
    _refuse_too_large(graph)
    sets = _Sets()
    start = _start(plan, sets)
    levels: dict[int, dict[int, int]] = {}
    for message in graph.messages:
        levels.setdefault(message.transfer, {})[message.source] = LEVELS.index(message.level)
    texts = plan.transfer_texts
    ordered = sorted(graph.events, key=lambda event: (event.step, event.number))
    listed = [_transfer(event, graph.transfers[event.number], texts[event.number], levels, sets) for event in ordered]
    tmp = _tmp_blocks(graph)
    cell = (1.9 if plan.blocks == 1 else 2.4, 1.5 if any(tmp) else 1.25)
    layout = lay_out(graph.placed, 1.9, cell, row_cost=0.35)
    shown = [level for level in LEVELS if level in graph.sums.levels]
    return {
        "format": "tutti-play 1",
        "title": title,
        "caption": "\n".join(caption(graph)),
        "refusal": refusal,
        "ranks": plan.ranks,
        "blocks": plan.blocks,
        "tmp": tmp,
        "complete": everyone(plan).bit_count(),
        "results": [plan.root] if plan.collective == "reduce" else list(range(plan.ranks)),
        "cell": cell,
        "width": layout.width,
        "height": layout.height,
        "boxes": [
            {"title": box.title, "level": box.level, "place": [box.x, box.y, box.width, box.height]} for box in layout.boxes
        ],
        "at": [layout.at[rank] for rank in range(plan.ranks)],
        "levels": [{"name": level, "text": LEVEL_TEXT[level], "shown": level in shown} for level in LEVELS],
        "phases": PHASE_TEXT if plan.collective != "barrier" else {"reduce": "arrivals", "bcast": "release"},
        "start": start,
        "transfers": listed,
        "sets": [ranges(ranks) for ranks in sets.numbers],
        "sizes": [ranks.bit_count() for ranks in sets.numbers],
    }


def page(graph: Graph, title: str, refusal: str = "") -> str:
    """The whole page, as text."""
    return single_file("tutti.drawing", SCRIPTS, page_data(graph, title, refusal), {"TITLE": html.escape(title)})
