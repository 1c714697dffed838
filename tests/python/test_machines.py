"""The machines that come with Tutti, and files that are like one of them."""

import json

import pytest
from tutti.choose.candidates import Candidate
from tutti.choose.choice import Question, predicted
from tutti.errors import UserError
from tutti.plan.machine import Machine
from tutti.predict.machines import known_costs, known_files, model_of, read_model
from tutti.predict.prediction import Where, shared_levels
from tutti.simulation.machines import MACHINES, named


@pytest.mark.parametrize("name", known_files())
def test_a_machine_is_read_with_all_that_it_says(name):
    """A machine without a network is one node, which the simulation has no use for."""
    machine = json.loads(read_model(name).text)
    assert machine["name"] == name and machine["what"]
    assert "own:" in machine["source"]
    assert 10 <= machine["own"]["call"] < 300 and 3 <= machine["own"]["step"] < 100
    placed = Machine.parse(machine["shape"]).place()
    assert ("network" in machine) == (len(placed.nodes) > 1) == (name in MACHINES)
    if name in MACHINES:
        known = MACHINES[name]
        assert (machine["what"], len(placed.ranks)) == (known.what, known.ranks)
        assert machine["network"]["byte"] == pytest.approx(1 / known.network.gigabytes)


@pytest.mark.parametrize("name", sorted(set(known_files()) - set(MACHINES)))
def test_a_node_has_the_costs_of_each_of_its_levels(name):
    """A full node, and one half of it, which may be one socket: a hand-over farther away takes
    longer.
    """
    machine = known_costs(name)
    hand_overs = [level["hand_over"] for level in machine["levels"]]
    assert hand_overs == sorted(hand_overs, reverse=True)
    cores = Machine.parse(machine["shape"]).cores
    times = []
    for ranks in (cores // 2, cores):
        levels = Machine.parse(machine["shape"]).place(ranks).levels()
        where = Where(ranks, shared_levels(levels), [], "slots", 0, [])
        question = Question("barrier", 0, 0, levels, where)
        found, refused = predicted(read_model(name), question, [Candidate("dissemination", 0)])
        assert not refused
        times.append(found[0].microseconds)
    assert times[0] < times[1]


def test_a_file_may_say_what_differs_from_a_machine():
    base = known_costs("hmpi-xeon")
    own = {"like": "hmpi-xeon", "name": "mine", "own": {"step": 0}, "levels": base["levels"][:1]}
    mine = json.loads(model_of(json.dumps(own), "mine.json").text)
    assert mine["name"] == "mine" and mine["shape"] == base["shape"]
    assert (mine["own"]["step"], mine["own"]["call"]) == (0, base["own"]["call"])
    assert [level["name"] for level in mine["levels"]] == ["node"]
    assert mine["network"]["latency"] == base["network"]["latency"]


@pytest.mark.parametrize("like", ["hmpi-xenon", 3, ["hmpi-xeon"]])
def test_a_machine_that_is_like_none_is_refused(like):
    with pytest.raises(UserError, match="mine.json: like: there is no machine .*juropa"):
        model_of(json.dumps({"like": like}), "mine.json")


def test_a_wrong_member_of_a_file_that_is_like_a_machine_is_named():
    with pytest.raises(UserError, match="mine.json: own.step"):
        model_of(json.dumps({"like": "hmpi-xeon", "own": {"step": -1}}), "mine.json")


def test_the_machines_are_listed(tutti):
    listed = tutti("model", "machines").stdout
    for name in known_files():
        assert any(line.split()[:1] == [name] for line in listed.splitlines()), name
    found = json.loads(tutti("model", "machines", "--json").stdout)
    assert [one["name"] for one in found["machines"]] == list(known_files())
    one = tutti("model", "machines", "epyc-9654-nps4").stdout
    assert "node:1 socket:2 numa:4 cache:3 core:8" in one and "STREAM" in one
    refused = tutti("model", "machines", "epyc")
    assert refused.returncode == 2 and "epyc-9654" in refused.stderr


def test_a_machine_is_named_alike_for_its_shape_and_as_a_cluster(tutti, tmp_path):
    """--shape takes what --machine takes, and so does tutti sim."""
    words = ("plan", "show", "allreduce", "--algorithm", "levels", "--ranks", "24", "--shape")
    shape = known_costs("hmpi-xeon")["shape"]
    file = tmp_path / "mine.json"
    file.write_text(json.dumps({"like": "hmpi-xeon", "name": "mine"}))
    shown = [tutti(*words, one) for one in (shape, "hmpi-xeon", str(file))]
    assert all(one.returncode == 0 for one in shown), shown[1].stderr
    assert shown[0].stdout == shown[1].stdout == shown[2].stdout
    assert named(str(file)).ranks == MACHINES["hmpi-xeon"].ranks and named(str(file)).name == "mine"
    file.write_text(json.dumps({"like": "epyc-9654-nps4"}))
    with pytest.raises(UserError, match='mine.json\' has no "network"'):
        named(str(file))
    with pytest.raises(UserError, match="'nothing' is unknown; give a file, or one of"):
        named("nothing")
