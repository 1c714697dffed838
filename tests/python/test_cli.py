"""The command line: its output; bad input gives one line and exit code 2."""

import json
import subprocess
import sys

import pytest
import tutti as package
from tutti.cli import whole_app
from tutti.places import core
from typer.testing import CliRunner


def test_version(tutti):
    done = tutti("--version")
    assert (done.returncode, done.stdout) == (0, f"tutti {package.__version__}\n")


def test_help_names_every_command(tutti):
    done = tutti("--help")
    assert done.returncode == 0
    for command in ("bench", "doctor", "plan", "trace"):
        assert command in done.stdout


def test_the_command_line_loads_only_what_every_command_needs():
    script = "import sys, tutti.cli; print(sorted({'numpy', 'matplotlib'} & sys.modules.keys()))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "[]\n"


BAD_INPUT = [
    (["nonsense"], "nonsense"),
    (["--nonsense"], "--nonsense"),
    (["plan", "show"], "collective"),
    (["plan", "show", "bcast", "--ranks", "2"], "--algorithm"),
    (["plan", "show", "bcast", "--algorithm", "flat"], "--ranks"),
    (["plan", "show", "broadcast", "--algorithm", "flat", "--ranks", "2"], "broadcast"),
    (["plan", "show", "bcast", "--algorithm", "round", "--ranks", "2"], "round"),
    (["plan", "show", "bcast", "--algorithm", "all_read_all", "--ranks", "2"], "all_read_all"),
    (["plan", "show", "bcast", "--algorithm", "nary:1", "--ranks", "2"], "nary:1"),
    (["plan", "show", "bcast", "--algorithm", "flat:3", "--ranks", "2"], "flat:3"),
    (["plan", "show", "bcast", "--algorithm", "flat", "--ranks", "0"], "--ranks"),
    (["plan", "show", "bcast", "--algorithm", "flat", "--ranks", "99999999999999"], "--ranks"),
    (["plan", "show", "bcast", "--algorithm", "flat", "--ranks", "two"], "--ranks"),
    (["plan", "show", "bcast", "--algorithm", "flat", "--ranks", "3", "--root", "3"], "--root"),
    (["plan", "show", "bcast", "--algorithm", "flat", "--ranks", "3", "--root", "-1"], "--root"),
    (["plan", "show", "barrier", "--algorithm", "flat", "--ranks", "3", "--root", "1"], "root"),
    (["plan", "show", "bcast", "--algorithm", "flat", "--ranks", "3", "--rank", "3"], "--rank"),
    (
        ["plan", "show", "bcast", "--algorithm", "flat", "--ranks", "3", "--carrier", "pigeon"],
        "pigeon",
    ),
    (["plan", "check", "/nonexistent/plan"], "/nonexistent/plan"),
    (["plan", "check", "/"], "/"),
    (["plan", "check", "/dev/null"], "/dev/null"),
    (["bench", "calls", "--ranks", "2,x"], "'x'"),
    (["bench", "calls", "--ranks", "0"], "'0'"),
    (["bench", "calls", "--ranks", ""], "--ranks"),
    (["bench", "calls", "--ranks", "2000"], "'2000'"),
    (["bench", "calls", "--bytes", "12"], "'12'"),
    (["bench", "calls", "--bytes", "0"], "'0'"),
    (["bench", "calls", "--bytes", "8,,64"], "--bytes"),
    (["bench", "calls", "--bytes", "2048M"], "'2048M'"),
    (["bench", "calls", "--collectives", "allreduce,alltoallx"], "alltoallx"),
    (["bench", "calls", "--repetitions", "0"], "--repetitions"),
    (["bench", "calls", "--budget-ms", "0"], "--budget-ms"),
    (["bench", "calls", "--bind", "socket"], "socket"),
    (["bench", "calls", "--bind", "core", "--ranks", "1000"], "more ranks (1000) than cores"),
    (["bench", "calls", "--peer-settings", "worst"], "worst"),
    (["bench", "calls", "--mpi", "nosuchmpi"], "nosuchmpi"),
    (
        ["bench", "calls", "--json-file", "/nonexistent/directory/file.json"],
        "/nonexistent/directory",
    ),
    (["bench", "calls", "--json-file", "/"], "--json-file"),
    (["bench", "calls", "--plot", "/nonexistent/directory/plot"], "--plot"),
    (["model", "rules", "--table", __file__], __file__),
]


@pytest.mark.parametrize(
    ("arguments", "culprit"),
    BAD_INPUT,
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_input_is_one_line_that_names_the_culprit(tutti, arguments, culprit):
    done = tutti(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("tutti: ")
    assert culprit in lines[0]


FULL = [
    ["plan", "list"],
    ["plan", "show", "allreduce", "--algorithm", "flat", "--ranks", "4"],
    ["sim", "--list"],
    ["sim", "--list", "--json"],
    ["explain", "barrier", "--ranks", "2"],
    ["doctor", "--json"],
    ["plan", "compile", "/dev/null", "--ranks", "2"],
    ["--version"],
]


@pytest.mark.parametrize("arguments", FULL, ids=" ".join)
def test_output_to_a_full_disk_is_one_line(arguments):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "tutti.cli", *arguments],
            stdout=full, stderr=subprocess.PIPE, text=True, timeout=120, check=False,
        )  # fmt: skip
    assert done.returncode in (1, 2)
    assert len(done.stderr.splitlines()) == 1 and "None" not in done.stderr, done.stderr
    assert done.stderr.startswith("tutti: ")
    if "compile" not in arguments:
        assert "No space left on device" in done.stderr


def test_plan_list_names_every_algorithm(tutti):
    done = tutti("plan", "list", "--json")
    assert done.returncode == 0
    listed = json.loads(done.stdout)["algorithms"]
    assert {a["name"] for a in listed} >= {"flat", "binomial", "nary", "all_read_all"}
    shown = tutti("plan", "list").stdout
    for algorithm in listed:
        assert algorithm["name"] in shown


def every_plan():
    for algorithm in core().algorithms():
        for collective in algorithm["collectives"]:
            yield collective, algorithm["name"]


@pytest.mark.parametrize(("collective", "algorithm"), list(every_plan()))
def test_plan_show_is_a_plan_that_checks(collective, algorithm):
    """Runs in this process, because starting two processes for each plan would take very long."""
    shown = CliRunner().invoke(
        whole_app(), ["plan", "show", collective, "--algorithm", algorithm, "--ranks", "5"]
    )
    assert shown.exit_code == 0, shown.output
    assert shown.stdout.startswith("tutti-plan 1\n")
    assert "# check: right" in shown.stdout
    for rank in range(5):
        assert f"# program of rank {rank} of 5: {collective}" in shown.stdout
    checked = CliRunner().invoke(whole_app(), ["plan", "check", "-"], input=shown.stdout)
    assert checked.exit_code == 0, checked.output
    assert f"{collective}, 5 ranks" in checked.stdout


def test_plan_show_json_agrees_with_the_text(tutti):
    arguments = (
        "plan",
        "show",
        "reduce",
        "--algorithm",
        "binomial",
        "--ranks",
        "6",
        "--root",
        "4",
        "--carrier",
        "slot",
    )
    document = json.loads(tutti(*arguments, "--json").stdout)
    assert (document["collective"], document["ranks"], document["root"]) == ("reduce", 6, 4)
    assert document["check"]["rank_order"] is True
    assert [program["rank"] for program in document["programs"]] == list(range(6))
    text = tutti(*arguments).stdout
    transfers = [line for line in text.splitlines() if line.startswith(("copy", "reduce", "push"))]
    assert len(transfers) == len(document["transfers"])
    kinds = {kind for kind, _, _ in core().step_kinds()}
    assert all(
        step["kind"] in kinds for program in document["programs"] for step in program["steps"]
    )


def test_plan_show_one_rank(tutti):
    text = tutti(
        "plan", "show", "bcast", "--algorithm", "flat", "--ranks", "4", "--rank", "2"
    ).stdout
    assert "program of rank 2 of 4" in text
    assert "program of rank 1 of 4" not in text


WRONG_PLAN = """tutti-plan 1
collective allreduce
algorithm mine
ranks 2
blocks 1
reduce out[0] <- in[0], in[1]
copy out[1] <- in[1]
"""


def test_plan_check_refuses_a_wrong_plan_with_its_line(tutti, tmp_path):
    file = tmp_path / "wrong.plan"
    file.write_text(WRONG_PLAN)
    done = tutti("plan", "check", str(file))
    assert done.returncode == 1  # the plan is well formed but wrong, so the code is 1 and not 2
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert "out[1]" in done.stderr
    right = tmp_path / "right.plan"
    right.write_text(WRONG_PLAN.replace("<- in[1]\n", "<- out[0]\n"))
    assert tutti("plan", "check", str(right)).returncode == 0


def test_plan_check_names_file_and_line_of_a_typing_error(tutti, tmp_path):
    file = tmp_path / "typing.plan"
    file.write_text(WRONG_PLAN.replace("copy", "cpoy"))
    done = tutti("plan", "check", str(file))
    assert done.returncode == 2
    assert f"{file}:7:" in done.stderr


@pytest.mark.parametrize("ranks", ["2", "2000"])
def test_a_closed_pipe_gives_no_message(ranks):
    words = [
        sys.executable,
        "-m",
        "tutti.cli",
        "plan",
        "show",
        "bcast",
        "--algorithm",
        "flat",
        "--ranks",
        ranks,
    ]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        said = process.stderr.read()
        assert process.wait(60) == 1
    assert said == ""
