"""`tutti plan draw` and `tutti plan play`."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from tutti.drawing.graph import Graph, document, graph_of
from tutti.errors import UserError
from tutti.places import core
from tutti.plan.command.files import ALGORITHM_HELP, ROOT_HELP, generate, read, write
from tutti.plan.command.machines import DEAL_HELP, SHAPES, deal_of, levels_of, machine

# A drawing of more ranks is unreadable.
MOST_RANKS = 1024

What = Annotated[
    str,
    typer.Argument(
        help="A collective (with --algorithm and --ranks), or the file of a plan or a tree; - "
        "reads stdin."
    ),
]
Algorithm = Annotated[str | None, typer.Option(help=ALGORITHM_HELP)]
Ranks = Annotated[int | None, typer.Option(help="Number of ranks.")]
Root = Annotated[int, typer.Option(help=ROOT_HELP)]
Shape = Annotated[
    str | None,
    typer.Option(help=f"The machine: {SHAPES} (default: the plan's own shape, else one node)."),
]
Deal = Annotated[str, typer.Option(help=DEAL_HELP)]


def _plan(
    what: str, algorithm: str | None, ranks: int | None, root: int, shape: str | None, deal: str
) -> Any:
    if what in core().collectives():
        if algorithm is None or ranks is None:
            raise UserError(f"{what}: give --algorithm and --ranks to select a plan")
        if not 1 <= ranks <= MOST_RANKS:
            raise UserError(f"--ranks: {ranks} is out of range; give 1 to {MOST_RANKS}")
        return generate(what, algorithm, ranks, root, levels_of(shape, deal, ranks))
    if algorithm is not None or ranks is not None or root != 0:
        raise UserError(
            f"'{what}' is read as a file, which has its own algorithm, ranks and root; leave "
            "--algorithm, --ranks and --root out"
        )
    plan = read(Path(what))
    if plan.ranks > MOST_RANKS:
        raise UserError(
            f"'{what}' has {plan.ranks} ranks; plans of at most {MOST_RANKS} ranks can be drawn"
        )
    return plan


def _graph(plan: Any, shape: str | None, deal: str) -> Graph:
    text = shape if shape is not None else plan.shape or f"core:{plan.ranks}"
    return graph_of(plan, machine(text).place(plan.ranks, deal_of(deal)))


def _refusal(plan: Any) -> str:
    """The reason why the check refuses a plan, or "". A wrong plan is drawn too, with a warning."""
    try:
        core().check(plan)
    except core().Error as error:
        return str(error)
    return ""


def title_of(graph: Graph, deal: str) -> str:
    plan = graph.plan
    name = f"{plan.collective} {plan.algorithm}".strip()
    noun = "rank" if plan.ranks == 1 else "ranks"
    text = f"{name}, {plan.ranks} {noun}" + (
        f", root {plan.root}" if core().rooted(plan.collective) else ""
    )
    if len(graph.placed.nodes) > 1 or len(graph.placed.numa) > 1:
        dealt = {"block": "in blocks", "round_robin": "round robin"}.get(deal, f"on cores {deal}")
        text += f" on {graph.placed.shape or f'{len(graph.placed.nodes)} nodes'}, dealt {dealt}"
    return text


def _warn(refusal: str) -> None:
    if refusal:
        print(
            "tutti: warning: the check refuses this plan: " + " ".join(refusal.split()),
            file=sys.stderr,
        )


def draw(
    what: What,
    algorithm: Algorithm = None,
    ranks: Ranks = None,
    root: Root = 0,
    shape: Shape = None,
    deal: Deal = "block",
    layout: Annotated[
        str,
        typer.Option(
            help="tree: draw the plan's tree of ranks; machine: draw the ranks in the machine's "
            "boxes; auto: tree if it fits."
        ),
    ] = "auto",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The file: FILE.svg or FILE.png.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the contents of the drawing as JSON.")
    ] = False,
) -> None:
    """Draw a plan's messages between ranks over the machine's tree."""
    if output is None and not as_json:
        raise UserError("there is no output; give -o FILE.svg, -o FILE.png or --json")
    if output is not None and output.suffix.lower() not in (".svg", ".png"):
        raise UserError(f"-o: the name '{output}' does not end in .svg or .png; give one that does")
    if layout not in ("auto", "tree", "machine"):
        raise UserError(f"--layout: '{layout}' is unknown; known are auto, tree, machine")
    plan = _plan(what, algorithm, ranks, root, shape, deal)
    _warn(_refusal(plan))
    graph = _graph(plan, shape, deal)
    if output is not None:
        from tutti.drawing.figure import render
        from tutti.drawing.panels import as_trees

        if layout == "tree" and not as_trees(graph, layout):
            raise UserError(
                "--layout tree: this plan's messages do not form a tree; give --layout machine"
            )
        render(graph, title_of(graph, deal), output, layout)
    if as_json:
        print(json.dumps(document(graph, deal), indent=1))


def play(
    what: What,
    output: Annotated[Path, typer.Option("--output", "-o", help="The file: FILE.html.")],
    algorithm: Algorithm = None,
    ranks: Ranks = None,
    root: Root = 0,
    shape: Shape = None,
    deal: Deal = "block",
) -> None:
    """Make an HTML page that shows a plan step by step.

    The page is one file and needs no network.
    """
    if output.suffix.lower() != ".html":
        raise UserError(f"-o: the name '{output}' does not end in .html; give one that does")
    from tutti.drawing.page import page

    plan = _plan(what, algorithm, ranks, root, shape, deal)
    refusal = _refusal(plan)
    _warn(refusal)
    graph = _graph(plan, shape, deal)
    write(output, page(graph, title_of(graph, deal), refusal))
