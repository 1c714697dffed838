"""`tutti sim --servers`: the paper's sentences hold on the simulated machines (docs/papers.md)."""

import json

import pytest
from tutti.errors import UserError
from tutti.places import find_program
from tutti.saturation import enough_cores, fractions
from tutti.simulation import injection
from tutti.simulation.injection import Simulator, all_to_all, read_machine
from tutti.simulation.injection_report import _draw_transposes, draw
from tutti.simulation.multigrid import levels_of, v_cycles, work_us
from tutti.simulation.transposes import PROBLEMS, transposes

pytestmark = pytest.mark.skipif(
    find_program("tutti-injection") is None, reason="the program tutti-injection is missing"
)


def simulator(name: str) -> Simulator:
    return Simulator(*read_machine(name))


@pytest.fixture(scope="module", params=["edison", "carver"])
def machine(request):
    return request.param


@pytest.fixture(scope="module")
def map_(machine):
    return injection.saturation(simulator(machine))


def test_saturation(machine, map_):
    if machine == "edison":
        assert enough_cores(map_, "put", 1024) > 8
        assert enough_cores(map_, "get", 1024) == 4
    else:
        assert all(enough_cores(map_, "put", size) >= 4 for size in (8, 128, 256))
        assert enough_cores(map_, "put", 512) <= 2
        assert all(enough_cores(map_, "get", size) >= 4 for size in (8, 512, 4096))
    for kind in ("put", "get"):
        assert enough_cores(map_, kind, 32768) <= 2
        assert 0.75 <= list(fractions(map_, kind, 32768).values())[-1] < 0.95


def test_two_servers(machine):
    rows = injection.parallel(simulator(machine), [4096, 65536], [2, 64])
    gains = {(row["clients"], row["kind"], row["bytes"], row["messages"]): row for row in rows}
    assert gains[1, "get", 4096, 64]["gain"] >= 2
    assert gains[2, "get", 4096, 64]["gain"] >= 2
    assert all(row["gain"] < 1.05 for row in rows if row["bytes"] == 65536)
    assert all(row["adaptive_of_best"] >= 0.9 for row in rows)


def test_all_to_all():
    (row,) = all_to_all(simulator("edison"), 32, [4096])
    assert row["served"][0]["gain"] >= 1.3


def test_transposes_have_the_papers_messages():
    """Section 5.3: 256 B to 256 KiB in the first round, 8 KiB in the second; 512 B on 12,288 cores."""
    sizes = {problem.grid: [block for _, block, _ in problem.rounds] for problem in PROBLEMS}
    assert sizes[2, 64] == [256 << 10, 8192]
    assert sizes[64, 2] == [256, 8192]
    assert sizes[128, 8] == [512, 8192]
    for problem in PROBLEMS:
        for ranks, block, count in problem.rounds:
            whole = problem.size[0] * problem.size[1] * problem.size[2] * 16
            assert ranks * block * count * problem.grid[0] * problem.grid[1] == whole


def test_transposes_add_up_their_exchanges():
    edison = simulator("edison")
    (row,) = transposes(edison, [PROBLEMS[-1]])
    first, second = (
        all_to_all(edison, nodes, [size])[0]["own_us"] for nodes, size in ((128, 512), (8, 8192))
    )
    assert row["own_us"] == pytest.approx(64 * first + 64 * second, rel=1e-4)
    assert row["served"][0]["gain"] > row["served"][0]["whole_gain"] > 1.23


def test_transposes_are_drawn(tmp_path):
    """A bar for each problem and way, as high as its time."""
    document = {"machine": {"name": "edison"}, "fft": transposes(simulator("edison"), PROBLEMS[:2])}
    assert [file.name for file in draw(document, tmp_path / "t")] == ["t-fft.png", "t-fft.svg"]
    assert (tmp_path / "t-fft.svg").stat().st_size > 1000
    from matplotlib import pyplot

    _, axes = pyplot.subplots()
    _draw_transposes(axes, document)
    heights = [bar.get_height() for bar in axes.patches]
    rows = document["fft"]
    expected = [row["own_us"] for row in rows]
    for place in range(len(rows[0]["served"])):
        expected += [row["served"][place]["us"] for row in rows]
    assert heights == pytest.approx(expected)
    pyplot.close("all")


def test_v_cycles():
    """Faces of 8 KiB to 32 B gain the more, the shorter they are; servers take cores from threads."""
    assert [size for _, size, _ in levels_of(1, 32)] == [8192, 2048, 512, 128, 32]
    assert levels_of(64, 32)[0] == (10, 16 * 8192, 64 * 32**3)
    assert work_us(1000, 8, 6, 45.0) > work_us(1000, 8, 12, 45.0)
    assert work_us(10**7, 8192, 6, 45.0) == work_us(10**7, 8192, 12, 45.0)  # memory takes it all
    rows = {(row["boxes"], row["side"]): row for row in v_cycles(simulator("edison"))}
    assert len(rows) == 9
    for row in rows.values():
        for one in row["served"]:
            gains = one["gains"]
            assert gains["selective"] >= gains["all"]
    short, long = rows[1, 32], rows[1, 128]
    assert short["communicating"] > 0.8 > 0.2 > long["communicating"]
    assert short["served"][0]["gains"]["selective"] > 1.05
    assert long["served"][0]["gains"]["selective"] < 1.02


def test_command(tutti, tmp_path):
    file = tmp_path / "servers.json"
    words = ("sim", "alltoall,multigrid", "--servers", "--nodes", "8", "--bytes", "8,4K")
    done = tutti(*words, "--json-file", str(file), "--plot", str(tmp_path / "picture"))
    assert done.returncode == 0, done.stderr
    assert "all-to-all by gets, 8 nodes" in done.stdout
    assert [row["bytes"] for row in json.loads(file.read_text())["alltoall"]] == [8, 4096]
    assert "1 of 32^3" in done.stdout
    assert all((tmp_path / f"picture-{name}.png").exists() for name in ("alltoall", "multigrid"))


def test_mistakes(tutti, tmp_path):
    done = tutti("sim", "bcast", "--servers")
    assert done.returncode == 2 and "saturation, parallel, alltoall, trends" in done.stderr
    for words, named in (
        (("multigrid", "--machine", "judge"), "'multigrid' is simulated with --servers"),
        (("alltoall", "--machine", "edison"), "'--machine edison' is simulated with --servers"),
    ):
        done = tutti("sim", *words)
        assert done.returncode == 2 and named in done.stderr
    with pytest.raises(UserError, match="cannot be read"):
        read_machine(str(tmp_path / "none.json"))
    file = tmp_path / "machine.json"
    file.write_text(json.dumps(simulator("edison").machine | {"cores": 0}))
    done = tutti("sim", "saturation", "--servers", "--machine", str(file))
    assert done.returncode == 2 and "cores: must be at least 1" in done.stderr
