"""Every measurement gives its user tables or JSON on stdout, a file of JSON, and a plot."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console

from tutti.bench.checks import output_file, plot_stem
from tutti.errors import cannot_write
from tutti.tables import new_console


class Output:
    """Where the results of one command go. It is made before anything is measured, and raises
    UserError if a file cannot be written.
    """

    def __init__(self, as_json: bool, json_file: str | None, plot: str | None, width: int) -> None:
        """Tables that are not printed to a terminal are `width` wide, as they need to be."""
        self.file = output_file("--json-file", json_file)
        self.stem = plot_stem(plot)
        self.as_json = as_json
        self.console = new_console(width, stderr=as_json)

    def present(
        self,
        show: Callable[[Console], None],
        document: Any,
        draw: Callable[[Path], list[Path]] | None = None,
    ) -> None:
        """`show` prints tables; `draw` writes files with a stem and returns their names."""
        text = json.dumps(document, indent=1)
        if self.as_json:
            print(text)
        else:
            show(self.console)
        written: list[Path] = []
        try:
            if self.file is not None:
                self.file.write_text(text + "\n")
                written.append(self.file)
            if self.stem is not None and draw is not None:
                written += draw(self.stem)
        except OSError as error:
            raise cannot_write(error, self.file or self.stem) from error
        for name in written:
            self.console.print(f"wrote {name}", highlight=False)
