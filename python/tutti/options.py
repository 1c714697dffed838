"""Options that several commands have, each declared once, and commands whose options are the fields
of a class.
"""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from tutti.plan.command.files import ROOT_HELP
from tutti.plan.command.machines import DEAL_HELP


def option(words: str, *names: str, metavar: str | None = None, **limits: Any) -> Any:
    return typer.Option(*names, metavar=metavar, help=words, **limits)


BYTES_HELP = (
    "Message sizes in bytes: of one rank's part, or of the whole vector if all ranks have it"
)
AsJson = Annotated[bool, option("Write JSON instead of tables.", "--json")]
JsonFile = Annotated[str | None, option("Also write all numbers to this file.", metavar="FILE")]
Plot = Annotated[str | None, option("Draw FILE.png and FILE.svg.", metavar="FILE")]
Output = Annotated[str | None, option("Write it to this file.", "--output", "-o", metavar="FILE")]
Bytes = Annotated[str, option(f"{BYTES_HELP}.")]
Collectives = Annotated[
    str, option("Which collectives: all, or names that `tutti explain` takes, with commas between.")
]
RankCounts = Annotated[
    str | None,
    option(
        "Rank counts, as in 2,4,8 (default: 2, the number of cores, twice the number of cores)."
    ),
]
Root = Annotated[int, option(ROOT_HELP)]
Deal = Annotated[str, option(DEAL_HELP)]
Reached = Annotated[bool, option("Ranks reach each other's buffers, as with --shared-heap.")]
LateRanks = Annotated[
    str | None, option("Ranks that make the call later, as in 3=2.5,7=10 (microseconds).")
]
Costs = Annotated[
    Path | None,
    option(
        "A machine's costs: a file as `tutti model measure` writes it (docs/model.md), or the name "
        "of a machine that comes with Tutti (`tutti model machines`)."
    ),
]


def taking(
    options: type[Any], run: Callable[[Any], None], names: Sequence[str] | None = None
) -> Callable[..., None]:
    """A command whose options are these fields of a dataclass, or all of them. `run` gets the
    object, and its docstring is the help."""
    types = get_type_hints(options, include_extras=True)
    defaults = {
        field.name: inspect.Parameter.empty if field.default is MISSING else field.default
        for field in fields(options)
    }
    names = list(defaults) if names is None else names

    def command(**values: Any) -> None:
        run(options(**values))

    command.__doc__ = run.__doc__
    command.__annotations__ = {name: types[name] for name in names}
    command.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, default=defaults[name], annotation=types[name]
            )
            for name in names
        ]
    )
    return command
