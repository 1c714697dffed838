"""The table that a tuning writes, the rules of an existing table that stay in it, and the summary
that a tuning shows.

Private memory and memory that all ranks reach are tuned separately. A tuning for the shared heap
replaces only the rules for the same memory, collectives and rank counts. A tuning for private
memory writes a new table, but keeps the rules for memory that all ranks reach. Comments stay with
their rules.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from tutti import __version__
from tutti.bench.document import processor_name
from tutti.bench.statistics import Ratio
from tutti.bench.texts import size_text, time_text
from tutti.choose.candidates import Candidate, size_word
from tutti.choose.picking import Pick, TunedRule
from tutti.choose.placement import Placement
from tutti.errors import UserError
from tutti.places import core
from tutti.tables import number, table_of, words
from tutti.tuning.jobs import TuneSettings

# Opens the part of a table that one tuning wrote; the part ends before the next such line or
# BEFORE.
WRITTEN = "# Written by tutti tune "
BEFORE = "# What the table had before:"
Rule = dict[str, Any]  # a rule as core().read_map returns it


def existing_table(path: Path) -> str:
    """The text of a table, empty if there is no such file.

    Raises UserError if the file is not a table, because tuning would overwrite it.
    """
    if not path.exists():
        return ""
    try:
        core().table_rules(str(path))
        return path.read_text()
    except (core().Error, OSError, UnicodeDecodeError) as error:
        raise UserError(
            f"--output: {error}; '{path}' exists and is not a table: remove it, or give another "
            "file"
        ) from error


def for_reached_memory(rule: Rule) -> bool:
    condition, _, _ = rule["text"].partition(" -> ")
    return " reached yes" in condition


def _before_what_was_written(comments: list[str]) -> list[str]:
    """The comments without the opening lines of a tuning of which no rule is left."""
    return next(
        (comments[:place] for place, line in enumerate(comments) if line.startswith(WRITTEN)),
        comments,
    )


def _left(text: str, stays: Callable[[Rule], bool]) -> str:
    """A table's text without its first line and without the removed rules and their comments.

    The comments of a rule are the lines right above it.
    """
    rules = {rule["line"]: rule for rule in core().read_map(text)["rules"]}
    left: list[str] = []
    above: list[str] = []  # comments and empty lines since the last rule that stays
    for at, line in enumerate(text.splitlines(), 1):
        if line.startswith((WRITTEN, BEFORE)):
            above = _before_what_was_written(above)
        if at not in rules:
            if (
                line.split()[:1] != ["tutti-map"]
                and line != BEFORE
                and (line.strip() or (left + above)[-1:] not in ([], [""]))
            ):
                above.append(line.rstrip())
        elif stays(rules[at]):
            left += [*above, line]
            above = []
        else:
            while above and above[-1]:
                above.pop()
    left += _before_what_was_written(above)
    return "\n".join(left).strip("\n")


def kept_rules(text: str, settings: TuneSettings) -> str:
    """The part of a table's text that stays, without its first line; empty if no rule stays."""
    least, most = min(settings.ranks), max(settings.ranks)

    def stays(rule: Rule) -> bool:
        if not settings.shared_heap:
            return for_reached_memory(rule)
        low, high = rule["ranks"]
        measured = rule["collective"] in settings.collectives and least <= low and high <= most
        return not (for_reached_memory(rule) and measured)

    if not text or not any(map(stays, core().read_map(text)["rules"])):
        return ""
    return _left(text, stays)


def ratio_words(ratio: Ratio) -> str:
    words = f"{ratio.value:.2f}x"
    return words if ratio.low is None else f"{words}, {ratio.low:.2f} to {ratio.high:.2f}"


def rule_text(rule: TunedRule) -> str:
    """The rule as a line of a table."""
    low, high = rule.ranks
    ranks = str(low) if low == high else f"{low}..{high}"
    words = [
        rule.collective,
        "ranks",
        ranks,
        "oversubscribed",
        "yes" if rule.oversubscribed else "no",
    ]
    if rule.nodes > 1:
        words += ["nodes", str(rule.nodes)]
    elif rule.collective != "barrier":  # a barrier moves no data, so `reached` does not apply
        words += ["reached", "yes" if rule.reached else "no"]
    first, last = rule.sizes
    if first or last is not None:
        words += [
            "sizes",
            f"{size_word(first) if first else ''}..{size_word(last) if last is not None else ''}",
        ]
    return " ".join([*words, "->", f"builtin:{rule.label}"])


def _cell_comment(one: Pick, default: str) -> str:
    where = f"{one.cell.ranks} ranks" + (
        f", {size_word(one.cell.bytes)} bytes" if one.cell.bytes else ""
    )
    assert one.ratio is not None
    predicted = "" if one.ratio.low is not None else ", predicted"
    return (
        f"# {where}: {default} {one.default_us:.2f} us, now {one.tuned_us:.2f} "
        f"({ratio_words(one.ratio)}{predicted})"
    )


def how_decided(settings: TuneSettings, repetitions: int) -> str:
    heap = ", shared heap" if settings.shared_heap else ""
    if settings.shape is not None:
        return f"by predictions alone{heap}"
    where = "by predictions, and among threads where candidates are near"
    if settings.mpi is not None:
        where = settings.mpi.label
    return f"{where}{heap}, medians of {repetitions} repetitions"


def table_text(
    rules: list[TunedRule],
    settings: TuneSettings,
    repetitions: int,
    defaults: dict[Pick, str],
    existing: str = "",
) -> str:
    """The text of the whole table.

    `defaults`: the default's algorithm for each pick. `existing`: the text of the table before this
    tuning. Rules for memory that all ranks reach come first, whether they are old or new.
    """
    where = settings.shape or f"{processor_name()}, {settings.cores} cores"
    lines = [
        f"{WRITTEN}{__version__} on {time.strftime('%Y-%m-%d')}: {where};",
        f"# {how_decided(settings, repetitions)}.",
        "# To use this table: tutti-run --table FILE, or TUTTI_TABLE=FILE.",
        "# Where no rule matches, Tutti uses its own choice. Each rule was faster than that "
        "choice by",
        f"# more than the noise and a margin of {settings.margin:.0%}. In brackets: how many "
        "times faster,",
        "# and the 95% confidence interval.",
    ]
    for rule in rules:
        lines.append("")
        lines += [_cell_comment(one, defaults[one]) for one in rule.picks]
        lines.append(rule_text(rule))
    written, kept = "\n".join(lines) + "\n", kept_rules(existing, settings)
    if not kept:
        return f"tutti-map 1\n{written}"
    return (
        f"tutti-map 1\n{written}\n{BEFORE}\n{kept}\n"
        if settings.shared_heap
        else f"tutti-map 1\n{kept}\n\n{written}"
    )


@dataclass(frozen=True)
class Served:
    """The default's choice for a cell."""

    algorithm: str
    segment_bytes: int  # from its rule; 0: the executor chooses
    reach: str = ""  # from its rule; "": as ranks can
    place: str = ""  # the place of the rule, as default.map:12

    @property
    def candidate(self) -> Candidate:
        return Candidate(self.algorithm, self.segment_bytes, self.reach)

    @property
    def label(self) -> str:
        return self.candidate.label


def default_of(
    collective: str,
    size: int,
    ranks: int,
    oversubscribed: bool,
    reached: bool = False,
    levels: str = "",
    nodes: Sequence[int] = (),
    table: str = "",
) -> Served:
    """The core's choice without plans and variables; the caller has cleared those.

    `levels` and `nodes`: as in `Placement`. `table`: the file of a table; "": none.
    """
    found = core().explain(
        collective, size, ranks, 0, oversubscribed, [], table,
        levels=levels, node_of=list(nodes), reached=reached,
    )  # fmt: skip
    rule = found["considered"][found["chosen"]]
    return Served(found["runs"], found["wanted_segment_bytes"], rule["reach"], rule["place"])


def default_on(collective: str, size: int, placement: Placement, table: str = "") -> Served:
    """The same for ranks that each have a core."""
    return default_of(
        collective,
        size,
        placement.ranks,
        False,
        placement.reached,
        placement.known_levels,
        placement.nodes,
        table,
    )


def show_summary(
    picks: list[Pick], defaults: dict[Pick, str], unconfirmed: int, console: Console
) -> None:
    """Prints the changes and their number.

    `unconfirmed`: the number of cells whose candidate won the race but not the second measurement.
    """
    changed = [one for one in picks if one.label is not None]
    if changed:
        columns = [
            words("collective", lambda one: one.cell.collective),
            number("ranks", lambda one: str(one.cell.ranks)),
            number("bytes", lambda one: size_text(one.cell.bytes) if one.cell.bytes else ""),
            words("default", lambda one: defaults[one]),
            words("tuned", lambda one: one.label),
            number("default us", lambda one: time_text(one.default_us)),
            number("tuned us", lambda one: time_text(one.tuned_us)),
            number("speed-up (95%)", lambda one: ratio_words(one.ratio)),
        ]
        title = "Changes from the default (microseconds)"
        console.print(table_of(title, columns, changed, title_justify="center"))
    more = (
        f", {unconfirmed} of them because a second measurement did not confirm a candidate's lead"
        if unconfirmed
        else ""
    )
    console.print(
        f"{len(changed)} of {len(picks)} measured cells change; the others keep Tutti's "
        f"choice{more}.",
        highlight=False,
    )
