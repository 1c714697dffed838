"""`tutti explain`: the algorithm that serves a call, its rule, and everything else that was
considered.
"""

import json
from pathlib import Path

import pytest
from conftest import ROOT, Tutti
from tutti.places import core

DEFAULT = (ROOT / "src" / "select" / "default.map").read_text().splitlines()


def place_of(rule: str) -> str:
    return f"default.map:{DEFAULT.index(rule) + 1}"


def explained(tutti: Tutti, *arguments: str, environment: dict[str, str] | None = None):
    done = tutti("explain", *arguments, "--json", environment=environment)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def refused(tutti: Tutti, *arguments: str, environment: dict[str, str] | None = None) -> str:
    done = tutti("explain", *arguments, environment=environment)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.count("\n") == 1 and done.stderr.startswith("tutti: ")
    return done.stderr[len("tutti: ") :].rstrip("\n")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    file = tmp_path / "mine.map"
    file.write_text(
        "tutti-map 1\n# mine\nallreduce ranks 4 sizes 1K..1M -> builtin:binomial segment 8K\n"
    )
    return file


def test_the_default_is_named_by_file_and_line(tutti):
    found = explained(tutti, "allreduce", "--bytes", "256K", "--ranks", "4", "--oversubscribed")
    rule = found["considered"][found["chosen"]]
    file, line = rule["place"].split(":")
    assert file == "default.map" and DEFAULT[int(line) - 1] == rule["rule"]
    assert rule["rule"] == "allreduce oversubscribed yes -> builtin:tiled segment 64K"
    assert (
        found["runs"] == "tiled"
        and found["segment_bytes"] == 65536
        and found["segment_place"] == rule["place"]
    )
    assert found["bytes_range"] == [32768, 524287] and found["carrier"] == "slot"


def test_short_messages_go_through_lines(tutti):
    found = explained(tutti, "allreduce", "--bytes", "48", "--ranks", "2", "--no-oversubscribed")
    assert (found["runs"], found["carrier"], found["oversubscribed"]) == (
        "all_read_all",
        "line",
        False,
    )
    assert (
        explained(tutti, "allreduce", "--bytes", "49", "--ranks", "2", "--no-oversubscribed")[
            "carrier"
        ]
        == "slot"
    )


def test_more_ranks_than_cores_are_oversubscribed_by_default(tutti):
    assert explained(tutti, "barrier", "--ranks", "1024")["oversubscribed"]
    assert not explained(tutti, "barrier", "--ranks", "1")["oversubscribed"]
    assert explained(tutti, "barrier", "--ranks", "1", environment={"TUTTI_WAIT": "yield"})[
        "oversubscribed"
    ]
    assert not explained(tutti, "barrier", "--ranks", "64", environment={"TUTTI_WAIT": "spin"})[
        "oversubscribed"
    ]


def test_a_users_table_overrides_the_default(tutti, table):
    found = explained(
        tutti,
        "allreduce",
        "--bytes",
        "4K",
        "--ranks",
        "4",
        "--oversubscribed",
        "--table",
        str(table),
    )
    assert found["runs"] == "binomial" and found["bytes_range"] == [1024, 1048576]
    assert [one["place"] for one in found["considered"]][:2] == [
        f"{table}:3",
        place_of("allreduce oversubscribed yes sizes ..32767 -> builtin:flat segment 64K"),
    ]
    by_variable = explained(
        tutti, "allreduce", "--bytes", "4K", "--ranks", "4", environment={"TUTTI_TABLE": str(table)}
    )
    assert by_variable["runs"] == "binomial"
    other_ranks = explained(
        tutti, "allreduce", "--bytes", "4K", "--ranks", "3", "--table", str(table)
    )
    assert other_ranks["considered"][other_ranks["chosen"]]["place"].startswith("default.map:")


def test_variables_override_tables_and_are_named(tutti, table):
    words = {"TUTTI_ALGORITHM_ALLREDUCE": "flat", "TUTTI_SEGMENT_BYTES": "4K"}
    arguments = ("allreduce", "--bytes", "64K", "--ranks", "4", "--table", str(table))
    found = explained(tutti, *arguments, environment=words)
    assert (found["runs"], found["segment_bytes"], found["segment_place"]) == (
        "flat",
        4096,
        "TUTTI_SEGMENT_BYTES",
    )
    text = tutti("explain", *arguments, environment=words).stdout
    assert "because    TUTTI_ALGORITHM_ALLREDUCE: TUTTI_ALGORITHM_ALLREDUCE=flat\n" in text
    assert (
        f"overrides  {table}:3: allreduce ranks 4 sizes 1K..1M -> builtin:binomial segment 8K\n"
        in text
    )
    assert "segments   16 of 4096 bytes, wanted by TUTTI_SEGMENT_BYTES\n" in text
    halves = tutti("explain", *arguments, environment={"TUTTI_SEGMENT_BYTES": "halves"}).stdout
    assert "segments   2 of 32768 bytes, wanted by TUTTI_SEGMENT_BYTES\n" in halves


def test_reach_and_the_setting_that_requests_it(tutti, tmp_path):
    table = tmp_path / "mine.map"
    table.write_text("tutti-map 1\ngather sizes 8K.. -> builtin:flat reach staged\n")
    arguments = ("gather", "--bytes", "64K", "--ranks", "4", "--table", str(table))
    found = explained(tutti, *arguments)
    assert (found["reach"], found["reach_place"]) == ("staged", f"{table}:2")
    assert (
        f"reach      by slots alone, wanted by {table}:2\n" in tutti("explain", *arguments).stdout
    )
    for word, said in (
        ("direct", "mapped memory where it is"),
        ("net", "none: messages of the host MPI"),
    ):
        text = tutti("explain", *arguments, environment={"TUTTI_REACH": word}).stdout
        assert f"reach      {said}, wanted by TUTTI_REACH\n" in text
    short = explained(tutti, "gather", "--bytes", "8", "--ranks", "4", "--table", str(table))
    assert (short["reach"], short["reach_place"]) == ("", "")


def test_placement_reads_no_table_for_reductions(tutti, tmp_path):
    table = tmp_path / "mine.map"
    table.write_text("tutti-map 1\nallreduce -> builtin:binomial\nbcast -> builtin:binomial\n")
    environment = {"TUTTI_REPRODUCIBLE": "placement", "TUTTI_TABLE": str(table)}
    found = explained(
        tutti,
        "allreduce",
        "--bytes",
        "4K",
        "--ranks",
        "4",
        "--no-oversubscribed",
        environment=environment,
    )
    assert found["runs"] == "flat" and found["considered"][0]["place"].startswith("placement.map:")
    assert "placement.map alone" in found["notes"][0]
    assert (
        explained(tutti, "bcast", "--bytes", "4K", "--ranks", "4", environment=environment)["runs"]
        == "binomial"
    )


def test_plans_override_the_table_if_they_fit(tutti, table, tmp_path):
    plans = tmp_path / "plans"
    plans.mkdir()
    (plans / "map").write_text("tutti-map 1\nallreduce -> own.tree\n")
    (plans / "own.tree").write_text("tutti-tree 1\ncollective allreduce\nranks 4\nreduce 0: 1..3\n")
    arguments = ("allreduce", "--bytes", "4K", "--table", str(table), "--plans", str(plans))
    assert explained(tutti, *arguments, "--ranks", "4")["runs"] == "own.tree"
    found = explained(tutti, *arguments, "--ranks", "3")
    assert found["considered"][0]["refused"] == "it is for 4 ranks, the communicator has 3"
    assert found["chosen"] == 1


def test_algorithms_that_need_too_much_memory_are_named(tutti, tmp_path):
    table = tmp_path / "mine.map"
    table.write_text("tutti-map 1\nallreduce -> builtin:tiled\n")
    arguments = ("--bytes", "1M", "--ranks", "1000", "--table", str(table))
    found = explained(tutti, "allreduce", *arguments)
    assert found["runs"] == "flat" and "tiled needs more shared memory" in found["notes"][0]


def test_text_of_a_barrier(tutti):
    rule = "barrier ranks ..8 oversubscribed no -> builtin:all_read_all"
    done = tutti("explain", "barrier", "--ranks", "2", "--no-oversubscribed")
    assert done.stdout.splitlines()[:3] == [
        "barrier, 2 ranks, a core for every rank",
        "algorithm  all_read_all",
        f"because    {place_of(rule)}: {rule}",
    ]


def test_nodes_of_a_shape_are_known(tutti):
    found = explained(
        tutti,
        "bcast",
        "--bytes",
        "8",
        "--ranks",
        "8",
        "--shape",
        "node:4 core:2",
        "--no-oversubscribed",
    )
    assert found["runs"] == "hierarchical" and found["between_nodes"] == {
        "messages": 3,
        "delays": 1,
        "most_messages": 3,
    }
    one = explained(
        tutti,
        "bcast",
        "--bytes",
        "8",
        "--ranks",
        "8",
        "--shape",
        "numa:4 core:2",
        "--no-oversubscribed",
    )
    assert "between_nodes" not in one
    two_sites = explained(
        tutti, "bcast", "--bytes", "1M", "--ranks", "16", "--shape", "cluster:2 node:4 core:2"
    )
    assert two_sites["runs"] == "hierarchical+levels:flat"


def test_the_hosts_messages_are_not_counted(tutti):
    words = (
        "allreduce",
        "--bytes",
        "64K",
        "--ranks",
        "8",
        "--shape",
        "node:4 core:2",
        "--no-oversubscribed",
    )
    by_host = {"TUTTI_ALGORITHM_ALLREDUCE": "hierarchical+host"}
    found = explained(tutti, *words, environment=by_host)
    assert found["runs"] == "hierarchical+host" and found["between_nodes"] == {
        "host": True,
        "leaders": 4,
    }
    assert (
        "the host MPI's own collective among 4 leaders"
        in tutti("explain", *words, environment=by_host).stdout
    )
    alone = explained(tutti, *words[:5], "--shape", "node:8 core:1", environment=by_host)
    assert alone["between_nodes"] == {"host": True, "leaders": 8}


def test_the_hosts_collective_is_refused_if_an_order_is_required(tutti, tmp_path: Path):
    table = tmp_path / "by-host.map"
    table.write_text("tutti-map 1\nallreduce nodes 2.. -> builtin:hierarchical+host\n")
    words = (
        "allreduce",
        "--bytes",
        "8",
        "--ranks",
        "8",
        "--shape",
        "node:4 core:2",
        "--table",
        str(table),
    )
    assert explained(tutti, *words)["runs"] == "hierarchical+host"
    found = explained(tutti, *words, environment={"TUTTI_REPRODUCIBLE": "run"})
    assert found["runs"] == "hierarchical" and "its own affair" in found["considered"][0]["refused"]
    table.write_text("tutti-map 1\ngather nodes 2.. -> builtin:hierarchical+host\n")
    assert "for barrier, bcast, reduce and allreduce, not for gather" in refused(tutti, *words)


def test_without_a_collective_it_prints_the_rules(tutti, table):
    lines = tutti("explain", "--table", str(table)).stdout.splitlines()
    rules = [line for line in DEFAULT if "->" in line]
    assert lines[0].split(None, 1) == [
        f"{table}:3",
        "allreduce ranks 4 sizes 1K..1M -> builtin:binomial segment 8K",
    ]
    assert [line.split(None, 1)[1] for line in lines[1:]] == rules


def test_refusals_are_one_line(tutti, tmp_path):
    broken = tmp_path / "broken.map"
    broken.write_text("tutti-map 1\n\nbcast -> builtin:doubling\n")
    by_file = tmp_path / "file.map"
    by_file.write_text("tutti-map 1\nbcast -> own.plan\n")
    bcast = ("bcast", "--bytes", "8", "--table")
    assert (
        refused(tutti, *bcast, str(broken))
        == f"{broken}:3: algorithm 'doubling' does not serve bcast"
    )
    assert refused(tutti, *bcast, str(by_file)).startswith(
        f'{by_file}:2: "own.plan" is a plan\'s file'
    )
    assert "is no file" in refused(tutti, *bcast, str(tmp_path / "none.map"))
    assert "'gathr' is no collective; known are barrier" in refused(tutti, "gathr")
    assert "always runs by direct" in refused(tutti, "gatherv", "--bytes", "8")
    assert "with --bytes" in refused(tutti, "gather")
    assert "--bytes: '8T' is not" in refused(tutti, "gather", "--bytes", "8T")
    assert "--ranks: 0" in refused(tutti, "gather", "--bytes", "8", "--ranks", "0")
    assert "--root: 2 is out of range" in refused(
        tutti, "gather", "--bytes", "8", "--ranks", "2", "--root", "2"
    )
    assert "has no root" in refused(
        tutti, "allgather", "--bytes", "8", "--ranks", "2", "--root", "1"
    )
    wrong = {"TUTTI_ALGORITHM_GATHER": "tiled"}
    said = refused(tutti, "gather", "--bytes", "8", environment=wrong)
    assert "TUTTI_ALGORITHM_GATHER: algorithm 'tiled' does not serve gather" in said


def test_the_page_shows_the_real_output_and_a_valid_table(tutti):
    page = (ROOT / "docs" / "tuning.md").read_text()
    printed = tutti(
        "explain", "allreduce", "--bytes", "256K", "--ranks", "4", "--oversubscribed"
    ).stdout
    shown = page.split("    $ tutti explain allreduce --bytes 256K --ranks 4\n")[1].split("\n\n")[0]
    assert [line.removeprefix("    ") for line in shown.splitlines()] == printed.splitlines()
    tables = [block for block in page.split("```\n")[1::2] if block.startswith("tutti-map 1")]
    assert [len(core().read_map(table)["rules"]) for table in tables] == [3]


ON_NODES = ("--ranks", "8", "--shape", "node:4 core:2", "--no-oversubscribed")


def segments_of(text: str) -> str:
    return next(line for line in text.splitlines() if line.startswith("segments"))


def test_between_nodes_segments_are_those_of_the_host(tutti):
    """A message that MPICH sends unasked goes whole; it was said to go in two segments, which it does with Open MPI alone."""
    words = ("bcast", "--bytes", "64K", *ON_NODES)
    whole, cut = (explained(tutti, *words, "--mpi", host) for host in ("mpich", "openmpi"))
    assert (whole["segments"], whole["segment_bytes"], whole["mpi"]) == (1, 65536, "mpich")
    assert (cut["segments"], cut["segment_bytes"], cut["mpi"]) == (2, 32768, "openmpi")
    said = tutti("explain", *words).stdout
    assert segments_of(said) == "segments   none: the message goes in one piece"
    assert (
        "note       segments are those of MPICH; with Open MPI: 2 of 32768 bytes, the executor's choice\n"
        in said
    )
    by_variable = tutti("explain", *words, environment={"TUTTI_MPI": "openmpi"}).stdout
    assert segments_of(by_variable).startswith("segments   2 of 32768 bytes")
    assert "note" not in by_variable
    assert explained(tutti, *words[:3], "--ranks", "2", "--no-oversubscribed")["mpi"] == ""
    assert "--mpi: 'lam' is none of mpich, openmpi, mpiabi" in refused(
        tutti, *words, "--mpi", "lam"
    )


def test_with_reach_net_every_rank_is_a_node(tutti):
    words = ("bcast", "--bytes", "32K", "--ranks", "4", "--no-oversubscribed")
    assert explained(tutti, *words)["segments"] > 1
    found = explained(tutti, *words, environment={"TUTTI_REACH": "net"})
    assert (found["segments"], found["mpi"]) == (1, "mpich")
    assert found["between_nodes"]["messages"] == 3


def test_both_programs_beside_the_hosts_collective(tutti):
    by_host = {"TUTTI_ALGORITHM_ALLREDUCE": "hierarchical+host", "TUTTI_SEGMENT_BYTES": "16K"}
    words = ("allreduce", "--bytes", "64K")
    found = explained(tutti, *words, *ON_NODES, environment=by_host)
    assert [leg["phase"] for leg in found["legs"]] == ["before", "after"]
    assert {leg["segments"] for leg in found["legs"]} == {4} and found["segments"] == 4
    alone = ("--ranks", "4", "--shape", "node:4 core:1", "--no-oversubscribed")
    assert explained(tutti, *words, *alone, environment=by_host)["legs"] == []
    assert "only the host MPI moves data" in tutti("explain", *words, *alone, environment=by_host).stdout  # fmt: skip


def test_readers_bypass_slots_where_they_can(tutti, tmp_path):
    words = ("bcast", "--bytes", "256K", "--ranks", "4", "--no-oversubscribed")
    assert explained(tutti, *words)["bypass"] == []
    assert explained(tutti, *words, "--reached")["bypass"] == ["direct"]
    assert explained(tutti, *words[:2], "4K", *words[3:], "--reached")["bypass"] == []
    staged = {"TUTTI_REACH": "staged"}
    without = explained(tutti, *words, "--reached", environment=staged)
    assert (without["bypass"], without["reached"]) == ([], False)
    assert (
        "readers    from slots alone\n"
        in tutti("explain", *words, "--reached", environment=staged).stdout
    )
    by_system = {"TUTTI_REACH": "cma"}
    assert explained(tutti, *words, environment=by_system)["bypass"] == ["cma"]
    assert explained(tutti, *words[:2], "64K", *words[3:], environment=by_system)["bypass"] == []
    table = tmp_path / "mine.map"
    table.write_text("tutti-map 1\nbcast -> builtin:flat reach cma\n")
    by_rule = tutti("explain", *words[:2], "64K", *words[3:], "--reached", "--table", str(table))
    assert (
        "readers    from the buffer itself where they have mapped it, by the system's copies where it permits them; "
        "else from slots\n" in by_rule.stdout
    )


def test_a_communicator_takes_half_of_the_memory_that_was_asked_for(tutti):
    words = ("allreduce", "--bytes", "1M", "--ranks", "4", "--no-oversubscribed")
    variables = {"TUTTI_ALGORITHM_ALLREDUCE": "flat", "TUTTI_SEGMENT_BYTES": "16K"}
    small, large = (
        explained(tutti, *words, environment=variables | {"TUTTI_SHM_BYTES_PER_RANK": size})
        for size in ("128K", "4M")
    )
    assert large["segment_bytes"] == 16384 and small["segment_bytes"] < 16384
    assert small["positions"] < large["positions"] <= large["segments"]


def test_alone_it_says_what_to_name(tutti):
    done = tutti("explain")
    assert done.returncode == 2 and done.stdout == ""
    assert "tutti explain allreduce --bytes 1K" in done.stderr and "--rules" in done.stderr
    assert len(tutti("explain", "--rules").stdout.splitlines()) > 100


def test_a_shape_has_its_own_cores(tutti):
    """Whatever this machine has: ranks outnumber the cores of the machine that was described."""
    words = ("explain", "allreduce", "--bytes", "1K", "--ranks", "64", "--shape")
    assert "64 ranks, a core for every rank" in tutti(*words, "numa:2 core:32").stdout
    assert "64 ranks, more ranks than cores" in tutti(*words, "numa:2 core:16").stdout
