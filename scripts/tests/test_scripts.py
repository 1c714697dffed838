"""The build's scripts name missing parts and remedies on one line, and leave nothing half done."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[1]


def run(*command: object, **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, **environment},
    )


def stand_in(directory: Path, name: str, body: str) -> None:
    """Puts a command with the given body before the system's own on the PATH."""
    path = directory / name
    path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    path.chmod(0o755)


def copied_to(directory: Path) -> Path:
    """A copy of the scripts, whose logs are not those of tests beside this one."""
    return shutil.copytree(SCRIPTS, directory / "scripts", ignore=shutil.ignore_patterns("tests"))


def test_missing_packages_without_root_print_the_one_command(tmp_path: Path) -> None:
    stand_in(tmp_path, "id", "echo 1000")
    stand_in(tmp_path, "apt-get", f"touch {tmp_path}/called")
    result = run(
        SCRIPTS / "system_packages.sh",
        "build",
        PYTHON="/no/such/python",
        PATH=f"{tmp_path}:{os.environ['PATH']}",
    )
    assert result.returncode == 2
    assert len(result.stderr.splitlines()) == 1
    assert "missing python3" in result.stderr
    assert "sudo sh -c 'apt-get update && apt-get install -y" in result.stderr
    assert not (tmp_path / "called").exists()


def test_root_installs_missing_packages_and_tests_again(tmp_path: Path) -> None:
    stand_in(tmp_path, "id", "echo 0")
    stand_in(tmp_path, "apt-get", f'echo "$@" >>{tmp_path}/called')
    result = run(
        copied_to(tmp_path) / "system_packages.sh",
        "build",
        PYTHON="/no/such/python",
        PATH=f"{tmp_path}:{os.environ['PATH']}",
    )
    update, install = (tmp_path / "called").read_text(encoding="utf-8").splitlines()
    assert update == "-o Acquire::Retries=3 update"
    assert install.startswith("-o Acquire::Retries=3 install -y --no-install-recommends python3 ")
    assert "installing system packages: python3 " in result.stdout
    assert result.returncode == 2
    assert "still missing after apt-get install: python3 " in result.stderr


def test_a_package_that_fails_is_one_short_line(tmp_path: Path) -> None:
    """Behind the end of the output; the command with all packages is in the log."""
    stand_in(tmp_path, "id", "echo 0")
    stand_in(tmp_path, "apt-get", 'case "$*" in *update) ;; *) echo "E: 404"; exit 100 ;; esac')
    result = run(
        copied_to(tmp_path) / "system_packages.sh",
        "build",
        PYTHON="/no/such/python",
        PATH=f"{tmp_path}:{os.environ['PATH']}",
    )
    output, message = result.stderr.splitlines()
    assert output == "E: 404"
    assert len(message) < 160
    assert (
        "apt-get -o Acquire::Retries=3 install" in message
        and "build/logs/apt-install.log" in message
    )
    assert " python3 " in (tmp_path / "build/logs/apt-install.log").read_text().splitlines()[0]


def test_the_last_line_counts_masked_failures(tmp_path: Path) -> None:
    copied_to(tmp_path)
    commands = tmp_path / ".venv/bin"
    commands.mkdir(parents=True)
    stand_in(
        commands,
        "ctest",
        "mkdir -p build/Testing/Temporary\n"
        "printf '[  SKIPPED ] 2 tests, listed below:\\n[  SKIPPED ] A.B\\n[  SKIPPED ] 1 test, "
        "listed below:\\n' >build/Testing/Temporary/LastTest.log\n"
        "echo '100% tests passed, 0 tests failed out of 9'",
    )
    stand_in(commands, "mypy", "echo 'Success: no issues found'")
    stand_in(
        commands,
        "python",
        "echo 'tests/x.py::test_y: E' >>$TEST_TUTTI_RETRIES\n"
        "echo '=== 10 passed, 4 skipped, 1 xfailed, 2 warnings in 1.5s ==='",
    )
    result = run(tmp_path / "scripts/test.sh", "quick")
    assert result.returncode == 0, result.stderr
    *_, again, last = result.stdout.splitlines()
    assert again == "tried again: tests/x.py::test_y: E"
    assert last == (
        "masked failures: 11 skipped, 2 expected to fail, 0 expected to fail that passed, "
        "2 tried again"
    )


def test_a_complete_system_is_left_alone() -> None:
    result = run(SCRIPTS / "system_packages.sh", "test")
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


@pytest.mark.parametrize("group", ["build", "runtime", "development", "mpich", "openmpi", "intel"])
def test_every_python_package_has_a_version(group: str) -> None:
    result = run(sys.executable, SCRIPTS / "requirements.py", group)
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines
    assert all(">=" in line or "==" in line for line in lines)


def test_unknown_groups_and_environments_are_named() -> None:
    result = run(sys.executable, SCRIPTS / "requirements.py", "cellar")
    assert result.returncode != 0
    assert "'cellar'" in result.stderr
    result = run(SCRIPTS / "environments.sh", "cellar")
    assert result.returncode == 2
    assert "'cellar'" in result.stderr


def test_current_environments_are_not_installed_again() -> None:
    result = run(SCRIPTS / "environments.sh", "venv", "mpich", "openmpi")
    assert (result.returncode, result.stdout) == (0, ""), result.stderr


def test_many_cores_says_how_it_is_used() -> None:
    result = run(SCRIPTS / "many_cores.sh", "pakc")
    assert result.returncode == 2
    assert result.stderr == "many_cores: usage: many_cores.sh pack [FILE] | run [DIRECTORY]\n"
