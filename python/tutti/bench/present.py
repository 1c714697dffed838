"""Every measurement gives its user tables or JSON on stdout, a file of JSON, and a plot."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from tutti.bench.checks import output_file, plot_stem
from tutti.errors import cannot_write
from tutti.tables import new_console

# The widths of tables that are not printed to a terminal.
WIDTH, WIDE, WIDEST = 132, 160, 176


@dataclass(frozen=True)
class Report:
    """The findings of a command, for all forms in which the user may ask for them."""

    show: Callable[[Console], None]  # prints tables
    document: Any  # for JSON
    draw: Callable[[Path], list[Path]] | None = (
        None  # writes files with a stem and returns their names
    )
    width: int = WIDTH
    note: str = ""  # a line before all else, beside JSON too
    failure: BaseException | None = None  # raised when all is written


class Output:
    """Where the results of one command go. It is made before anything is measured, and raises
    UserError if a file cannot be written.
    """

    def __init__(self, as_json: bool, json_file: str | None, plot: str | None) -> None:
        self.file = output_file("--json-file", json_file)
        self.stem = plot_stem(plot)
        self.as_json = as_json

    def present(self, results: Report) -> None:
        console = new_console(results.width, stderr=self.as_json)
        if results.note:
            console.print(results.note, highlight=False)
        text = json.dumps(results.document, indent=1)
        if self.as_json:
            print(text)
        else:
            results.show(console)
        written: list[Path] = []
        try:
            if self.file is not None:
                self.file.write_text(text + "\n")
                written.append(self.file)
            if self.stem is not None and results.draw is not None:
                written += results.draw(self.stem)
        except OSError as error:
            raise cannot_write(error, self.file or self.stem) from error
        for name in written:
            console.print(f"wrote {name}", highlight=False)
        if results.failure is not None:
            raise results.failure
