"""The two-cluster experiment (examples/paths/two_clusters.py): its mappings, and a small run."""

import json
import sys

import pytest
from test_paths_experiment import PATHS, run

SCRIPT = PATHS / "two_clusters.py"


@pytest.fixture(scope="module")
def experiment():
    sys.path.insert(0, str(PATHS))
    try:
        import two_clusters

        yield two_clusters
    finally:
        sys.path.remove(str(PATHS))


def crossings(experiment, tmp_path, second):
    options = experiment.parse(
        ["--nodes", "2", "--per-node", "4", "--second", str(second), "--bytes", "4"]
    )
    return {case.name: case.crossing for case in experiment.cases_of(options, tmp_path)}


def test_messages_over_the_link(experiment, tmp_path):
    """The messages over the link of the paper's good and bad mappings.

    There is one in each direction, or one for each process; a process on the wrong side adds two.
    """
    found = crossings(experiment, tmp_path, 8)
    assert found == {
        "host MPI": None,
        "Tutti's choice": None,
        "clusters told": None,
        "lam": 1 + 8,
        "linear": 8 + 8,
        "one message": 2,
        "wrong side": 4,
    }


@pytest.mark.parametrize("second", [1, 3])
def test_mappings_of_fewer_ranks(experiment, tmp_path, second):
    found = crossings(experiment, tmp_path, second)
    assert (found["linear"], found["one message"], found["wrong side"]) == (2 * second, 2, 4)


def test_the_lost_rank_is_in_the_first_cluster(experiment):
    from tutti.plan import Context, Machine

    trees = []

    def look(c: Context) -> None:
        trees.append(experiment.wrong_side_tree(c))
        experiment.one_message.function(c)

    experiment.collective("allreduce")(look).build(
        Machine.parse("cluster:2 node:2 core:2").place(8, "block")
    )
    assert trees[0].parents == {1: 0, 2: 0, 3: 4, 4: 0, 5: 4, 6: 4, 7: 6}


@pytest.mark.parametrize(
    ("arguments", "culprit"),
    [(["--second", "0"], "--second"), (["--second", "99"], "--second"), (["--mpi", "none"], "--mpi"), (["--bytes", "5"], "--bytes"),
     (["--nodes", "99"], "--nodes"), (["--plot", "no/such"], "--plot")],
)  # fmt: skip
def test_bad_input(arguments, culprit):
    done = run(SCRIPT, *arguments)
    assert done.returncode == 2
    assert culprit in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.mpi
@pytest.mark.slow
def test_every_case_is_measured(tmp_path):
    result = tmp_path / "result.json"
    words = "--quick --per-node 2 --iterations 5 --bytes 4 --delay 10ms"
    done = run(SCRIPT, *words.split(), "--json", result, "--plot", tmp_path / "plot")
    if "skipped: " in done.stderr:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    document = json.loads(result.read_text())
    assert document["format"] == "tutti-paths-clusters 2"
    times, means = (
        {(row["name"], row["bytes"]): row[which] for row in document["rows"]}
        for which in ("median_ms", "mean_ms")
    )
    assert len(times) == len(means) == 7
    # A collective needs one message down the link and one up again; with a process on the wrong
    # side, twice that. If the other ranks are ahead, an exchange of one delay may be over for rank
    # 0 as soon as it begins.
    assert all(time > 0 for time in times.values())
    # But two in a row take two delays: the message that the second one waits for was sent after a
    # round that waited for rank 0's first message.
    assert all(time >= 0.8 * 9 for time in means.values()), means
    assert all(times[name, 4] >= 18 for name in ("lam", "linear", "one message")), times
    assert times["wrong side", 4] >= 36, times
    rows = [
        line.strip("|").split(" | ")
        for line in done.stdout.splitlines()
        if line.startswith("| 2 |")
    ]
    assert len(rows) == 7
    for row in rows:
        assert [float(row[4]), float(row[5])] == [
            pytest.approx(which[row[2], 4], abs=0.06) for which in (times, means)
        ]
    assert sorted(path.name for path in tmp_path.glob("plot-*")) == [
        "plot-8.png",
        "plot-8.svg",
        "plot-9.png",
        "plot-9.svg",
    ]
