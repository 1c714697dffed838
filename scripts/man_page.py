"""Writes the man page of tutti-run from what `tutti-run --help` prints: man_page.py TUTTI_RUN FILE

The help's form: a line of usage, a line that says what the program does, an option on each line that
is indented by two blanks, with its meaning behind two blanks more or on lines that are indented
further, and sentences at the end.
"""

import re
import subprocess
import sys
from pathlib import Path

OPTION = re.compile(r"  (-\S.*?)  +(\S.*)")


def escaped(text: str) -> str:
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^(?=[.'])", r"\\&", text)


def options_of(lines: list[str]) -> list[tuple[str, str]]:
    options: list[tuple[str, str]] = []
    for line in lines:
        if match := OPTION.fullmatch(line):
            options.append((match[1], match[2]))
        else:
            name, meaning = options[-1]
            options[-1] = (name, f"{meaning} {line.strip()}")
    return options


def page(help_text: str, version: str) -> str:
    usage, purpose, *lines = help_text.splitlines()
    options = options_of([line for line in lines if line.startswith(" ")])
    closing = [line for line in lines if not line.startswith(" ")]
    synopsis = escaped(usage.removeprefix("usage: "))
    written = [
        f'.TH TUTTI\\-RUN 1 "" "Tutti {version}" "User Commands"',
        ".SH NAME",
        "tutti\\-run \\- run an MPI program with fast collectives",
        ".SH SYNOPSIS",
        synopsis,
        ".SH DESCRIPTION",
        escaped(purpose),
        "It finds out which MPI the program uses, preloads the library for that MPI and becomes the",
        "program. If it cannot, one rank says why in one line, and all ranks end with exit code 2.",
        ".SH OPTIONS",
    ]
    for name, meaning in options:
        written += [".TP", f"\\fB{escaped(name)}\\fR", escaped(meaning)]
    written += [".SH ENVIRONMENT", *map(escaped, closing), ".SH EXAMPLE", ".nf"]
    written += ["mpiexec \\-n 4 tutti\\-run \\-\\-report ./app", ".fi", ""]
    return "\n".join(written)


def output(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def main(program: str, file: str) -> None:
    version = output(program, "--version").split()[-1]
    Path(file).write_text(page(output(program, "--help"), version), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
