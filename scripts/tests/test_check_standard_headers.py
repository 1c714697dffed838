"""scripts/check_standard_headers.py finds what a precompiled header would hide from the compiler."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[1] / "check_standard_headers.py"


def checked(directory, **texts):
    for name, text in texts.items():
        (directory / name.replace("_", ".")).write_text(text)
    command = [sys.executable, str(SCRIPT), str(directory)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("#include <vector>\nstd::vector<int> a;\n", None),
        ('// std::map\nconst char* a = "std::set";\n', None),
        ('#include "b.h"\nstd::string a = std::to_string(1);\n', None),
        ("#include <string>\nstd::string_view a;\n", None),
        ("\nstd::vector<int> a;\n", "a.cpp:2: uses std::vector: include <vector>"),
        ("uint64_t a;\n", "a.cpp:1: uses uint64_t: include <cstdint>"),
        ("std::jthread a;\n", "a.cpp:1: uses std::jthread: add it to NAMES"),
    ],
)
def test_each_name_needs_its_header(tmp_path, text, fault):
    result = checked(tmp_path, a_cpp=text, b_h="#include <string>\n")
    assert result.returncode == (fault is not None), result.stdout
    assert (fault or "2 files include what they use") in result.stdout
