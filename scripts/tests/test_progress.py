"""The progress bar of the build: its output on terminals and in files, and compilers' messages."""

import io
import subprocess
import sys
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(SCRIPTS))

import progress  # noqa: E402

STEPS = [
    f"[{i}/200] Building CXX object src/room/CMakeFiles/tutti_core.dir/file{i}.cpp.o"
    for i in range(1, 201)
]
WARNING = ["src/file7.cpp:3:5: warning: unused variable", "    3 | int x;"]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(lines: list[str], output: io.StringIO) -> tuple[str, str]:
    log = io.StringIO()
    progress.show(io.StringIO("".join(line + "\n" for line in lines)), log, output)
    return output.getvalue(), log.getvalue()


def test_a_file_gets_a_line_at_each_quarter() -> None:
    said, log = shown(["ninja: Entering directory `build'", *STEPS], io.StringIO())
    assert [line.split(" after ")[0] for line in said.splitlines()] == [
        f"   {n} of 200 steps" for n in (50, 100, 150, 200)
    ]
    assert log.splitlines()[1:] == STEPS


def test_a_terminal_gets_one_line_which_is_removed_at_the_end() -> None:
    said, _ = shown(STEPS, Terminal())
    assert "\n" not in said
    assert (
        said.count("\r\x1b[K   [") == 200
        and "[###############...............] 100/200 file100.cpp" in said
    )
    assert said.endswith("\r\x1b[K")


def test_compilers_messages_are_shown_unchanged() -> None:
    said, log = shown([*STEPS[:7], *WARNING, *STEPS[7:]], Terminal())
    assert "\r\x1b[K" + "\n".join(WARNING) + "\n" in said
    assert "\n".join(WARNING) in log
    assert "\n".join(WARNING) in shown([*STEPS[:7], *WARNING], io.StringIO())[0]


def test_no_work_prints_nothing() -> None:
    assert shown(["ninja: no work to do."], io.StringIO())[0] == ""


def test_a_failed_build_fails_the_script(tmp_path: Path) -> None:
    """compile() of common.sh fails if a build fails, and shows its output."""
    stand_in = tmp_path / "cmake"
    stand_in.write_text(
        "#!/bin/sh\necho '[1/2] Building a'\necho 'FAILED: b'\necho \"arguments $*\"\nexit 3\n",
        encoding="utf-8",
    )
    stand_in.chmod(0o755)
    script = tmp_path / "build.sh"
    script.write_text(
        f'source "{SCRIPTS}/common.sh"\nlogs={tmp_path}/logs\nPATH={tmp_path}:$PATH\ncompile name tree one two\n'
        "echo reached\n",
        encoding="utf-8",
    )
    done = subprocess.run(
        ["bash", str(script)], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 3, done.stderr
    assert "FAILED: b\n" in done.stdout and "reached" not in done.stdout
    assert "--target one two" in done.stdout
    assert (
        (tmp_path / "logs" / "name.log")
        .read_text(encoding="utf-8")
        .startswith("[1/2] Building a\nFAILED: b\n")
    )
