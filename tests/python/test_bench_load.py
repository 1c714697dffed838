"""How `tutti bench` measures and reports the load of other processes."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from test_bench_driver import MPICH
from tutti.bench import driver, load
from tutti.bench.load import Sample, busy, busy_seconds, share_of_others, watched
from tutti.bench.measurements import Measurements, Settings
from tutti.bench.remarks import load_json, load_text, loaded
from tutti.bench.variants import Variant

STAT = """cpu  900 10 90 5000 7 3 3 0 0 0
cpu0 500 10 50 2500 4 2 1 0 0 0
cpu1 400 0 40 2500 3 1 2 0 0 0
cpu10 7000 0 0 0 0 0 0 0 0 0
intr 1 2 3
"""


def test_busy_is_the_time_of_processes_on_the_chosen_cores():
    assert busy_seconds(STAT, {0}, 100) == pytest.approx(5.6)
    assert busy_seconds(STAT, {0, 1}, 100) == pytest.approx(10.0)
    assert busy_seconds(STAT, {0, 2}, 100) is None
    assert busy_seconds("cpu0 0 0 0 0\n", {0}, 100) is None
    assert busy_seconds("", {0}, 100) is None


def test_the_share_of_others_is_busy_less_own():
    before = Sample(10.0, 100.0, 5.0)
    assert share_of_others(before, Sample(12.0, 104.0, 8.0), 2) == pytest.approx(0.25)
    assert share_of_others(before, Sample(12.0, 102.0, 8.0), 2) == 0.0
    assert share_of_others(before, Sample(10.2, 100.43, 5.4), 2) == 0.0  # three ticks
    assert share_of_others(before, Sample(12.0, None, 8.0), 2) is None
    assert share_of_others(before, Sample(10.0, 104.0, 8.0), 2) is None


SPIN = "import time\nwhile time.process_time() < {}: pass"


@pytest.fixture
def told():
    if load.sample(os.sched_getaffinity(0)).busy is None:
        pytest.skip("this system does not count how busy its cores are")


def test_a_busy_process_beside_the_job_is_noticed(told):
    """The job ends when the other process has computed enough, so no result depends on the
    machine's speed.

    The other process counts as this process's own work only after this process has waited for it.
    """
    cores, enough = os.sched_getaffinity(0), 0.5
    before = load.sample(cores)
    with subprocess.Popen([sys.executable, "-c", SPIN.format(600)]) as other:
        try:
            wait = (
                "import time\nwhile sum(map(int, "
                f"open('/proc/{other.pid}/stat').read().rsplit(')', 1)[1].split()[11:13])) < "
                f"{enough * os.sysconf('SC_CLK_TCK')}: time.sleep(0.01)"
            )
            assert driver.execute([sys.executable, "-c", wait], dict(os.environ), 120)[0] == 0
            after = load.sample(cores)
        finally:
            other.kill()
    share = share_of_others(before, after, 1)
    assert (
        share is not None and share * (after.at - before.at) > 0.3
    )  # the system counts in ticks, some of which it attributes to others


def test_the_jobs_own_work_is_not_load(told):
    with watched(2) as watch:
        words = [
            "sh",
            "-c",
            f"'{sys.executable}' -c '{SPIN.format(0.4)}' & '{sys.executable}' -c "
            f"'{SPIN.format(0.4)}'; wait",
        ]
        assert driver.execute(words, dict(os.environ), 120)[0] == 0
    assert watch.after is not None
    assert watch.after.own - watch.before.own >= 0.8


@pytest.mark.mpi
def test_the_work_of_a_jobs_ranks_is_not_load(told, mpi, tmp_path):
    from tutti.bench.variants import command, environment

    variant = Variant(mpi, "default", False)
    words = command(variant, 2, "none", [sys.executable, "-c", SPIN.format(0.3)], None)
    with watched(2) as watch:
        assert driver.execute(words, environment(variant, "none", tmp_path), 120)[0] == 0
    assert watch.after is not None
    assert watch.after.own - watch.before.own >= 0.6


def measured(shares: dict[str, list[float | None]]) -> Measurements:
    measurements = Measurements(Settings([MPICH], [2], 2, ["barrier"], [8], 3))
    measurements.loads = {(2, key): values for key, values in shares.items()}
    return measurements


def test_marked_jobs_are_reported_once():
    host, ours = Variant(MPICH, "default", False), Variant(MPICH, "default", True)
    some = measured({"mpich": [0.01, 0.3, 0.4], "mpich+tutti": [0.0, None, 0.05]})
    assert loaded(some, 2, host, ours) and not loaded(some, 2, ours)
    assert load_text(some) == (
        "load: other processes used up to 40% of the ranks' cores during MPICH 5.0.2 with 2 "
        "ranks (repetitions 2, 3); stop them and measure again"
    )
    assert [job["marked"] for job in load_json(some)["jobs"]] == [
        [False, True, True],
        [False, False, False],
    ]
    assert "during every job;" in load_text(measured({"mpich": [0.2], "mpich+tutti": [0.1]}))
    assert load_text(measured({"mpich": [0.0, None]})) == ""


def test_the_share_comes_with_each_job(monkeypatch, tmp_path):
    """The share is measured around the program and gets into the JSON."""
    result = '{"what":"job","library":"it","interposed":false}'
    monkeypatch.setattr(driver, "program", lambda name: Path("/bin") / name)
    monkeypatch.setattr(driver, "command", lambda *words: ["echo", result])
    settings = Settings([MPICH], [2], 2, ["barrier"], [8], 1)
    job = driver.run_job(settings, 2, Variant(MPICH, "default", False), tmp_path)
    assert job["share_of_others"] is None or job["share_of_others"] >= 0
    measurements = Measurements(settings)
    measurements.add(2, Variant(MPICH, "default", False), job)
    assert load_json(measurements)["jobs"][0]["share_of_others"] == [job["share_of_others"]]


def children():
    """The ids of the processes that this one has started."""
    return set(Path(f"/proc/self/task/{os.getpid()}/children").read_text().split())


def test_a_load_ends_with_its_block():
    before = children()
    with busy(2):
        assert len(children() - before) == 2
    assert children() == before


def test_a_load_ends_with_the_process_that_asked_for_it(tmp_path):
    """Also if that process is killed."""
    file = tmp_path / "ids"
    code = (
        "import os, sys, time\nfrom pathlib import Path\nfrom tutti.bench.load import busy\n"
        "with busy(1):\n"
        "  Path(sys.argv[1] + '.new').write_text("
        "Path(f'/proc/self/task/{os.getpid()}/children').read_text())\n"
        "  os.rename(sys.argv[1] + '.new', sys.argv[1])\n  time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(file)]) as asks:
        for _ in range(3000):
            if file.exists():
                break
            time.sleep(0.01)
        asks.kill()
    (number,) = file.read_text().split()
    for _ in range(3000):
        if not Path(f"/proc/{number}").exists() or is_zombie(number):
            return
        time.sleep(0.01)
    os.kill(int(number), 9)
    pytest.fail("the busy process goes on")


def is_zombie(number):
    try:
        return Path(f"/proc/{number}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except OSError:
        return True


def test_a_load_that_was_asked_for_is_said():
    settings = Settings([MPICH], [2], 2, ["barrier"], [], 1, load=2)
    assert "2 busy processes ran beside each job" in load_text(Measurements(settings))
