"""Commands on wrong files and on unwritable places print one line and exit with code 2."""

import json
from pathlib import Path

import pytest
from trace_files import two_broadcasts

ROOT = Path(__file__).resolve().parents[2]
FLAT = "plans/allreduce-flat-4.plan"
FILES = {
    "missing": None,
    "empty": b"",
    "binary": bytes(range(256)) * 8,
    "other": b"#!/bin/sh\necho not a plan\n",
    "long" * 100: None,
}
COMMANDS = [
    ("plan", "show", "FILE"),
    ("plan", "check", "FILE"),
    ("plan", "compile", "FILE"),
    ("plan", "diff", FLAT, "FILE"),
    ("plan", "draw", "FILE", "--json"),
    ("plan", "play", "FILE", "-o", "page.html"),
    ("plan", "list", "FILE"),
    ("trace", "FILE"),
    ("model", "predict", "bcast", "--algorithm", "flat", "--ranks", "2", "--machine", "FILE"),
    ("model", "measure", "--network", "--machine", "FILE"),
]


def refused(done, *culprits):
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1 and done.stderr.startswith("tutti: "), done.stderr
    for culprit in culprits:
        assert culprit in done.stderr


@pytest.fixture
def trace(tmp_path):
    file = tmp_path / "run.trace"
    file.write_bytes(two_broadcasts().contents())
    return file


@pytest.mark.parametrize(
    "command", COMMANDS, ids=lambda command: command[1] if command[0] == "plan" else command[0]
)
def test_missing_files_are_named(tutti, tmp_path, command):
    for name, contents in FILES.items():
        file = tmp_path / name
        if contents is not None:
            file.write_bytes(contents)
        refused(tutti(*(str(file) if word == "FILE" else word for word in command)), str(file))


@pytest.mark.parametrize("command", [command for command in COMMANDS if command[1] != "list"])
def test_directories_are_named(tutti, tmp_path, command):
    refused(tutti(*(str(tmp_path) if word == "FILE" else word for word in command)), str(tmp_path))


def test_a_directory_without_a_map_is_not_checked(tutti):
    refused(
        tutti("plan", "check", "plans"), "the directory 'plans' has no map; write a file plans/map"
    )


def test_a_malformed_file_of_a_directory_is_bad_input(tutti, tmp_path):
    (tmp_path / "map").write_text("tutti-map 1\nallreduce ranks 4 -> mine.tree\n")
    (tmp_path / "mine.tree").write_text(
        "tutti-tree 1\ncollective allreduce\nranks 4\nreduce 0: 1 2\n"
    )
    for name in ("", "map", "mine.tree"):
        refused(
            tutti("plan", "check", str(tmp_path / name)),
            f"{tmp_path}/mine.tree:4: rank 3 has no parent",
        )


def test_a_wrong_plan_is_named(tutti, tmp_path):
    file = tmp_path / "wrong.plan"
    file.write_text((ROOT / FLAT).read_text().replace("copy out[3] <- out[0]\n", ""))
    for command in ("check", "show", "compile"):
        done = tutti("plan", command, str(file))
        assert done.returncode == 1 or command == "compile"
        assert done.stderr.startswith(f"tutti: {file}: the plan is wrong: block 0 of out[3]")


def test_a_word_that_is_neither_a_collective_nor_a_file(tutti):
    refused(
        tutti("plan", "show", "alreduce"), "'alreduce' is neither a collective nor a file", "bcast"
    )


def test_python_files_must_be_compiled(tutti):
    for command in (("show",), ("draw", "--json"), ("diff", FLAT)):
        words = ("plan", *command, "examples/plans/chain_bcast.py")
        refused(tutti(*words), "tutti plan compile examples/plans/chain_bcast.py --ranks N")


def test_messages_about_stdin_name_stdin(tutti):
    for command in (
        ("check", "-"),
        ("show", "-"),
        ("compile", "-"),
        ("diff", FLAT, "-"),
        ("draw", "-", "--json"),
    ):
        refused(tutti("plan", *command, stdin="no plan"), "stdin:1: ")
    refused(tutti("trace", "-"), "stdin")


def test_a_directory_without_plans_is_reported(tutti, tmp_path):
    done = tutti("plan", "list", str(tmp_path))
    assert (done.returncode, done.stdout) == (0, f"{tmp_path}: there are no .plan or .tree files\n")


def test_bad_options_of_compile_are_named(tutti):
    chain = ("plan", "compile", "examples/plans/chain_bcast.py", "--ranks", "4")
    refused(tutti(*chain, "--root", "9"), "tutti: --root: 9 is out of range; ranks are 0 to 3")
    refused(tutti(*chain, "--set", "nothing=1"), "tutti: --set: ", "'nothing'")
    refused(
        tutti("plan", "compile", "tutti.plan.lam:linear", "--ranks", "4", "--root", "1"),
        "tutti: --root: allreduce has no root",
    )


# --- Written files.


def test_existing_files_are_replaced_and_special_files_are_written(tutti, tmp_path):
    text = (ROOT / FLAT).read_text()
    old, link = tmp_path / "old.plan", tmp_path / "link.plan"
    old.write_text("old")
    link.symlink_to(old)
    assert tutti("plan", "compile", FLAT, "-o", str(link)).returncode == 0
    assert link.is_symlink() and old.read_text() == text
    assert sorted(tmp_path.iterdir()) == [link, old]
    done = tutti("plan", "compile", FLAT, "-o", "/dev/stdout")
    assert done.returncode == 0 and done.stdout.startswith(text)
    assert Path("/dev/stdout").is_symlink()


def test_places_that_cannot_be_written_are_named(tutti, tmp_path, trace):
    (tmp_path / "file").write_text("")
    for suffix, command in (
        (".plan", ("plan", "compile", FLAT, "-o")),
        (".png", ("plan", "draw", FLAT, "-o")),
        (".html", ("plan", "play", FLAT, "-o")),
        (".html", ("trace", str(trace), "--html")),
        (".json", ("trace", str(trace), "--perfetto")),
    ):
        for place in (f"nowhere/x{suffix}", f"file/x{suffix}", "long" * 100 + suffix):
            refused(tutti(*command, str(tmp_path / place)), f"cannot write '{tmp_path / place}'")
    assert sorted(tmp_path.iterdir()) == [tmp_path / "file", trace]


def test_a_trace_is_not_overwritten_by_its_own_page(tutti, trace):
    before = trace.read_bytes()
    for option in ("--html", "--perfetto"):
        refused(tutti("trace", str(trace), option, str(trace)), "it is the trace that is read")
    assert trace.read_bytes() == before


def test_json_on_stdout_is_nothing_but_json(tutti, trace, tmp_path):
    done = tutti("trace", str(trace), "--json", "--html", str(tmp_path / "page.html"))
    assert json.loads(done.stdout)["format"] == "tutti-trace-summary 1"
    assert done.stderr == f"wrote {tmp_path / 'page.html'}\n"


def test_a_page_of_no_operation_is_refused(tutti, trace, tmp_path):
    refused(
        tutti("trace", str(trace), "--skip", "2", "--html", str(tmp_path / "page.html")),
        "--skip: 2 of the trace's 2",
    )


# --- Machines, which all commands take in the same way.


def test_drawings_take_machines_as_compile_does(tutti, tmp_path, recorded_machine):
    drawn = tutti("plan", "draw", FLAT, "--shape", str(recorded_machine), "--json")
    assert json.loads(drawn.stdout)["messages"] == {"numa": 2, "node": 4}, drawn.stderr
    assert (
        len(json.loads(tutti("plan", "draw", FLAT, "--shape", "this", "--json").stdout)["nodes"])
        == 4
    )
    dealt = tutti(
        "plan",
        "draw",
        FLAT,
        "--shape",
        "node:2 core:2",
        "--deal",
        "3,2,1,0",
        "--json",
        "-o",
        str(tmp_path / "x.PNG"),
    )
    assert [place["node"] for place in json.loads(dealt.stdout)["nodes"]] == [1, 1, 0, 0], (
        dealt.stderr
    )
    assert (tmp_path / "x.PNG").read_bytes().startswith(b"\x89PNG")
    for deal, counts in (("0,2,1,3", "4 -> 4"), ("block", "4 -> 2")):
        differ = tutti(
            "plan", "diff", FLAT, "builtin:binomial", "--shape", "node:2 core:2", "--deal", deal
        )
        assert f"messages over cluster: {counts}\n" in differ.stdout
    refused(tutti("plan", "draw", FLAT, "--shape", "", "--json"), "the shape is empty")
