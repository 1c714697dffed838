"""Checks that the rooms of src/ include each other only as the table in docs/architecture.md says.

Usage: check_includes.py [SOURCE_DIRECTORY [TABLE_FILE]]

The table under "Rooms" has a row for each room: its directory, what it holds, and the rooms that it
may include. A room may also include itself and `base`. A directory inside a room may have a row of
its own (`src/mpi/entry`); it is then a room by itself, and a file belongs to the innermost room
around it. A grant names one room and not the rooms inside it. Unit tests (*_test.cpp and test_*.h)
may include any room, because they put rooms together. A few system headers belong to named rooms or
files; that holds for tests too.

Prints one line for each fault and exits 1: an include that the table does not grant, a row whose
directory is missing, a directory without a row, and rows that grant each other in a circle.
"""

import re
import sys
from collections.abc import Mapping
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
TABLE = REPOSITORY / "docs" / "architecture.md"

# Every room may include it.
BASE = "base"

# Headers that only these rooms, or files whose names begin so, may include. JSON is made only at the
# beginning and at the end of a job: no call of a collective reaches code that builds it.
OWNERS = {
    "mpi.h": ("mpi/abi/", "mpi/entry/"),
    "mpi_abi.h": ("mpi/abi/", "mpi/entry/"),
    "hwloc.h": ("topo/hwloc.cpp",),
    "nlohmann/json.hpp": ("base/json.h",),
    "base/json.h": (
        "base/json",
        "exec/program_text.cpp",
        "model/injection/machine.h",
        "model/machine.cpp",
        "model/predicted_trace.cpp",
        "mpi/roll/",
        "report/",
        "rma/saturation_test.cpp",
        "trace/header.cpp",
    ),
    "base/json_part.h": (
        "base/json",
        "model/injection/machine.cpp",
        "model/machine.cpp",
        "rma/saturation_file.cpp",
    ),
    "linux/futex.h": ("shm/doorbell.cpp",),  # the only waiter
}

# The public header's room, as rows grant it. Its files are included as tutti/NAME.
PUBLIC = "include/tutti"

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
ROW = re.compile(r"^\| `src/([^`]+)` \|.*\|([^|]*)\|$", re.MULTILINE)

Rules = Mapping[str, frozenset[str]]


def read_rules(table: Path) -> dict[str, frozenset[str]]:
    """The rooms that each room may include, by the rows of the table."""
    rules = {}
    for row in ROW.finditer(table.read_text(encoding="utf-8")):
        words = row[2].replace("`", "").split(",")
        rules[row[1].rstrip("/")] = frozenset(word.strip() for word in words if word.strip())
    return rules


def room_of(name: str, rules: Rules) -> str | None:
    """The innermost room around a file, whose name is relative to src/."""
    parts = name.split("/")[:-1]
    while parts:
        room = "/".join(parts)
        if room in rules:
            return room
        parts.pop()
    return None


def is_test(name: str) -> bool:
    return name.endswith("_test.cpp") or name.startswith("test_")


def complaint(rules: Rules, name: str, quote: str, header: str) -> str | None:
    """Why the file of this name may not include the header, or None."""
    room = room_of(name, rules)
    for owned, owners in OWNERS.items():
        if header == owned and not name.startswith(owners):
            return f"only {' and '.join(owners)} may include {owned}"
    if quote == "<" or "/" not in header:
        return None
    target = PUBLIC if header.startswith("tutti/") else room_of(header, rules)
    if target is None:
        return f"'{header.rsplit('/', 1)[0]}' is no room of src/"
    if target in {room, BASE} or is_test(name.rsplit("/", 1)[-1]):
        return None
    granted = rules[room] if room is not None else frozenset()
    if target in granted:
        return None
    return f"{room} may include {', '.join(sorted(granted | {BASE}))}, not {target}"


def circle(rules: Rules) -> list[str]:
    """Rooms that may include each other in a circle, with the first one again at the end; else []."""
    done: set[str] = set()

    def visit(room: str, way: list[str]) -> list[str]:
        if room in way:
            return [*way[way.index(room) :], room]
        if room in done:
            return []
        for granted in sorted(rules.get(room, frozenset())):
            if found := visit(granted, [*way, room]):
                return found
        done.add(room)
        return []

    for room in rules:
        if found := visit(room, []):
            return found
    return []


def check_rows(source: Path, rules: Rules) -> list[str]:
    """The faults of the table itself."""
    complaints = [
        f"{source / room}: is no directory; remove the row from the table of rooms"
        for room in rules
        if not (source / room).is_dir()
    ]
    complaints += [
        f"src/{room}: may include '{granted}', which has no row; name a room of the table"
        for room, rooms in rules.items()
        for granted in sorted(rooms)
        if granted not in rules and granted != PUBLIC
    ]
    if found := circle(rules):
        complaints.append(f"rooms include each other in a circle: {' -> '.join(found)}")
    return complaints


def check(source: Path, table: Path) -> list[str]:
    rules = read_rules(table)
    if not rules:
        return [f"{table}: no table of rooms; its rows begin with | `src/ROOM` |"]
    files = sorted(path for path in source.rglob("*") if path.suffix in {".h", ".cpp", ".c"})
    if not files:
        return [f"{source}: no source files; give the directory that holds the rooms"]
    complaints = check_rows(source, rules)
    for file in files:
        name = file.relative_to(source).as_posix()
        if room_of(name, rules) is None:
            complaints.append(f"{file}: is in no room; add a row to the table of rooms in {table}")
            continue
        text = file.read_text(encoding="utf-8")
        for match in INCLUDE.finditer(text):
            why = complaint(rules, name, match[1], match[2])
            if why:
                line = text.count("\n", 0, match.start(2)) + 1
                complaints.append(f"{file}:{line}: includes {match[2]}: {why}")
    return complaints


def main() -> int:
    source = Path(sys.argv[1]) if len(sys.argv) > 1 else REPOSITORY / "src"
    complaints = check(source, Path(sys.argv[2]) if len(sys.argv) > 2 else TABLE)
    print("\n".join(complaints) or "includes run one way")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
