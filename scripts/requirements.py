"""Prints the requirements in pyproject.toml, one on each line.

Usage: requirements.py GROUP...

GROUP is `build` (build-system.requires), `runtime` (project.dependencies), `python`
(project.requires-python) or the name of a dependency group. Only pyproject.toml states versions;
this script lets shell scripts read it. It needs only Python 3.10 or newer with pip.
"""

import sys
from pathlib import Path

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10 has no TOML reader, but its pip contains one
    from pip._vendor import tomli as tomllib


def requirements(project: dict, group: str) -> list[str]:
    if group == "build":
        return project["build-system"]["requires"]
    if group == "runtime":
        return project["project"]["dependencies"]
    if group == "python":
        return [project["project"]["requires-python"]]
    groups = project["dependency-groups"]
    if group not in groups:
        known = ", ".join(["build", "runtime", "python", *groups])
        sys.exit(f"requirements.py: unknown group '{group}'; groups of pyproject.toml are {known}")
    return groups[group]


def main() -> None:
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    path = Path(__file__).resolve().parent.parent / "pyproject.toml"
    project = tomllib.loads(path.read_text(encoding="utf-8"))
    for group in sys.argv[1:]:
        print("\n".join(requirements(project, group)))


if __name__ == "__main__":
    main()
