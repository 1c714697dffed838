"""The commands of README.md and of the start pages (docs/start-*.md) run, under MPICH and Open MPI.

The blocks are marked as those of docs/plans.md are (tests/python/test_plan_docs.py), and a reader
goes from the users' page to the others. The README's blocks `sh wheel` and `sh make` install, which
scripts/bare_machine.sh and continuous integration do; here what follows an installation runs.
"""

import re

import pytest
import support

pytestmark = pytest.mark.mpi
BLOCK = re.compile(r"^```([a-z]+) ?([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = ["users", "performance-engineers", "researchers"]


def blocks(page):
    return BLOCK.findall((support.ROOT / page).read_text())


@pytest.fixture(params=["mpich", "openmpi"])
def host(request, host_named):
    return host_named(request.param)


@pytest.fixture
def reader(host, tmp_path):
    """Runs a script in a reader's directory, with Tutti and one MPI on the PATH."""
    work, environment = support.reader_of_docs(host, tmp_path)
    del environment["TUTTI_SETUP_AFTER"]

    def run(script):
        done = support.run(["bash", "-ec", script], environment=environment, cwd=work)
        assert done.returncode == 0, f"{script}\n{done.stdout}\n{done.stderr}"
        return done

    return work, run


def test_the_commands_of_the_pages(reader):
    work, run = reader
    said = dict.fromkeys(PAGES, "")
    for page in PAGES:
        for language, argument, text in blocks(f"docs/start-{page}.md"):
            if language == "sh":
                done = run(text)
                said[page] += done.stdout + done.stderr
            else:
                (work / argument).write_text(text)
    # The sum of 1 to 4, alone and under Tutti, whose report follows.
    assert re.findall(r"^10$", said["users"], re.MULTILINE) == ["10", "10"]
    assert re.search(r"^tutti: +allreduce +<= 8 bytes +4000 +[0-9.]+ +0 ", said["users"], re.M)
    assert re.search(r"^tutti: +allreduce .*binomial", said["performance-engineers"], re.M)
    assert re.search(r"^tutti: +allreduce .*flat", said["performance-engineers"], re.M)
    assert re.search(r"^tutti: +allreduce .*by_numa", said["researchers"], re.M)
    for made in ("report.json", "sum.trace", "by_numa.html"):
        assert (work / made).stat().st_size > 0


def test_the_readme_names_commands_that_exist(reader):
    _, run = reader
    found = {argument: text for _, argument, text in blocks("README.md")}
    assert set(found) == {"wheel", "make"}
    makefile = (support.ROOT / "Makefile").read_text()
    targets = re.findall(r"^make (\w+)", found["make"], re.MULTILINE)
    assert targets == ["demo", "test", "dist"]
    assert all(f"\n{target}: " in makefile for target in targets)
    commands = [line for line in found["wheel"].splitlines() if " install " not in line]
    assert len(commands) == 3 and "venv" in commands[0]
    done = run("\n".join(commands[1:]))
    assert re.search(r"^tutti: +barrier +0 B +4 ", done.stderr, re.MULTILINE)
