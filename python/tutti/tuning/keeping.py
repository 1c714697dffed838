"""Decides which rules stay when a table is tuned again.

Private memory and memory that all ranks reach are tuned separately. A tuning for the shared heap
replaces only the rules for the same memory, collectives and rank counts. A tuning for private
memory writes a new table, but keeps the rules for memory that all ranks reach. Comments stay with
their rules.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tutti.errors import UserError
from tutti.places import core
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
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith((WRITTEN, BEFORE)):
            above = _before_what_was_written(above)
        if number not in rules:
            if (
                line.split()[:1] != ["tutti-map"]
                and line != BEFORE
                and (line.strip() or (left + above)[-1:] not in ([], [""]))
            ):
                above.append(line.rstrip())
        elif stays(rules[number]):
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
