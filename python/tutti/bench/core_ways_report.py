"""Tables, JSON and plots of `tutti bench apps NAME --core-ways N`: whole times relative to messages,
and to transfers by the ranks alone, as in the paper's figures 5 to 8 and 10."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from tutti.bench.applications import Applications, Place
from tutti.bench.applications_results import times_of
from tutti.bench.core_ways import BY_RANKS, MESSAGES, SERVED
from tutti.bench.reading import COMMUNICATION, WHOLE
from tutti.bench.statistics import Ratio, centre, geometric_mean
from tutti.bench.texts import interval_text, ratio_text, time_text
from tutti.bench.variants import Variant
from tutti.figures import Bars, legend_below, legend_of, new_figure, save, side_by_side
from tutti.rows import grouped
from tutti.tables import Table, number, table_of, words

BASES = (MESSAGES, BY_RANKS)
WAYS = (BY_RANKS, *SERVED)


@dataclass(frozen=True)
class Group:
    """The problems of one variant of an MPI at one place."""

    measured: Applications
    variant: Variant  # with Tutti, in the first way
    places: tuple[Place, ...]  # one for each problem

    def times(self, place: Place, way: str, name: str = WHOLE) -> list[float]:
        """Seconds by repetition."""
        ways = self.measured.settings.variants(place.ranks)
        mine = (self.variant.mpi, self.variant.setting)
        heap = self.variant.heap and way != MESSAGES
        found = next(
            one for one in ways if ((one.mpi, one.setting), one.heap, one.form) == (mine, heap, way)
        )
        return times_of(self.measured.of(place, found), name)

    @property
    def transfers(self) -> str:
        """Their kind."""
        ways = self.measured.settings.core_ways
        return "" if ways is None else ways.transfers

    def over(self, base: str, way: str, place: Place | None) -> Ratio:
        """The ratio of a problem; None: the mean over all of them."""
        places = (place,) if place else self.places
        return geometric_mean([(self.times(one, base), self.times(one, way)) for one in places])

    def communicating(self, place: Place, way: str) -> float:
        """The fraction of the whole."""
        return centre(self.times(place, way, COMMUNICATION)) / centre(self.times(place, way))

    @property
    def label(self) -> str:
        return f"{self.variant.mpi.label}, {self.places[0].text.partition(', ')[2]}"


def groups_of(measured: Applications) -> list[Group]:
    settings, groups = measured.settings, []
    for places in grouped(settings.places, lambda place: (place.delay, place.ranks)).values():
        for variant in settings.variants(places[0].ranks):
            if variant.form == BY_RANKS:
                groups.append(Group(measured, variant, tuple(places)))
    return groups


def group_table(group: Group, base: str) -> Table:
    """Rows are problems, and their mean; columns are ways."""

    def ratio(row: Place | None, way: str) -> str:
        found = group.over(base, way, row)
        return f"{ratio_text(found)} ({interval_text(found)})"

    def milliseconds(row: Place | None) -> str:
        return "" if row is None else time_text(1e3 * centre(group.times(row, base)))

    def fraction(row: Place | None) -> str:
        return "" if row is None else f"{100 * group.communicating(row, base):.0f}%"

    columns = [
        words("problem", lambda row: row.problem if row else "mean"),
        number(f"{base}, ms", milliseconds),
        number("communicating", fraction),
    ]
    for way in WAYS:
        if way != base:
            columns.append(number(way, lambda row, way=way: ratio(row, way)))
    title = (
        f"{group.measured.settings.application} by {group.transfers}, {group.label}: {base}, whole "
        "over that of a way"
    )
    return table_of(title, columns, [*group.places, None])


def show_ways(measured: Applications, console: Console) -> None:
    for group in groups_of(measured):
        for base in BASES:
            console.print(group_table(group, base))


def ways_json(measured: Applications) -> list[dict[str, Any]]:
    """A row for each problem and way, and for the mean over the problems (`problem` null)."""
    return [
        {
            "mpi": group.variant.mpi.name,
            "shared_heap": group.variant.heap,
            **asdict(place or group.places[0]),
            "problem": place.problem if place else None,
            "transfers": group.transfers,
            "way": way,
            "over_messages": asdict(group.over(MESSAGES, way, place)),
            "over_by_ranks": asdict(group.over(BY_RANKS, way, place)),
            "communicating": group.communicating(place, way) if place else None,
        }
        for group in groups_of(measured)
        for place in (*group.places, None)
        for way in WAYS
    ]


def draw_ways(measured: Applications, stem: Path) -> list[Path]:
    """Panels like the paper's figures: the fraction in communication (5), and whole times relative
    to each base (6 to 8, 10). Writes STEM.png and STEM.svg and returns their paths."""
    groups = groups_of(measured)
    figure, grid = new_figure(len(groups), 3, (13, 3.4 * len(groups) + 0.6))
    for row, group in zip(grid, groups, strict=True):
        names = [place.problem for place in group.places]
        for axes, base in zip(row, (None, *BASES), strict=True):
            bars, most = [], 1.0
            for colour, way in enumerate((MESSAGES, *WAYS)):
                if base is None:
                    heights = [100 * group.communicating(one, way) for one in group.places]
                    bars.append(Bars(way, heights, colour))
                elif way != base:
                    ratios = [group.over(base, way, one) for one in group.places]
                    heights = [ratio.value for ratio in ratios]
                    ends = [(one.low or one.value, one.high or one.value) for one in ratios]
                    bars.append(Bars(way, heights, colour, intervals=ends))
                    most = max(most, *heights)
            side_by_side(axes, names, bars)
            axes.set_xticks(range(len(names)), names, fontsize=7)
            if base is not None:
                axes.axhline(1, color="black", linewidth=0.7)
                axes.set_ylim(0, 1.5 * most)  # an interval of few repetitions may be wide
            title = "percent in communication" if base is None else f"times as fast as {base}"
            axes.set_title(title, fontsize=9)
        row[0].set_ylabel(group.label, fontsize=7)
    kind = groups[0].transfers
    figure.suptitle(f"{measured.settings.application} by {kind}: ways to give cores", fontsize=10)
    legend_below(figure, *legend_of(grid[0]), columns=6)
    return save(figure, stem)
