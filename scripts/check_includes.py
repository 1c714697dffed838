"""Holds the one-way includes between the rooms of src/.

Usage: check_includes.py [SOURCE_DIRECTORY]

A room may include itself and the rooms that RULES grants it; a few system headers belong to named rooms or
files. Unit tests (*_test.cpp and test_*.h) may look into any room, because they put rooms together, but the
owners of system headers hold for them too. Prints one line for each include that breaks a rule and exits 1.
"""

import re
import sys
from pathlib import Path

# Floor by floor: {mpi, native, python} -> {net, rma, group} -> {select, exec} -> {the tier below} -> base.
TIER = {"plan", "algo", "model", "shm", "kernels", "topo", "trace"}
BASE = {"base"}
LOWER = TIER | BASE
MIDDLE = {"select", "exec"} | LOWER
UPPER = {"net", "rma", "group"} | MIDDLE

RULES = {
    "base": set(),
    "topo": BASE,
    "plan": BASE,
    "kernels": BASE,
    "shm": BASE,
    "trace": BASE,
    "algo": {"plan", "topo"} | BASE,
    "model": {"plan", "topo"} | BASE,
    "select": LOWER,
    "exec": LOWER,
    "net": MIDDLE,
    "rma": MIDDLE,
    "group": MIDDLE,
    "native": {"rma", "group"} | MIDDLE,
    "python": {"native", "rma", "group"} | MIDDLE,
    "mpi": UPPER,
    "heap": {"shm"} | BASE,
    "run": {"topo", "shm"} | BASE,
}

# System headers that only these rooms, or files, may include.
OWNERS = {
    "mpi.h": ("mpi/", "net/"),
    "mpi_abi.h": ("mpi/", "net/"),
    "hwloc.h": ("topo/hwloc.cpp",),
}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def is_test(name: str) -> bool:
    return name.endswith("_test.cpp") or name.startswith("test_")


def complaint(source: Path, file: Path, quote: str, header: str) -> str | None:
    """Why this include is not allowed, or None."""
    place = file.relative_to(source).as_posix()
    room = place.split("/")[0]
    for owned, owners in OWNERS.items():
        if header == owned and not place.startswith(owners):
            return f"only {' and '.join(owners)} may include {owned}"
    if quote == "<" or "/" not in header:
        return None
    target = header.split("/")[0]
    if target == "tutti":  # the public header
        allowed = room in {"native", "python"} or is_test(file.name)
        return None if allowed else "only native and python see the public header"
    if target not in RULES:
        return f"'{target}' is no room of src/"
    if target == room or is_test(file.name) or target in RULES[room]:
        return None
    granted = ", ".join(sorted(RULES[room])) or "nothing"
    return f"{room} may include {granted}, not {target}"


def check(source: Path) -> list[str]:
    complaints = []
    files = sorted(path for path in source.rglob("*") if path.suffix in {".h", ".cpp", ".c"})
    if not files:
        return [f"{source}: no source files; give the directory that holds the rooms"]
    for file in files:
        room = file.relative_to(source).parts[0]
        if room not in RULES:
            complaints.append(
                f"{file}: '{room}' is no room; add it to RULES in scripts/check_includes.py"
            )
            continue
        text = file.read_text(encoding="utf-8")
        for match in INCLUDE.finditer(text):
            why = complaint(source, file, match[1], match[2])
            if why:
                line = text.count("\n", 0, match.start(2)) + 1
                complaints.append(f"{file}:{line}: includes {match[2]}: {why}")
    return complaints


def main() -> int:
    default = Path(__file__).resolve().parent.parent / "src"
    complaints = check(Path(sys.argv[1]) if len(sys.argv) > 1 else default)
    print("\n".join(complaints) or "includes run one way")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
