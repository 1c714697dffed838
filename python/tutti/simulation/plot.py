"""Draws simulations: time over size, a panel for each collective and root."""

from pathlib import Path

from tutti.figures import Line, Panel, draw_panels
from tutti.simulation.results import Results
from tutti.simulation.variants import TUTTI, Variant


def _panel(results: Results, collective: str, root: int, roots: bool) -> Panel:
    settings = results.settings
    cells = [one for one in settings.cells if (one.collective, one.root) == (collective, root)]
    lines = [
        Line(
            Variant(key).label,
            [results.time(key, cell) for cell in cells],
            place,
            "-" if key == TUTTI else "--",
            "o" if key == TUTTI else "x",
            at=(place + 0.5) / len(results.runs) - 0.5,
        )
        for place, key in enumerate(results.runs)
    ]
    title = f"{collective}, root {root}" if roots else collective
    return Panel(title, [cell.bytes for cell in cells], lines)


def draw(results: Results, stem: Path) -> list[Path]:
    """Writes STEM.png and STEM.svg and returns their paths."""
    settings = results.settings
    roots = any(cell.root != 0 for cell in settings.cells)
    panels = dict.fromkeys((cell.collective, cell.root) for cell in settings.cells)
    return draw_panels(
        [_panel(results, collective, root, roots) for collective, root in panels],
        "simulated us",
        stem,
        title=f"{settings.ranks} simulated ranks on {settings.machine.name}",
    )
