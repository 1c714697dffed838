"""`tutti plan` for collectives with parts and scans, their help texts and limits."""

import json

import pytest
from tutti.places import core
from tutti.plan.command.files import COLLECTIVES_HELP, EXCHANGES, ROOT_HELP

pytestmark = pytest.mark.timeout(240)


def refused(done, code, *culprits):
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1, done.stderr
    for culprit in culprits:
        assert culprit in done.stderr


SERVED = [(kind, entry["name"]) for entry in core().algorithms() for kind in entry["collectives"]]
NEW = ("gather", "scatter", "allgather", "alltoall", "reduce_scatter", "scan", "exscan")


def test_help_texts_name_all_collectives_and_those_with_a_root():
    words = COLLECTIVES_HELP.replace(" or ", ", ").split(", ")
    assert words == core().collectives()
    rooted = ROOT_HELP.removeprefix("The root of a ").rstrip(".").replace(" or ", ", ").split(", ")
    assert rooted == [kind for kind in core().collectives() if core().rooted(kind)]
    assert set(EXCHANGES) < {kind for kind in core().collectives() if core().parted(kind)}


@pytest.mark.parametrize("kind", NEW)
def test_the_output_of_show_is_a_plan(tutti, kind):
    algorithm = next(name for served, name in SERVED if served == kind and name != "flat")
    root = ("--root", "3") if core().rooted(kind) else ()
    done = tutti("plan", "show", kind, "--algorithm", algorithm, "--ranks", "5", *root)
    assert done.returncode == 0, done.stderr
    plan = core().read_plan(done.stdout)
    assert plan.text == core().generate(kind, algorithm, 5, 3 if root else 0).text
    assert ("blocks" in plan.text) == (not core().parted(kind))
    assert ("all ranks get the same bits" in done.stdout) is False
    assert ("operations that do not commute" in done.stdout) == core().combines(kind)
    assert tutti("plan", "check", "-", stdin=done.stdout).stdout.startswith(
        f"stdin: {kind}, 5 ranks"
    )
    same = tutti("plan", "diff", "-", f"builtin:{algorithm}", stdin=done.stdout)
    assert (same.returncode, same.stderr) == (0, "")
    document = json.loads(
        tutti(
            "plan", "show", kind, "--algorithm", algorithm, "--ranks", "5", *root, "--json"
        ).stdout
    )
    assert document["blocks"] == (5 if core().parted(kind) else 1)
    assert len(document["programs"]) == 5


@pytest.mark.parametrize(("kind", "algorithm"), [pair for pair in SERVED if pair[0] in NEW])
def test_every_rank_has_a_program(kind, algorithm):
    for ranks in (1, 2, 5, 16):
        for root in {0, ranks - 1} if core().rooted(kind) else {0}:
            plan = core().generate(kind, algorithm, ranks, root)
            for carrier in ("slot", "line") if core().lines_serve(plan) else ("slot",):
                assert [
                    program.rank for program in core().lower(plan, carrier, list(range(ranks)))
                ] == list(range(ranks))


def test_compile_of_all_roots_of_a_gather(tutti, tmp_path):
    file = tmp_path / "parts.py"
    file.write_text(
        "import tutti.plan as tp\n\n\n@tp.collective('gather')\ndef up(c):\n"
        "    tp.algo.tree_gather(c, tp.Tree.nary(c.ranks, 3, c.root))\n"
    )
    done = tutti(
        "plan", "compile", str(file), "--ranks", "4", "--all-roots", "-o", str(tmp_path / "out")
    )
    assert done.returncode == 0, done.stderr
    checked = tutti("plan", "check", str(tmp_path / "out"))
    assert [line.split(" -> ")[0].strip() for line in checked.stdout.splitlines()[1:]] == [
        f"gather ranks 4 root {root}" for root in range(4)
    ]


def test_a_map_of_parts_is_checked_and_a_swapped_part_refused(tutti, tmp_path):
    right = core().generate("alltoall", "direct", 4, 0).text
    (tmp_path / "my.plan").write_text(right)
    (tmp_path / "map").write_text(
        "tutti-map 1\nalltoall ranks 4 sizes ..4K -> my.plan\nallgather -> builtin:ring\ngather "
        "root 2 -> builtin:nary:3\nexscan ranks 2.. -> builtin:chain segment 8K\n"
    )
    assert tutti("plan", "check", str(tmp_path)).stdout.startswith(f"{tmp_path}: 4 rules, right")
    lines = right.splitlines()
    at = lines.index("copy out[2] <- tmp[0].2")
    lines[at] = "copy out[2] <- tmp[0].1"
    (tmp_path / "my.plan").write_text("\n".join(lines) + "\n")
    refused(
        tutti("plan", "check", str(tmp_path)), 1, f"my.plan:{at + 1}: ",
        "it writes the part of rank 0 for rank 3 where the part of rank 0 for rank 2 belongs",
    )  # fmt: skip
    (tmp_path / "map").write_text("tutti-map 1\nalltoall root 1 -> builtin:direct\n")
    refused(tutti("plan", "check", str(tmp_path)), 2, "map:2: ", "alltoall has not")


def test_plans_of_exchanges_are_bounded(tutti, tmp_path):
    refused(
        tutti("plan", "show", "alltoall", "--algorithm", "direct", "--ranks", "1025"),
        2,
        "give 1 to 1024",
    )
    refused(
        tutti("plan", "draw", "alltoall", "--algorithm", "direct", "--ranks", "1024", "--json"),
        2,
        "blocks, but at most 1000000",
    )
    large = tmp_path / "large.plan"
    large.write_text("tutti-plan 1\ncollective alltoall\nranks 100000\ncopy out[0] <- in[0]\n")
    refused(tutti("plan", "diff", str(large), "builtin:direct"), 2, "at most 1024 ranks")
    refused(
        tutti("plan", "show", "alltoall", "--algorithm", "binomial", "--ranks", "4"),
        2,
        "does not serve alltoall",
    )
    wrong = tmp_path / "blocks.plan"
    wrong.write_text("tutti-plan 1\ncollective gather\nranks 3\nblocks 4\n")
    refused(
        tutti("plan", "check", str(wrong)),
        2,
        "blocks.plan:4: ",
        "gather has a block for each rank; remove the line",
    )
