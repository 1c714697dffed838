"""The server that runs commands for tests (commands.py) behaves as new processes do."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from commands import CommandServer

PLAN = ["plan", "show", "allreduce", "--algorithm", "flat", "--ranks", "3"]


def new_process(arguments, stdin, cwd):
    return subprocess.run(
        [sys.executable, "-m", "tutti.cli", *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        cwd=cwd,
        timeout=120,
        check=False,
    )


@pytest.fixture(scope="module")
def text():
    """A plan."""
    return new_process(PLAN, "", "/").stdout


@pytest.mark.parametrize(
    ("arguments", "stdin"),
    [
        (PLAN, ""),
        (["plan", "check", "-"], None),
        (["plan", "check", "-"], "no plan\n"),
        (["plan", "check", "missing"], ""),
        (["nonsense"], ""),
    ],
)
def test_the_outcome_is_that_of_a_new_process(commands, tmp_path, text, arguments, stdin):
    """Without `stdin` the command reads a plan."""
    given = text if stdin is None else stdin
    new = new_process(arguments, given, tmp_path)
    copy = commands.run(arguments, dict(os.environ), given, 60, tmp_path)
    assert (copy.returncode, copy.stdout, copy.stderr) == (new.returncode, new.stdout, new.stderr)


def test_the_environment_is_that_of_the_command(commands):
    """A variable of one command is unknown to the next one."""
    explain = ["explain", "allreduce", "--bytes", "8", "--ranks", "2"]
    wrong = commands.run(explain, dict(os.environ) | {"TUTTI_WAIT": "none"}, "", 60, Path("/"))
    right = commands.run(explain, dict(os.environ), "", 60, Path("/"))
    assert wrong.returncode != 0 and "TUTTI_WAIT" in wrong.stderr
    assert right.returncode == 0 and right.stderr == ""


def test_a_command_that_takes_too_long_is_ended(commands, text):
    with pytest.raises(subprocess.TimeoutExpired):
        commands.run(PLAN, dict(os.environ), "", 0.0001, Path("/"))
    assert commands.run(PLAN, dict(os.environ), "", 60, Path("/")).stdout == text


def test_the_server_ends_with_its_client():
    server = CommandServer()
    server.close()  # waits for it
