"""Draws calls beside computations over several nodes (`tutti bench --overlap --hosts --plot`)."""

from itertools import groupby
from pathlib import Path

from tutti.bench.halo import WAYS as HALO_WAYS
from tutti.bench.lines import COLOURS
from tutti.bench.overlap_nodes import Row
from tutti.bench.texts import size_text
from tutti.bench.variants import PROGRESS

# Alpha and hatch for the end of a variant's name; the first that fits counts.
STYLES = {"+servers": (1.0, ""), "+tutti": (0.75, "//"), f"@{PROGRESS}": (0.5, ".."), "": (0.3, "")}


def _panel_of(row: Row) -> tuple[float, int, str, str]:
    return row.delay_ms, row.nodes, row.mpi, row.compute


def _kind_of(row: Row) -> tuple[str, int, str]:
    return row.collective, row.bytes, row.form


def _kind_text(kind: tuple[str, int, str]) -> str:
    collective, size, form = kind
    words = [collective, size_text(size) if size else "", HALO_WAYS.get(form, "")]
    return " ".join(filter(None, words))


def draw_overlap(rows: list[Row], stem: Path) -> list[Path]:
    """Writes STEM.png and STEM.svg and returns their paths.

    A panel for each delay, number of nodes, MPI and loop has a bar for each call and variant: the
    whole time over that of the computation alone. A mark shows the time of the blocking call and
    then the computation: what a call costs of which nothing is hidden.
    """
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    ordered = sorted(rows, key=_panel_of)
    panels = [(key, list(some)) for key, some in groupby(ordered, key=_panel_of)]
    kinds = list(dict.fromkeys(map(_kind_of, rows)))
    mpis = list(dict.fromkeys(row.mpi for row in rows))
    figure, grid = pyplot.subplots(
        len(panels),
        1,
        figsize=(max(9.0, 4 + 0.9 * len(kinds)), 1 + 3.0 * len(panels)),
        squeeze=False,
        layout="constrained",
    )
    for axes, ((delay, nodes, mpi, compute), some) in zip(grid[:, 0], panels, strict=True):
        variants = list(dict.fromkeys(row.variant for row in some))
        here = [kind for kind in kinds if any(_kind_of(row) == kind for row in some)]
        width = 0.8 / len(variants)
        for row in some:
            place = variants.index(row.variant)
            at = here.index(_kind_of(row)) + (place + 0.5) * width - 0.4
            ends = next(ending for ending in STYLES if row.variant.endswith(ending))
            alpha, hatch = STYLES[ends]
            axes.bar(
                at,
                row.whole_us / row.compute_us,
                width,
                label=row.variant,
                color=COLOURS[mpis.index(mpi) % len(COLOURS)],
                alpha=alpha,
                hatch=hatch,
            )
            axes.plot(
                [at - width / 2, at + width / 2],
                2 * [row.after_blocking_us / row.compute_us],
                color="black",
                linewidth=1.5,
                label="blocking call, then computation",
            )
        axes.axhline(1, color="black", linewidth=0.8)
        axes.set_xticks(
            range(len(here)), map(_kind_text, here), rotation=30, ha="right", fontsize=8
        )
        axes.set_ylabel("whole time over computation")
        axes.set_title(
            f"{nodes} nodes, delay {delay:g} ms one way, {mpi}, loop bound by {compute}; "
            "1: all is hidden",
            fontsize=10,
        )
        handles, names = axes.get_legend_handles_labels()
        shown = dict(zip(names, handles, strict=True))
        axes.legend(
            list(shown.values()),
            list(shown),
            fontsize=8,
            loc="upper left",
            bbox_to_anchor=(1.01, 1),
        )
    written = [stem.with_name(stem.name + suffix) for suffix in (".png", ".svg")]
    for name in written:
        figure.savefig(name, dpi=150)
    pyplot.close(figure)
    return written
