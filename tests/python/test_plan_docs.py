"""Every snippet of docs/plans.md runs with the output on the page, and every example in
examples/plans is right.

A code block with a file name behind its language is that file. `python` blocks without a name run
in order in one session. `sh` blocks run in a directory with the files, and must end with the exit
code behind `sh`, or 0. An `output` block is the output of the block before it.
tests/mpi/test_plan_page.py runs the `sh mpi` blocks.
"""

import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tutti.places import core
from tutti.plan.command.machines import machine
from tutti.plan.command.python_files import load

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples" / "plans").glob("*.py"))
BLOCK = re.compile(r"^```([a-z]+) ?([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks():
    return BLOCK.findall((ROOT / "docs" / "plans.md").read_text())


@pytest.fixture
def shell(tmp_path):
    """Runs a script as a reader of the page does, with `tutti` on the PATH."""
    programs = tmp_path / "programs"
    programs.mkdir()
    tutti = programs / "tutti"
    tutti.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m tutti.cli "$@"\n')
    tutti.chmod(0o755)
    work = tmp_path / "work"
    work.mkdir()
    env = {name: value for name, value in os.environ.items() if not name.startswith("TUTTI_")}
    env["PATH"] = f"{programs}:{env['PATH']}"
    env["LC_ALL"] = "C"

    def run(script, code=0):
        done = subprocess.run(
            ["bash", "-ec", script],
            cwd=work,
            env=env,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == code, f"{script}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    return work, run


def test_the_page_runs_from_top_to_bottom(shell):
    work, run = shell
    session = {}
    printed = ""
    counts = dict.fromkeys(("file", "python", "sh", "output"), 0)
    for language, argument, text in blocks():
        if language == "output":
            counts["output"] += 1
            assert printed.strip() == text.strip()
        elif language == "sh":
            if argument == "mpi":
                continue
            counts["sh"] += 1
            printed = run(text, int(argument or 0))
        elif argument:
            counts["file"] += 1
            file = work / argument
            file.parent.mkdir(exist_ok=True)
            file.write_text(text)
        else:
            counts["python"] += 1
            assert language == "python"
            said = io.StringIO()
            with contextlib.redirect_stdout(said):
                exec(compile(text, f"plans.md block {counts['python']}", "exec"), session)
            printed = said.getvalue()
    assert all(count >= 3 for count in counts.values()), counts
    for made in ("mine.svg", "mine.html", "figure3.svg", "log.plan"):
        assert (work / made).stat().st_size > 0
    assert not (work / "wrong.plan").exists()


def test_the_mistake_on_the_page_names_its_line(shell):
    work, _ = shell
    text = next(text for language, argument, text in blocks() if argument == "wrong_plans.py")
    (work / "wrong_plans.py").write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", "tutti.cli", "plan", "compile", "wrong_plans.py", "--ranks", "8"],
        cwd=work, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "wrong_plans.py:6" in done.stderr and len(done.stderr.splitlines()) == 1


def test_the_table_of_the_schemes_is_right():
    from tutti.plan import lam

    rows = re.findall(
        r"^\| `(\w+)`[^|]*\| (\d+) \| (\d+) \| (\d+) \|$",
        (ROOT / "docs" / "plans.md").read_text(),
        re.MULTILINE,
    )
    assert len(rows) == 4
    placed = machine("node:4 core:8").place(32, "round_robin")
    for scheme, messages, children, depth in rows:
        plan = lam.SCHEMES[scheme][1].build(placed)
        parents = {source: target for source, target, _ in plan.edges}
        counts = [sum(parent == rank for parent in parents.values()) for rank in range(32)]

        def height(rank, parents=parents):
            return 0 if rank not in parents else 1 + height(parents[rank])

        between = sum(
            placed.level(source, target) == "cluster" for source, target in parents.items()
        )
        assert (between, max(counts), max(map(height, range(32)))) == (
            int(messages),
            int(children),
            int(depth),
        ), scheme


def test_the_examples_of_the_reference_are_right():
    page = (ROOT / "docs" / "plan-format.md").read_text()
    examples = re.findall(
        r"^```(?:text)?\n(tutti-plan 1\n.*?)^```$", page, re.MULTILINE | re.DOTALL
    )
    plans = [core().read_plan(text, "example") for text in examples]
    assert {plan.collective for plan in plans} >= {
        "alltoall",
        "gather",
        "scan",
        "allreduce",
        "barrier",
        "bcast",
        "reduce",
    }
    assert all(core().check(plan).in_place for plan in plans)


def test_the_reference_knows_every_collective():
    page = (ROOT / "docs" / "plan-format.md").read_text()
    names = core().collectives()
    grammar = re.search(r"^collective = (.*?);$", page, re.MULTILINE | re.DOTALL).group(1)
    assert re.findall(r'"(\w+)"', grammar) == names
    rows = re.findall(
        r"^\| `(\w+)` \| (yes )?\| ([^|]*) \| ([^|]*) \| ([^|]*) \| ([^|]*) \|$", page, re.MULTILINE
    )
    assert [row[0] for row in rows] == names
    for name, root, *_ in rows:
        assert (root == "yes ") == core().rooted(name)
        definition = core().Definition(name, 4, 2 if root else 0, 3)
        _, _, has_in, in_blocks, has_out, _ = next(row for row in rows if row[0] == name)
        who = {"all ranks": [0, 1, 2, 3], "the root": [2], "all ranks but 0": [1, 2, 3]}
        assert [rank for rank in range(4) if definition.has_in(rank)] == who[has_in]
        assert [rank for rank in range(4) if definition.has_out(rank)] == who[has_out]
        blocks = {"1, the rank's part": 1, "`blocks`": 3, "one a rank, block j for rank j": 4}
        assert name == "barrier" or definition.in_blocks == blocks[in_blocks]


def test_the_maps_of_the_reference_are_read():
    page = (ROOT / "docs" / "plan-format.md").read_text()
    maps = re.findall(r"^```\n(tutti-map 1\n.*?)^```$", page, re.MULTILINE | re.DOTALL)
    rules = [rule for text in maps for rule in core().read_map(text)["rules"]]
    assert {"alltoall", "allgather", "scan"} <= {rule["collective"] for rule in rules}


SHAPES = (
    "core:1",
    "core:5",
    "node:2 core:4",
    "node:2 numa:2 core:2",
    "cluster:2 node:3 numa:2 core:3",
)


def test_there_are_five_examples():
    assert len(EXAMPLES) >= 5
    assert {load(str(file)).collective for file in EXAMPLES} == {
        "allreduce",
        "bcast",
        "barrier",
        "alltoall",
    }


@pytest.mark.parametrize(
    "deal", ["block", [0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11]], ids=["block", "dealt over regions"]
)
def test_the_alltoall_example_has_one_message_for_each_pair_of_regions(deal):
    placed = machine("numa:3 core:4").place(12, deal)
    plan = load(str(ROOT / "examples" / "plans" / "two_level_alltoall.py")).build(placed)
    between = [
        number for source, target, number in plan.edges if placed.level(source, target) == "node"
    ]
    assert len(between) == 6
    assert all(plan.transfers[number]["dst"]["count"] == 16 for number in between)
    assert core().check(plan).in_place


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
@pytest.mark.parametrize("shape", SHAPES)
def test_examples_are_right_for_all_shapes_deals_and_roots(file, shape):
    function = load(str(file))
    rooted = core().rooted(function.collective)
    for deal in ("block", "round_robin"):
        placed = machine(shape).place(deal=deal)
        for root in range(len(placed) if rooted else 1):
            found = core().check(function.build(placed, root=root))
            assert found.uniform


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_the_command_at_the_head_of_each_example_works(file, shell):
    work, run = shell
    command = re.search(r"^    (tutti plan compile .*)$", file.read_text(), re.MULTILINE)
    assert command is not None
    shutil.copytree(ROOT / "examples", work / "examples")
    run(command.group(1))
    assert (work / "my.plan").exists() or (work / "my-plans").is_dir()


def test_the_arrival_example_can_keep_rank_order():
    function = load(str(ROOT / "examples" / "plans" / "arrival_allreduce.py"))
    assert core().check(function.build(ranks=6)).arrival
    found = core().check(function.build(ranks=6, any_order=False))
    assert found.rank_order and not found.arrival
