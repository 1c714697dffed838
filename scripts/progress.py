"""Shows the output of `cmake --build` as one progress bar.

Usage: COMMAND 2>&1 | progress.py LOG

LOG gets every line. Ninja's lines, such as "[12/470] Building ...", become one line that a
terminal shows and updates, or a line at each quarter of the steps if the output is not a terminal.
Messages of compilers are shown unchanged.
"""

import re
import sys
import time
from pathlib import Path
from typing import TextIO

STEP = re.compile(r"\[(\d+)/(\d+)\] (.*)")
OMITTED = ("ninja: Entering directory", "ninja: no work to do")
WIDTH = 30


class Bar:
    def __init__(self, output: TextIO) -> None:
        self.output = output
        self.terminal = output.isatty()
        self.began = time.monotonic()
        self.quarter = 0
        self.drawn = False

    def step(self, done: int, total: int, what: str) -> None:
        if self.terminal:
            filled = WIDTH * done // total
            name = what.split("/")[-1].removesuffix(".o")[:36]
            self.output.write(
                f"\r\x1b[K   [{'#' * filled}{'.' * (WIDTH - filled)}] {done}/{total} {name}"
            )
            self.drawn = True
        elif (quarter := 4 * done // total) > self.quarter:
            self.quarter = quarter
            self.output.write(
                f"   {done} of {total} steps after {time.monotonic() - self.began:.0f} s\n"
            )
        self.output.flush()

    def line(self, text: str) -> None:
        self.clear()
        self.output.write(text + "\n")
        self.output.flush()

    def clear(self) -> None:
        if self.drawn:
            self.output.write("\r\x1b[K")
            self.output.flush()
        self.drawn = False


def show(lines: TextIO, log: TextIO, output: TextIO) -> None:
    bar = Bar(output)
    for line in lines:
        log.write(line)
        text = line.rstrip("\n")
        if step := STEP.fullmatch(text):
            bar.step(int(step[1]), max(1, int(step[2])), step[3])
        elif not text.startswith(OMITTED):
            bar.line(text)
    bar.clear()


def main() -> None:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    sys.stdin.reconfigure(errors="replace")
    with Path(sys.argv[1]).open("w", encoding="utf-8") as log:
        show(sys.stdin, log, sys.stdout)


if __name__ == "__main__":
    main()
