"""`tutti doctor` and its probes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tutti import doctor, probes
from tutti.doctor import BAD, GOOD, POOR, Finding
from tutti.plan.machine import Machine
from tutti.predict.binding import gain_of_binding


def test_doctor_reports_its_findings(tutti):
    done = tutti("doctor", "--json")
    document = json.loads(done.stdout)
    findings = {f["name"]: f for f in document["findings"]}
    missing = [f for f in document["findings"] if f["state"] == BAD]
    assert done.returncode == (1 if missing else 0)
    assert 1 <= document["tree"]["usable"] <= len(os.sched_getaffinity(0))
    assert {
        "cores",
        "memfd",
        "/dev/shm",
        "shared heap",
        "CMA",
        "tutti-run",
        "libtutti-mpich.so",
    } <= set(findings)
    assert all(f["remedy"] for f in document["findings"] if f["state"] != GOOD)
    text = tutti("doctor").stdout
    for name in findings:
        assert name in text


def test_sessions_scheduled_as_groups(tmp_path, monkeypatch):
    setting = tmp_path / "sched_autogroup_enabled"
    assert not probes.sessions_are_groups(
        setting
    )  # kernels without automatic groups have no such file
    for value, groups in (("0\n", False), ("1\n", True)):
        setting.write_text(value)
        assert probes.sessions_are_groups(setting) == groups
        monkeypatch.setattr(probes, "sessions_are_groups", lambda groups=groups: groups)
        found = doctor.examine_task_groups()
        monkeypatch.undo()
        assert [finding.state for finding in found] == ([POOR] if groups else [])
        assert all("sched_autogroup_enabled=0" in finding.remedy for finding in found)


def test_doctor_names_a_malformed_variable(tutti):
    done = tutti("doctor", "--json", environment={"TUTTI_STALL_SECONDS": "soon"})
    assert done.returncode == 1
    findings = [f for f in json.loads(done.stdout)["findings"] if f["name"] == "environment"]
    assert (
        len(findings) == 1
        and "TUTTI_STALL_SECONDS" in findings[0]["says"]
        and "soon" in findings[0]["says"]
    )


def test_doctor_leaves_nothing_out_in_a_narrow_terminal(tutti):
    long_name = "soon" * 50
    environment = {"TUTTI_STALL_SECONDS": long_name, "COLUMNS": "60"}
    done = tutti("doctor", environment=environment)
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert long_name in "".join(done.stdout.split())


def test_doctor_warns_of_an_unknown_variable(tutti):
    done = tutti("doctor", "--json", environment={"TUTTI_STAL_SECONDS": "3"})
    findings = [f for f in json.loads(done.stdout)["findings"] if f["name"] == "environment"]
    assert [f["state"] for f in findings] == [POOR]
    assert "TUTTI_STALL_SECONDS" in findings[0]["says"]


def test_doctor_shows_the_tree_of_tutti_topology(tutti):
    done = tutti("doctor", environment={"TUTTI_TOPOLOGY": "numa:2 core:4"})
    assert "8 cores" in done.stdout
    refused = tutti("doctor", environment={"TUTTI_TOPOLOGY": "/nonexistent/tree.xml"})
    assert refused.returncode == 2
    assert len(refused.stderr.splitlines()) == 1 and "/nonexistent/tree.xml" in refused.stderr


@pytest.mark.parametrize(
    ("shape", "state", "says"),
    [
        ("core:8", GOOD, "one level"),
        ("numa:1 core:8", GOOD, "one level"),
        ("numa:2 core:4", POOR, "2 NUMA regions"),
        ("socket:2 cache:4 core:2", POOR, "2 sockets, 8 shared caches"),
    ],
)
def test_binding_matters_where_there_are_levels(shape, state, says):
    finding = doctor.examine_binding(doctor.load_tree(shape))
    assert (finding.state, says in finding.says) == (state, True), finding


@pytest.mark.parametrize(
    ("shape", "machine", "is_same"),
    [
        ("numa:2 cache:8 core:8", "epyc-7763", True),
        ("numa:2 cache:6 core:10", "epyc-7763", False),  # of the same levels, the nearest in cores
        ("socket:2 numa:3 core:40", "xeon-6980p-snc3", False),
    ],
)
def test_the_gain_of_binding_is_by_the_costs_of_a_machine_like_this(shape, machine, is_same):
    gain = gain_of_binding(Machine.parse(shape))
    assert (gain.machine, gain.is_same, gain.ranks) == (machine, is_same, min(64, gain.ranks))
    assert 1 < gain.mean < gain.most < 10, gain
    says = doctor.examine_binding(doctor.load_tree(shape), shape).says
    assert f"by the model of {machine}" in says and f"{gain.mean:.2f} times as long" in says
    assert ("not these cores" in says) != is_same


def test_missing_parts_are_summarized_at_the_end():
    findings = [Finding("memfd", BAD, "no", "yes"), Finding("MPI mpich", GOOD, "there")]
    assert "cannot work" in doctor.what_is_used(findings, 2)[0]
    findings = [Finding("memfd", POOR, "no", "yes"), Finding("MPI mpich", GOOD, "there")]
    used = " ".join(doctor.what_is_used(findings, 2))
    assert "/dev/shm" in used and "mpich" in used


def test_a_heap_that_a_limit_forbids(tutti):
    done = tutti("doctor", "--json")
    heap = {f["name"]: f for f in json.loads(done.stdout)["findings"]}["shared heap"]
    assert "GiB of addresses" in heap["says"]
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (4096, "
        "resource.RLIM_INFINITY));"
    )
    code += "from tutti.doctor import examine_heap; print(examine_heap())"
    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    ).stdout
    assert "state='note'" in said and "RLIMIT_FSIZE" in said


SATURATION = {
    "format": "tutti-saturation 1",
    "where": "a Cray",
    "cores": [1, 2],
    "messages": [1, 128],
    "bytes": [8, 1 << 20],
    "puts": [[[1, 1]] * 2] * 2,
    "gets": [[[1, 1]] * 2] * 2,
    "hand_over": {"client": 0, "server": [0, 0], "latency": 100},
}


def test_the_saturation_map_that_servers_follow(tmp_path):
    none = doctor.examine_saturation("")
    assert none.state == POOR and none.says.startswith("none:")
    assert "tutti bench saturation --json-file" in none.remedy and "TUTTI_SATURATION" in none.remedy

    file = tmp_path / "map.json"
    missing = doctor.examine_saturation(str(file))
    assert missing.state == POOR and f"{file}: cannot be read; until then" in missing.says
    file.write_text("{")
    assert "is no JSON" in doctor.examine_saturation(str(file)).says

    file.write_text(json.dumps(SATURATION))
    elsewhere = doctor.examine_saturation(str(file))
    assert elsewhere.state == POOR and 'is of another machine, "a Cray"' in elsewhere.says
    assert elsewhere.remedy.startswith("measure here by `tutti bench saturation --json-file`")

    here = elsewhere.says.split('this is "')[1].split('"')[0]
    file.write_text(json.dumps(SATURATION | {"where": here}))
    right = doctor.examine_saturation(str(file))
    assert right.state == GOOD and not right.remedy
    assert "up to 2 cores, 128 messages and 1 MiB" in right.says

    between = tmp_path / "between.json"
    document = SATURATION | {"where": here, "scope": "between nodes"}
    del document["hand_over"]
    between.write_text(json.dumps(document))
    both = doctor.examine_saturation(f"{file},{between}")
    assert both.state == GOOD
    assert f"{file}: of this machine" in both.says and "transfers between nodes follow" in both.says
    twice = doctor.examine_saturation(f"{file},{file}")
    assert twice.state == POOR and "is a second map of a node" in twice.says


def test_doctor_shows_the_saturation_map(tutti, tmp_path):
    file = str(tmp_path / "none.json")
    done = tutti("doctor", "--json", environment={"TUTTI_SATURATION": file})
    findings = {f["name"]: f for f in json.loads(done.stdout)["findings"]}
    assert f"{file}: cannot be read" in findings["saturation map"]["says"]


@pytest.mark.parametrize("probe", [probes.memfd, lambda: probes.shm_directory()[0]])
def test_memory_probes_notice_if_the_other_process_sees_other_memory(probe, monkeypatch):
    outcome = probe()
    assert outcome.works or outcome.reason
    monkeypatch.setattr(probes, "_token_at", lambda name: b"other memory")
    assert probe() == probes.Outcome(False, "other memory") or not outcome.works
    # Probes of other processes may be in the directory at this moment.
    assert f"tutti-probe-{os.getpid()}" not in os.listdir("/dev/shm")


def test_the_size_of_the_shared_memory_file_system():
    outcome, size, free = probes.shm_directory()
    if outcome.works:
        assert 0 <= free <= size and size > 0


def children() -> set[str]:
    """The processes that this one has started and whose end it has not waited for."""
    return set(Path(f"/proc/self/task/{os.getpid()}/children").read_text().split())


def test_the_cma_probe_leaves_no_process_and_gives_a_reason(monkeypatch):
    before = children()
    outcome = probes.cma()
    assert outcome.works or outcome.reason
    # The probe reads another process's memory. A wrong address must be a failure, not a permission.
    real = probes._read_remote
    monkeypatch.setattr(probes, "_read_remote", lambda process, address: real(process, 8))
    broken = probes.cma()
    assert not broken.works and broken.reason
    assert children() == before
