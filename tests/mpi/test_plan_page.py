"""The snippets of docs/plans.md that need an MPI, and the example plans in real programs."""

import json
import re
import sys

import pytest
import support

pytestmark = pytest.mark.mpi
BLOCK = re.compile(r"^```([a-z]+) ?([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
RANKS = 4
SHAPE = "numa:2 core:2"


@pytest.fixture(params=["mpich", "openmpi"])
def host(request, host_named):
    return host_named(request.param)


def tutti(*arguments):
    done = support.run(
        [sys.executable, "-m", "tutti.cli", *arguments], environment=support.clean_environment()
    )
    assert done.returncode == 0, done.stderr


def test_the_page_with_an_mpi(host, tmp_path):
    """As tests/python/test_plan_docs.py, for `sh mpi` blocks and the blocks that compile their
    plans.
    """
    work, environment = support.reader_of_docs(host, tmp_path)
    (work / "hello_allreduce.py").write_text(
        (support.ROOT / "examples" / "hello_allreduce.py").read_text()
    )
    ran = []
    for language, argument, text in BLOCK.findall((support.ROOT / "docs" / "plans.md").read_text()):
        if argument == "mpi" or (language == "sh" and "plan compile" in text and not argument):
            done = support.run(["bash", "-ec", text], environment=environment, cwd=work)
            assert done.returncode == 0, f"{text}\n{done.stdout}\n{done.stderr}"
            if argument == "mpi":
                assert "4 ranks: the sum of 1 to 4 is 10" in done.stdout
                ran.append(done.stderr)
        elif language in ("text", "python") and argument:
            (work / argument).parent.mkdir(exist_ok=True)
            (work / argument).write_text(text)
    assert len(ran) == 3
    assert ["mine.tree" in ran[0], "mine.tree" in ran[1], "star.plan" in ran[2]] == [True] * 3, ran


def example(name, *options):
    return name, [
        str(support.ROOT / "examples" / "plans" / f"{name}.py"),
        "--ranks",
        str(RANKS),
        "--shape",
        SHAPE,
        *options,
    ]


def scheme(name, *options):
    return name, [f"tutti.plan.lam:{name}", "--ranks", str(RANKS), "--shape", SHAPE, *options]


PLANS = [
    ("allreduce", *example("hierarchical_allreduce")),
    ("allreduce", *example("arrival_allreduce")),
    ("bcast", *example("chain_bcast", "--all-roots")),
    ("barrier", *example("dissemination_barrier")),
    ("allreduce", *scheme("lam")),
    ("allreduce", *scheme("logarithmic")),
    ("bcast", *scheme("logarithmic_bcast", "--all-roots")),
    ("reduce", *scheme("logarithmic_reduce", "--all-roots")),
]


@pytest.mark.parametrize(
    ("collective", "name", "arguments"), PLANS, ids=[name for _, name, _ in PLANS]
)
def test_compiled_plans_run(host, compiled, tmp_path, collective, name, arguments):
    """The program checks every result."""
    directory = tmp_path / "plans"
    if "--all-roots" in arguments:
        tutti("plan", "compile", *arguments, "-o", str(directory))
    else:
        directory.mkdir()
        tutti("plan", "compile", *arguments, "-o", str(directory / f"{name}.plan"))
        (directory / "map").write_text(f"tutti-map 1\n{collective} -> {name}.plan\n")
    report = tmp_path / "report.json"
    program = compiled(host, "plans")
    options = [f"--plans={directory}", f"--report={report}"]
    support.expect_ok(
        support.job(
            host, RANKS, program, "roots", options=options, variables={"TUTTI_TOPOLOGY": SHAPE}
        )
    )
    ran = {
        row["algorithm"]
        for row in json.loads(report.read_text())["collectives"]
        if row["collective"] == collective
    }
    assert any(name in algorithm for algorithm in ran), ran
