"""`tutti plan list | show | check | compile | diff`, as commands."""

import json

import pytest
from tutti.places import core

PLANS = """import tutti.plan as tp

@tp.collective("allreduce")
def star(c, hub=0):
    c.out[hub] = sum(c.inp[r] for r in c.ranks)
    for r in c.ranks.without(hub):
        c.out[r] = c.out[hub]

@tp.collective("bcast")
def fan(c):
    print("printed by a plan function")
    for node in c.tree.nodes:
        lead = node.leader(c.root)
        if lead != c.root:
            c.out[lead] = c.inp[c.root]
        for r in node.ranks.without(lead):
            c.out[r] = c.out[lead]

@tp.collective("allreduce")
def forgetful(c):
    c.out[0] = c.inp[0] + c.inp[1]
    for r in c.ranks[1:]:
        c.out[r] = c.out[0]

@tp.collective("allreduce")
def broken(c):
    c.out[0] = {}["nothing"]

@tp.collective("allreduce")
def leaves(c):
    raise SystemExit(0)
"""
TREE = """tutti-tree 1
collective allreduce
ranks 4
reduce 0: 1 2
reduce 2: 3
"""


@pytest.fixture
def plans(tmp_path):
    file = tmp_path / "my_plans.py"
    file.write_text(PLANS)
    return file


def refused(done, code, *culprits):
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1, done.stderr
    for culprit in culprits:
        assert culprit in done.stderr


def test_compile_writes_a_checked_plan(tutti, plans, tmp_path):
    out = tmp_path / "star.plan"
    done = tutti(
        "plan", "compile", f"{plans}:star", "--ranks", "4", "--set", "hub=2", "-o", str(out)
    )
    assert done.returncode == 0, done.stderr
    assert "allreduce, 4 ranks, 4 transfers" in done.stdout and "check: right" in done.stdout
    assert "reduce out[2] <- in[0], in[1], in[2], in[3]" in out.read_text()
    assert list(tmp_path.iterdir()) == [plans, out] or sorted(tmp_path.iterdir()) == sorted(
        [plans, out]
    )
    assert tutti("plan", "check", str(out)).returncode == 0
    to_stdout = tutti("plan", "compile", f"{plans}:star", "--ranks", "4", "--set", "hub=2")
    assert to_stdout.stdout == out.read_text()
    shown = tutti("plan", "show", str(out), "--rank", "3")
    assert (
        shown.stdout.startswith(out.read_text())
        and "# program of rank 3 of 4: allreduce" in shown.stdout
    )


def test_output_of_a_plan_function_is_not_part_of_the_plan(tutti, plans):
    done = tutti(
        "plan", "compile", f"{plans}:fan", "--ranks", "4", "--shape", "node:2 core:2", "--root", "3"
    )
    assert done.returncode == 0
    assert "printed by a plan function" in done.stderr
    assert core().read_plan(done.stdout).shape == "node:2 core:2"
    assert core().read_plan(done.stdout).root == 3


def test_compile_of_all_roots_writes_a_directory_with_a_map(tutti, plans, tmp_path):
    out = tmp_path / "out"
    done = tutti(
        "plan",
        "compile",
        f"{plans}:fan",
        "--ranks",
        "3,4",
        "--shape",
        "node:2 core:2",
        "--all-roots",
        "-o",
        str(out),
    )
    assert done.returncode == 0, done.stderr
    files = {file.name for file in out.iterdir()}
    assert files == {
        "fan.map",
        *(f"fan-{ranks}-root{root}.plan" for ranks in (3, 4) for root in range(ranks)),
    }
    rules = core().load_library(str(out))
    assert len(rules) == 7
    assert {rule["root"] for rule in rules} == {0, 1, 2, 3}
    checked = tutti("plan", "check", str(out / "fan.map"), "--json")
    assert [rule["target"] for rule in json.loads(checked.stdout)["rules"]] == [
        rule["target"] for rule in rules
    ]
    assert tutti("plan", "check", str(out)).stdout.startswith(f"{out}: 7 rules, right")
    listed = json.loads(tutti("plan", "list", str(out), "--json").stdout)["plans"]
    assert {plan["file"] for plan in listed} == files - {"fan.map"}
    assert "fan-4-root2.plan" in tutti("plan", "list", str(out)).stdout


def test_compile_takes_modules_and_trees(tutti, tmp_path):
    done = tutti("plan", "compile", "tutti.plan.lam:logarithmic_bcast", "--ranks", "32")
    assert "copy out[31] <- out[15]" in done.stdout
    tree = tmp_path / "mine.tree"
    tree.write_text(TREE)
    out = tmp_path / "mine.plan"
    assert tutti("plan", "compile", str(tree), "-o", str(out)).returncode == 0
    assert "reduce out[0] <- in[0], in[1], tmp[2]" in out.read_text()
    assert tutti("plan", "diff", str(tree), str(out)).returncode == 0


@pytest.mark.parametrize("shape", ["this", "node:2 core:2"])
@pytest.mark.parametrize("deal", ["block", "round_robin", "0,1,1,0"])
def test_compile_places_ranks_by_deal(tutti, plans, shape, deal):
    done = tutti(
        "plan", "compile", f"{plans}:fan", "--ranks", "4", "--shape", shape, "--deal", deal
    )
    if shape == "this" and "," in deal and "core" in done.stderr:
        assert done.returncode == 2  # on a machine with one core there is no core 1
        return
    assert done.returncode == 0, done.stderr
    plan = core().read_plan(done.stdout)
    if shape != "this":
        second = {
            "block": "copy out[2] <- in[0]",
            "round_robin": "copy out[1] <- in[0]",
            "0,1,1,0": "copy out[1] <- out[0]",
        }
        assert second[deal] in plan.transfer_texts


def test_check_runs_no_code(tutti, tmp_path):
    file = tmp_path / "code.py"
    file.write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    for target in (str(file), f"{file}:star", "tutti.plan.lam:linear"):
        refused(tutti("plan", "check", target), 2, "is code", "tutti plan compile")
    assert list(tmp_path.iterdir()) == [file]


def test_a_plan_that_fails_its_check_is_exit_code_1_and_nothing_is_written(tutti, plans, tmp_path):
    out = tmp_path / "out.plan"
    refused(
        tutti("plan", "compile", f"{plans}:forgetful", "--ranks", "3", "-o", str(out)),
        1,
        "my_plans.py:21",
        "out[0]",
    )
    refused(
        tutti("plan", "compile", f"{plans}:forgetful", "--ranks", "2,3", "-o", str(tmp_path / "d")),
        1,
        "3 ranks",
    )
    assert list(tmp_path.iterdir()) == [plans]
    wrong = tmp_path / "wrong.plan"
    wrong.write_text(
        "tutti-plan 1\ncollective allreduce\nranks 2\nreduce out[0] <- in[0], in[1]\ncopy out[1] "
        "<- in[1]\n"
    )
    for command in ("check", "show"):
        refused(tutti("plan", command, str(wrong)), 1, "wrong.plan:5", "out[1]")


def test_a_map_whose_plan_does_not_fit_is_refused(tutti, plans, tmp_path):
    assert (
        tutti(
            "plan", "compile", f"{plans}:star", "--ranks", "4", "-o", str(tmp_path / "star.plan")
        ).returncode
        == 0
    )
    file = tmp_path / "map"
    file.write_text("tutti-map 1\nallreduce ranks 8 -> star.plan\n")
    refused(tutti("plan", "check", str(file)), 1, "map:2: ", "4 ranks")
    file.write_text("tutti-map 1\nallreduce ranks 4 -> none.plan\n")
    refused(tutti("plan", "check", str(file)), 2, "none.plan")
    file.write_text("tutti-map 1\nallreduce ranks four -> star.plan\n")
    refused(tutti("plan", "check", str(file)), 2, "map:2: ", "four")
    refused(tutti("plan", "show", str(file)), 2, "is a map")
    file.write_text(
        "tutti-map 1\nallreduce ranks 4 sizes 64K.. -> star.plan\nallreduce -> builtin:nary:4\n"
    )
    done = tutti("plan", "check", str(file))
    assert done.returncode == 0 and "builtin:nary:4" in done.stdout


BAD_INPUT = [
    (["{plans}"], "5 collectives"),
    (["{plans}:sun"], "'sun'"),
    (["{plans}:star"], "--ranks"),
    (["{plans}:star", "--ranks", "0"], "'0'"),
    (["{plans}:star", "--ranks", "2,x"], "'x'"),
    (["{plans}:star", "--ranks", "99999"], "'99999'"),
    (["{plans}:star", "--ranks", "2", "--root", "1"], "--root: allreduce has no root"),
    (["{plans}:star", "--ranks", "2", "--all-roots"], "--all-roots"),
    (["{plans}:fan", "--ranks", "2", "--all-roots"], "-o"),
    (["{plans}:fan", "--ranks", "2,3"], "-o"),
    (["{plans}:fan", "--ranks", "2", "--root", "1", "--all-roots"], "--root"),
    (["{plans}:fan", "--ranks", "2", "--root", "2"], "--root: 2 is out of range"),
    (["{plans}:star", "--ranks", "2", "--set", "hub"], "'hub'"),
    (["{plans}:star", "--ranks", "2", "--set", "spoke=1"], "spoke"),
    (["{plans}:star", "--ranks", "2", "--set", "hub=5"], "no rank 5"),
    (["{plans}:star", "--ranks", "2", "--shape", "core"], '"core"'),
    (["{plans}:star", "--ranks", "2", "--shape", "/nonexistent.xml"], "/nonexistent.xml"),
    (["{plans}:star", "--ranks", "2", "--deal", "diagonal"], "diagonal"),
    (["{plans}:star", "--ranks", "2", "--shape", "core:2", "--deal", "0,7"], "core 7"),
    (["{plans}:star", "--ranks", "2", "-o", "{directory}"], "directory"),
    (["{plans}:star", "--ranks", "2", "-o", "/nonexistent/a.plan"], "/nonexistent/a.plan"),
    (["{plans}:star", "--ranks", "2,3", "-o", "{plans}"], "is a file"),
    (["{plans}:broken", "--ranks", "2"], "my_plans.py:27: KeyError"),
    (["{plans}:leaves", "--ranks", "2"], "my_plans.py:31: SystemExit"),
    (["/nonexistent.py:star", "--ranks", "2"], "/nonexistent.py"),
    (["no.such.module:star", "--ranks", "2"], "no.such"),
    (["{directory}/none.tree"], "none.tree"),
]


@pytest.mark.parametrize(
    ("arguments", "culprit"),
    BAD_INPUT,
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_input_of_compile_is_exit_code_2(tutti, plans, arguments, culprit):
    words = [word.format(plans=plans, directory=plans.parent) for word in arguments]
    done = tutti("plan", "compile", *words)
    done.stderr = done.stderr.removeprefix("printed by a plan function\n").removeprefix(
        "printed by a plan function\n"
    )
    refused(done, 2, culprit)


@pytest.mark.parametrize(
    ("text", "culprit"),
    [
        ("import tutti.plan as tp\n1 +\n", "bad.py:2: "),
        ("1 / 0\n", "bad.py:1: ZeroDivisionError"),
        ("x = 1\n", "0 collectives"),
    ],
)
def test_files_that_python_cannot_run_are_named_with_their_line(tutti, tmp_path, text, culprit):
    file = tmp_path / "bad.py"
    file.write_text(text)
    refused(tutti("plan", "compile", str(file), "--ranks", "2"), 2, culprit)


def test_programs_in_the_order_of_arrival_show_the_wait_for_each_source(tutti, tmp_path):
    file = tmp_path / "any.plan"
    file.write_text(
        "tutti-plan 1\ncollective reduce\nranks 3\ncommutative yes\nreduce any out[0] <- in[0], "
        "in[1], in[2]\n"
    )
    document = json.loads(tutti("plan", "show", str(file), "--rank", "0", "--json").stdout)
    assert document["check"]["arrival"] is True and document["transfers"][0]["any_order"] is True
    steps = [step for step in document["programs"][0]["steps"] if step["kind"] == "reduce_any"]
    after = [operand["after"] for operand in steps[0]["operands"][1:]]
    assert after[0] is None and sorted(peer for peer, _ in after[1:]) == [1, 2]


def test_show_and_diff_require_their_operands(tutti, tmp_path):
    refused(tutti("plan", "show", "none.plan"), 2, "none.plan")
    refused(tutti("plan", "show", "plans/allreduce-flat-4.plan", "--ranks", "3"), 2, "--ranks")
    refused(tutti("plan", "diff", "builtin:flat", "builtin:nary"), 2, "builtin:nary")
    refused(tutti("plan", "diff", "plans/allreduce-flat-4.plan", "builtin:oak"), 2, "oak")
    refused(tutti("plan", "diff", "-", "-"), 2, "stdin")
    refused(tutti("plan", "list", "/nonexistent"), 2, "/nonexistent")


def test_diff_ignores_differences_without_meaning(tutti, tmp_path):
    text = (
        "tutti-plan 1\ncollective allreduce\nranks 4\nreduce tmp[2] <- in[2], in[3]\nreduce "
        "tmp[0] <- in[0], in[1]\nreduce out[0] <- tmp[0], tmp[2]\ncopy out[1] <- out[0]\ncopy "
        "out[2] <- out[0]\ncopy out[3] <- out[2]\n"
    )
    one, other = tmp_path / "one.plan", tmp_path / "other.plan"
    one.write_text(text)
    lines = text.splitlines()
    other.write_text(
        "\n".join(
            [
                *lines[:3],
                "algorithm other  # a label",
                lines[4],
                lines[3],
                lines[5],
                lines[7],
                lines[8],
                lines[6],
            ]
        )
    )
    done = tutti("plan", "diff", str(one), str(other))
    assert (done.returncode, done.stderr) == (0, "") and "the same plan" in done.stdout
    assert json.loads(tutti("plan", "diff", str(one), str(other), "--json").stdout)["same"] is True


def test_diff_reports_an_order_that_matters(tutti, tmp_path):
    head = "tutti-plan 1\ncollective bcast\nranks 3\n"
    one, other = tmp_path / "one.plan", tmp_path / "other.plan"
    one.write_text(
        head
        + "copy tmp[1] <- in[0]\ncopy out[1] <- tmp[1]\ncopy tmp[1] <- out[1]\ncopy out[2] <- tmp[1]\n"
    )
    other.write_text(
        head
        + "copy tmp[1] <- in[0]\ncopy out[1] <- tmp[1]\ncopy out[2] <- tmp[1]\ncopy tmp[1] <- out[1]\n"
    )
    done = tutti("plan", "diff", str(one), str(other))
    assert done.returncode == 1
    assert "an order that gives other dependences" in done.stdout


def test_diff_shows_what_changed_by_rank_and_level(tutti):
    arguments = (
        "plan",
        "diff",
        "examples/paths/plans/allreduce-logarithmic-32.plan",
        "examples/paths/plans/allreduce-hierarchical-32-round_robin.plan",
    )
    found = json.loads(tutti(*arguments, "--deal", "round_robin", "--json").stdout)
    assert (found["same"], found["settings"]["commutative"]) == (False, [False, True])
    assert found["levels"] == [{"cluster": 35, "node": 27}, {"cluster": 14, "node": 48}]
    assert found["added_by_rank"]["1"] == 3
    done = tutti(*arguments, "--deal", "round_robin")
    assert (done.returncode, done.stderr) == (1, "")
    assert "messages over cluster: 35 -> 14" in done.stdout
    assert "+reduce tmp[7] <- tmp[7], in[31]" in done.stdout
    assert tutti("plan", "diff", "plans/allreduce-flat-4.plan", "builtin:flat").returncode == 0
    assert tutti("plan", "diff", "builtin:binomial", "plans/allreduce-flat-4.plan").returncode == 1
