"""Tables that jobs find without an option: who names them, and how a tuning puts one there."""

import json
import os
from pathlib import Path

import pytest
from test_tune_by_model import MACHINE
from tutti.bench.mpis import Mpi
from tutti.choose.found import directories, found_table, place_for
from tutti.doctor import GOOD, POOR, examine_tables
from tutti.errors import UserError
from tutti.places import core

HERE = Path("/nowhere/bin/mpiexec")
MPIS = [Mpi("a", "mpich", "5.0.2", HERE, None), Mpi("b", "openmpi", "5.0.11", HERE, None)]


@pytest.fixture
def users(monkeypatch, tmp_path) -> Path:
    """The user's directory, which does not exist yet; there is no site's."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    user, _ = core().table_directories()
    assert user == str(tmp_path / "tutti")
    if directories()["site"].is_dir():
        pytest.skip("this machine has tables of its own in /etc/tutti")
    return tmp_path / "tutti"


def write(file: Path, rule: str = "bcast -> builtin:nary:3") -> Path:
    file.write_text(f"tutti-map 1\n{rule}\n")
    return file


def test_an_install_is_found_by_jobs_of_its_mpi_alone(users):
    mpich, openmpi = MPIS
    assert found_table(None).file == "" and not users.exists()
    every = write(place_for("user", None))
    of_mpich = write(place_for("user", mpich))
    assert of_mpich.name.endswith(".mpich-5.map") and every.parent == of_mpich.parent == users
    assert found_table(mpich).file == str(of_mpich) and found_table(mpich).whose == "the user's"
    assert found_table(openmpi).file == found_table(None).file == str(every)
    with pytest.raises(UserError, match="'me' is not accepted"):
        place_for("me", None)


def test_doctor_names_tables_and_broken_ones(users):
    (none,) = examine_tables(MPIS)
    assert none.state == POOR and str(users) in none.says and "--install user" in none.remedy
    every = write(place_for("user", None))
    (one,) = examine_tables(MPIS)
    assert (
        one.state == GOOD and one.says == f"{every}, the user's, for MPICH 5.0.2, Open MPI 5.0.11"
    )
    broken = write(place_for("user", MPIS[0]), "bcast -> builtin:unknown")
    bad, good = examine_tables(MPIS)
    assert bad.state == POOR and bad.says.startswith(f"{broken}:2: ") and bad.remedy
    assert good.state == GOOD and good.says.startswith(f"{every}, ")


def test_explain_follows_the_table_that_jobs_find(users, tutti):
    table = write(place_for("user", None))
    environment = {name: os.environ[name] for name in ("XDG_CONFIG_HOME", "PATH")}

    def explained(*options, **variables):
        words = ("explain", "bcast", "--bytes", "1M", "--ranks", "8", "--json", *options)
        done = tutti(*words, environment=environment | variables)
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)
        return found["runs"], [note for note in found["notes"] if str(table) in note]

    runs, notes = explained()
    assert runs == "nary:3" and len(notes) == 1 and "the user's" in notes[0]
    for options, variables in (
        (["--table", "none"], {}),
        ([], {"TUTTI_TABLE": "none"}),
        (["--shape", "core:8"], {}),
    ):
        runs, notes = explained(*options, **variables)
        assert runs != "nary:3" and notes == []


def test_a_tuning_installs_its_table(users, tutti, tmp_path):
    machine = tmp_path / "machine.json"
    machine.write_text(json.dumps(MACHINE))
    words = ["tune", "--model", "--machine", machine, "--install", "user", "--ranks", "2"]
    words += ["--collectives", "bcast", "--bytes", "8"]
    done = tutti(
        *words, environment={name: os.environ[name] for name in ("XDG_CONFIG_HOME", "PATH")}
    )
    assert done.returncode == 0, done.stderr
    found = found_table(None)
    assert found.file == str(users / core().table_names()[0]) and found.broken == ()
    assert f"wrote {found.file}" in done.stdout.replace("\n", "")
    refused = tutti("tune", "--model", "--install", "user", "-o", "other.map")
    assert refused.returncode != 0 and "--install" in refused.stderr
