"""bench/sim/setup_messages.py counts the messages of set-up, which grow with the logarithm of the
ranks.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "bench" / "sim" / "setup_messages.py"
simgrid = pytest.mark.skipif(
    shutil.which("smpirun") is None
    or not (ROOT / "build" / "lib" / "tutti-sim-setup.so").is_file(),
    reason="SimGrid is missing, or Tutti was built without it (apt-get install libsimgrid-dev)",
)


def setup_messages(*arguments):
    command = [sys.executable, SCRIPT, *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=240, cwd=ROOT, env=os.environ, check=False
    )


@simgrid
@pytest.mark.parametrize("deal", ["block", "round_robin"])
def test_messages_of_a_rank_grow_with_the_log_of_the_ranks(deal, tmp_path):
    result = tmp_path / "setup.json"
    done = setup_messages("--nodes", "4,64", "--cores", 4, "--deal", deal, "--json", result)
    assert done.returncode == 0, done.stderr
    assert "MPI_Init: most" in done.stdout and " 256 " in done.stdout
    document = json.loads(result.read_text())
    assert document["format"] == "tutti-setup-messages 1"
    small, large = document["rows"]
    assert (small["ranks"], large["ranks"], large["deal"]) == (16, 256, deal)
    doublings = 4
    for phase in ("init", "set_up"):
        # The exchange among all nodes' first ranks and each of a few collectives send one more
        # message each time the ranks double.
        assert doublings <= large[f"{phase}_most"] - small[f"{phase}_most"] <= 5 * doublings
        assert large[f"{phase}_all"] / 256 - small[f"{phase}_all"] / 16 <= 5 * doublings
    # The messages of SMPI's own split grow with the ranks, so the count notices such growth.
    assert large["splits_most"] > 256


@pytest.mark.parametrize(
    ("arguments", "culprit"),
    [(["--nodes", "1"], "--nodes"), (["--nodes", "4,x"], "--nodes"), (["--cores", "2,4"], "--cores"), (["--deal", "random"], "--deal"),
     (["--nodes", "9000", "--cores", "8"], "--nodes")],
)  # fmt: skip
def test_bad_input(arguments, culprit):
    done = setup_messages(*arguments)
    assert done.returncode == 2
    assert culprit in done.stderr
    assert "Traceback" not in done.stderr
