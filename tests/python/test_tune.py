"""`tutti tune`: candidates, decisions on made-up measurements, resuming, and one real tuning."""

import os
import random
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import Tutti, mpis
from tutti.bench.driver import execute
from tutti.bench.measurements import Cell
from tutti.bench.mpis import Mpi
from tutti.bench.variants import Variant, command, environment
from tutti.choose.candidates import (
    HALVES,
    Candidate,
    algorithms_for,
    candidates_for,
    parse_collectives,
    size_word,
)
from tutti.choose.links import links_of, links_of_this_machine
from tutti.choose.picking import DEFAULT, TUNED, Pick, confirmed, in_the_race, pick, rules_of
from tutti.errors import RunError, UserError
from tutti.places import core, find_program
from tutti.tuning import jobs as state
from tutti.tuning import measuring
from tutti.tuning.jobs import Job, TuneSettings, jobs_of
from tutti.tuning.measuring import chosen_by, table_of
from tutti.tuning.writing import default_of, rule_text, table_text

MPICH = Mpi(
    "mpich", "mpich", "5.0.2", Path("/opt/mpich/bin/mpiexec"), Path("/opt/mpich/lib/libmpi.so.12")
)
SETTINGS = TuneSettings(
    mpi=MPICH,
    ranks=[2, 4],
    cores=2,
    collectives=["allreduce", "bcast", "barrier"],
    sizes=[8, 4096, 65536],
    repetitions=5,
    budget_ms=1,
    margin=0.02,
    seed=1,
)


def noisy(microseconds: float, noise: float, seed: int, repetitions: int = 7) -> dict[int, float]:
    values = random.Random(seed)
    return {r: microseconds * (1 + noise * (2 * values.random() - 1)) for r in range(repetitions)}


def test_candidates_are_what_the_core_has_and_each_plan_once():
    assert algorithms_for(2, "bcast") == [
        "flat",
        "levels:push",
        "ring",
    ]  # all trees of two ranks are the same, except which rank moves the data; a ring has two tiles
    assert algorithms_for(4, "allreduce") == [
        "flat",
        "binomial",
        "binomial:stepwise",
        "binary",
        "binary:stepwise",
        "nary:4:stepwise",
        "levels:binomial:one_stage",
        "levels:push",
        "all_read_all",
        "ring",
        "tiled",
        "tiled:cyclic",
        "doubling",
        "halving",
    ]
    rings = ["token_ring:1:threshold=32K:within", "token_ring:1:pull"]
    assert algorithms_for(4, "gather")[-2:] == rings
    assert "ring" in algorithms_for(4, "allgather") and "all_read_all" not in algorithms_for(
        65, "allgather"
    )
    for ranks in (2, 3, 8, 17):
        for collective in core().collectives():
            assert algorithms_for(ranks, collective)
    assert {one.segment_bytes for one in candidates_for(2, "bcast", [8, 8192])} == {0}
    assert {one.segment_bytes for one in candidates_for(2, "bcast", [8, 65536])} == {
        0,
        24576,
        65536,
        HALVES,
    }
    assert {one.segment_bytes for one in candidates_for(2, "barrier", [65536])} == {0}


def test_the_systems_copies_are_candidates_for_long_messages():
    def labels(collective, size, system_copies=True):
        found = candidates_for(2, collective, [size], (), system_copies)
        return {one.label for one in found if one.reach}

    assert "flat reach cma" in labels("bcast", 65536)
    assert labels("bcast", 8192) == labels("barrier", 65536) == set()
    assert labels("bcast", 65536, False) == set()
    jobs = jobs_of(replace(SETTINGS, system_copies=True), 0, 2, {})
    assert all(
        job.sizes == (65536,) for job in jobs if any("cma" in label for _, label in job.labels)
    )
    assert any("cma" in label for job in jobs for _, label in job.labels)
    assert Candidate("tiled", 24576).label == "tiled segment 24K"
    assert Candidate("tiled", HALVES).label == "tiled segment halves"
    (rule,) = core().read_map("tutti-map 1\nallreduce -> builtin:tiled segment halves\n", "m")[
        "rules"
    ]
    assert rule["segment_bytes"] == HALVES and rule["text"].endswith("segment halves")


def test_names():
    assert parse_collectives("reduce_scatter_block,bcast,reduce_scatter") == [
        "reduce_scatter",
        "bcast",
    ]
    assert parse_collectives("all") == core().collectives()
    with pytest.raises(UserError, match="'gossip' is unknown; known are all, barrier"):
        parse_collectives("gossip")
    assert [size_word(n) for n in (0, 8, 1024, 1000, 1 << 20, 3 << 30)] == [
        "0",
        "8",
        "1K",
        "1000",
        "1M",
        "3G",
    ]


def test_the_default_stays_unless_something_is_faster_by_more_than_the_noise():
    cell = Cell(2, "bcast", 8)
    usual = noisy(10, 0.05, 1)
    assert pick({cell: {DEFAULT: usual, "binomial": noisy(9.9, 0.05, 2)}}, 0.02)[0].label is None
    assert pick({cell: {DEFAULT: usual, "binomial": noisy(12, 0.05, 2)}}, 0.02)[0].label is None
    assert (
        pick({cell: {DEFAULT: noisy(10, 0.8, 3), "binomial": noisy(9, 0.8, 4)}}, 0.02)[0].label
        is None
    )
    chosen = pick(
        {cell: {DEFAULT: usual, "binomial": noisy(8, 0.05, 2), "nary:4": noisy(7, 0.05, 3)}}, 0.02
    )[0]
    assert chosen.label == "nary:4" and chosen.ratio is not None and 1.35 < chosen.ratio.value < 1.5
    # The candidate is faster, but by less than the margin.
    assert pick({cell: {DEFAULT: usual, "binomial": noisy(8, 0.05, 2)}}, 0.5)[0].label is None


def test_two_repetitions_change_nothing():
    times = {Cell(2, "bcast", 8): {DEFAULT: noisy(10, 0, 1, 2), "binomial": noisy(1, 0, 1, 2)}}
    assert pick(times, 0.02)[0].label is None


def test_repetitions_are_compared_in_pairs():
    """If a machine is slow for a while, both variants are slow."""
    drift = [1, 3, 1, 5, 2, 1, 4]
    cell = Cell(2, "bcast", 8)
    usual = {r: 10.0 * factor for r, factor in enumerate(drift)}
    other = {r: 9.0 * factor for r, factor in enumerate(drift)}
    assert pick({cell: {DEFAULT: usual, "binomial": other}}, 0.02)[0].label == "binomial"


def test_the_race():
    cells = [Cell(2, "bcast", 8), Cell(2, "bcast", 64)]

    def race(first: float, second: float, repetitions: int) -> bool:
        times = {
            cell: {DEFAULT: noisy(10, 0.02, 1, repetitions), "x": noisy(us, 0.02, 2, repetitions)}
            for cell, us in zip(cells, (first, second), strict=True)
        }
        return in_the_race(times, 2, "bcast", "x", 0.02)

    assert in_the_race({}, 2, "bcast", "x", 0.02)
    assert race(100, 100, 1)
    assert not race(100, 100, 2) and race(100, 11, 2)
    assert not race(11, 11, 3) and race(11, 9, 3)


def picked(collective: str, ranks: int, answers: dict[int, str | None]) -> list[Pick]:
    picks = []
    for size, label in answers.items():
        cell = Cell(ranks, collective, size)
        times = {
            cell: {DEFAULT: noisy(10, 0.01, 1)} | ({label: noisy(5, 0.01, 2)} if label else {})
        }
        picks += pick(times, 0.02)
        assert picks[-1].label == label
    return picks


def test_rules_join_neighbours_and_split_between_sizes():
    x, y = "tiled segment 24K", "nary:4"
    answers: dict[int, str | None] = {8: None, 64: y, 512: y, 4096: None, 1 << 20: x}
    assert [rule_text(rule) for rule in rules_of(picked("allreduce", 4, answers), 2, 48)] == [
        "allreduce ranks 4 oversubscribed yes reached no sizes 49..1K -> builtin:nary:4",
        "allreduce ranks 4 oversubscribed yes reached no sizes 65537.. -> builtin:tiled segment "
        "24K",
    ]
    assert [rule_text(rule) for rule in rules_of(picked("bcast", 2, {4096: y}), 2, 48)] == [
        "bcast ranks 2 oversubscribed no reached no sizes 2K..8K -> builtin:nary:4"
    ]
    assert [
        rule_text(rule) for rule in rules_of(picked("bcast", 2, {8: y, 1 << 20: y}), 2, 48)
    ] == ["bcast ranks 2 oversubscribed no reached no -> builtin:nary:4"]
    assert [
        rule_text(rule) for rule in rules_of(picked("bcast", 2, {4096: y}), 2, 48, reached=True)
    ] == ["bcast ranks 2 oversubscribed no reached yes sizes 2K..8K -> builtin:nary:4"]
    assert [rule_text(rule) for rule in rules_of(picked("barrier", 3, {0: y}), 2, 48)] == [
        "barrier ranks 3 oversubscribed yes -> builtin:nary:4"
    ]
    assert rules_of(picked("bcast", 2, {8: None, 64: None}), 2, 48) == []


def test_rules_join_rank_counts_that_were_measured_one_after_the_other():
    def texts(answers: dict[int, str | None]) -> list[str]:
        picks = [
            one for ranks, label in answers.items() for one in picked("barrier", ranks, {0: label})
        ]
        return [rule_text(rule) for rule in rules_of(picks, 4, 48)]

    assert texts({2: "nary:4", 4: "nary:4", 8: "nary:4"}) == [
        "barrier ranks 2..4 oversubscribed no -> builtin:nary:4",
        "barrier ranks 8 oversubscribed yes -> builtin:nary:4",
    ]
    assert len(texts({2: "nary:4", 3: None, 4: "nary:4"})) == 2


def test_every_measured_size_gets_its_answer_from_the_table_that_is_written(tmp_path):
    """The core reads the written table and gets the pick for every measured size."""
    values = random.Random(5)
    sizes = [8, 40, 48, 56, 64, 72, 512, 520, 4096, 65536, 1 << 20]
    names: list[str | None] = [None, "nary:4", "tiled segment 64K", "binomial"]
    for _ in range(8):
        picks = picked("allreduce", 4, {size: values.choice(names) for size in sizes})
        defaults = {one: "the default" for one in picks}
        file = tmp_path / "tuned.map"
        file.write_text(table_text(rules_of(picks, 2, core().line_payload), SETTINGS, 7, defaults))
        for one in picks:
            found = core().explain("allreduce", one.cell.bytes, 4, 0, True, [0, 1], str(file))
            chosen = found["considered"][found["chosen"]]
            assert chosen["place"].startswith("default.map" if one.label is None else str(file))
            if one.label is not None:
                assert chosen["rule"].endswith(f"builtin:{one.label}")


def test_jobs_measure_every_candidate_once_and_the_same_on_every_call():
    jobs = jobs_of(SETTINGS, 0, 4, {})
    assert jobs == jobs_of(SETTINGS, 0, 4, {}) and jobs != sorted(jobs, key=lambda job: job.labels)
    measured = [(name, label) for job in jobs for name, label in job.labels]
    assert len(measured) == len(set(measured))
    for name in SETTINGS.collectives:
        labels = {label for collective, label in measured if collective == name}
        assert labels == {DEFAULT} | {one.label for one in candidates_for(4, name, SETTINGS.sizes)}
    assert all(
        job.sizes == (65536,) for job in jobs if any("segment" in label for _, label in job.labels)
    )
    assert {tuple(job.sizes) for job in jobs} == {(8, 4096, 65536), (65536,)}


def test_a_jobs_table_is_read_by_the_core():
    job = Job(
        0, 4, (("allreduce", "tiled segment 24K"), ("bcast", DEFAULT), ("barrier", "nary:4")), (8,)
    )
    rules = core().read_map(table_of(job))["rules"]
    assert [rule["text"] for rule in rules] == [
        "allreduce -> builtin:tiled segment 24K",
        "barrier -> builtin:nary:4",
    ]


def test_the_environment_of_a_job_has_no_other_choice(monkeypatch, tmp_path):
    monkeypatch.setenv("TUTTI_ALGORITHM_BCAST", "binomial")
    monkeypatch.setenv("TUTTI_TABLE", "/my.map")
    monkeypatch.setenv("TUTTI_SHARED_HEAP", "1")
    monkeypatch.setenv("TUTTI_SHM", "posix")
    with chosen_by(tmp_path / "x.map"):
        assert "TUTTI_ALGORITHM_BCAST" not in os.environ and os.environ["TUTTI_TABLE"] == str(
            tmp_path / "x.map"
        )
        assert os.environ["TUTTI_SHM"] == "posix"
    assert (
        os.environ["TUTTI_ALGORITHM_BCAST"] == "binomial" and os.environ["TUTTI_TABLE"] == "/my.map"
    )
    with chosen_by(None):
        assert "TUTTI_SHARED_HEAP" not in os.environ
        assert os.environ["TUTTI_TABLE"] == "none"  # also where a job would find one
        assert default_of("bcast", 8, 4, False).label == "flat"
        labels = [
            default_of("allreduce", 65536, 2, False, reached).label for reached in (False, True)
        ]
        assert labels == ["tiled segment 128K", "all_read_all segment 128K"]
        assert default_of("allreduce", 1 << 18, 4, True).label == "tiled segment 64K"


def pretend(settings: TuneSettings, job: Job, directory: Path) -> dict[tuple[str, int], float]:
    """A machine on which binomial bcasts are twice as fast as everything else."""
    values = random.Random(f"{job}")
    fast = {
        "binomial",
        *(label for _, label in job.labels if label.startswith(TUNED) and job.ranks == 4),
    }
    return {
        (name, size): (5 if label in fast and name == "bcast" else 10)
        * (1 + 0.01 * values.random())
        for name, label in job.labels
        for size in ([0] if name == "barrier" else job.sizes)
    }


def labels(picks: list[Pick]) -> dict[tuple[str, int], str]:
    return {
        (one.cell.collective, one.cell.ranks): one.label for one in picks if one.label is not None
    }


def tuned(
    settings: TuneSettings,
    kept: state.State,
    stop_after: int | None = None,
    file: Path | None = None,
    execute=pretend,
) -> tuple[list[Pick], list[Pick]]:
    ended = 0

    def after_job() -> None:
        nonlocal ended
        ended += 1
        if file is not None:
            state.save(kept, file)
        if ended == stop_after:
            raise KeyboardInterrupt

    return measuring.Measuring(
        settings, kept, lambda line, done, total: None, after_job, execute
    ).run(60)


def test_a_resumed_tuning_gives_the_same_result(tmp_path):
    whole = state.State(state.settings_json(SETTINGS))
    answer = tuned(SETTINGS, whole)
    assert labels(answer[1]) == {("bcast", 4): "binomial"}
    file = tmp_path / "tuned.map.state"
    for stop_after in (1, 7, len(whole.done) - 1):
        first = state.State(state.settings_json(SETTINGS))
        with pytest.raises(KeyboardInterrupt):
            tuned(SETTINGS, first, stop_after, file)
        second = state.load(file, SETTINGS)
        assert len(second.done) == stop_after
        assert tuned(SETTINGS, second) == answer
        assert second.done == whole.done


def test_candidates_that_cannot_win_are_left_out_after_three_repetitions():
    kept = state.State(state.settings_json(SETTINGS))
    tuned(SETTINGS, kept)
    jobs = [job for job in kept.done if (job.repetition, job.ranks) == (4, 4)]
    last = {label for job in jobs for name, label in job.labels if name == "bcast"}
    assert last == {DEFAULT, "binomial"}


def test_a_race_that_all_candidates_leave_early_is_complete():
    def hopeless(settings: TuneSettings, job: Job, directory: Path) -> dict[tuple[str, int], float]:
        return {
            (name, size): 10.0 if label == DEFAULT else 100.0
            for name, label in job.labels
            for size in ([0] if name == "barrier" else job.sizes)
        }

    kept = state.State(state.settings_json(SETTINGS))
    assert measuring.still_racing(SETTINGS, kept)
    raced, picks = tuned(SETTINGS, kept, execute=hopeless)
    assert {job.repetition for job in kept.done} == {0, 1} and not measuring.still_racing(
        SETTINGS, kept
    )
    assert labels(raced) == labels(picks) == {} and picks


def test_a_lead_that_is_not_confirmed_changes_nothing():
    def lucky(settings: TuneSettings, job: Job, directory: Path) -> dict[tuple[str, int], float]:
        tuned_alike = Job(
            job.repetition, job.ranks, tuple((name, DEFAULT) for name, _ in job.labels), job.sizes
        )
        return pretend(
            settings, tuned_alike if job.repetition >= settings.repetitions else job, directory
        )

    raced, kept = tuned(SETTINGS, state.State(state.settings_json(SETTINGS)), execute=lucky)
    assert labels(raced) == {("bcast", 4): "binomial"} and labels(kept) == {}


def test_confirming_takes_the_new_numbers_and_needs_three_repetitions():
    cell = Cell(2, "bcast", 8)
    picks = pick({cell: {DEFAULT: noisy(10, 0.01, 1), "binomial": noisy(5, 0.01, 2)}}, 0.02)
    again = confirmed(
        picks, {cell: {DEFAULT: noisy(12, 0.01, 1), TUNED: noisy(8, 0.01, 2)}}, TUNED, 0.02
    )[0]
    assert (
        again.label == "binomial"
        and again.default_us > 11
        and again.ratio is not None
        and again.ratio.value < 1.6
    )
    few = {cell: {DEFAULT: noisy(12, 0.01, 1, 2), TUNED: noisy(8, 0.01, 2, 2)}}
    assert confirmed(picks, few, TUNED, 0.02)[0].label is None
    of_another_table = {cell: {DEFAULT: noisy(12, 0.01, 1), "tuned other": noisy(8, 0.01, 2)}}
    assert confirmed(picks, of_another_table, TUNED, 0.02)[0].label is None


def test_time_runs_out_between_jobs_and_leaves_some_to_confirm():
    kept = state.State(state.settings_json(SETTINGS))

    def slow(settings: TuneSettings, job: Job, directory: Path) -> dict[tuple[str, int], float]:
        kept.seconds += 0.17
        return pretend(settings, job, directory)

    tuned(SETTINGS, kept, execute=slow)
    raced = [job for job in kept.done if job.repetition < SETTINGS.repetitions]
    assert len(raced) == 265 and len(kept.done) == 265 + 2 * SETTINGS.repetitions


def test_a_job_that_fails_twice_ends_the_tuning():
    failures = []

    def failing(settings: TuneSettings, job: Job, directory: Path) -> dict[tuple[str, int], float]:
        failures.append(job)
        if len(failures) == 1 or len(failures) > 3:
            raise RunError("no")
        return pretend(settings, job, directory)

    kept = state.State(state.settings_json(SETTINGS))
    with pytest.raises(RunError, match="no"):
        tuned(SETTINGS, kept, execute=failing)
    assert len(kept.done) == 2 and len(failures) == 5


def test_states_of_other_tunings_are_refused(tmp_path):
    file = tmp_path / "x.state"
    with pytest.raises(UserError, match="there is no '.*x.state'; leave --resume out"):
        state.load(file, SETTINGS)
    for text in ("", "[]", '{"format": "tutti-tune-state 1"}', '{"format": 3}'):
        file.write_text(text)
        with pytest.raises(UserError, match="x.state"):
            state.load(file, SETTINGS)
    state.save(state.State(state.settings_json(SETTINGS)), file)
    assert state.load(file, SETTINGS).done == {}
    with pytest.raises(UserError, match=r"was measured with sizes \[8, 4096, 65536\], not \[8\]"):
        state.load(file, replace(SETTINGS, sizes=[8]))
    with pytest.raises(UserError, match="was measured with shared_heap False, not True"):
        state.load(file, replace(SETTINGS, shared_heap=True))


def refused(tutti: Tutti, *arguments: str, environment: dict[str, str] | None = None) -> str:
    done = tutti("tune", *arguments, environment=environment)
    assert done.returncode == 2, done.stdout + done.stderr
    assert done.stderr.count("\n") == 1 and done.stderr.startswith("tutti: ")
    return done.stderr


def test_bad_options_are_refused_before_anything_runs(tutti, tmp_path):
    output = str(tmp_path / "tuned.map")
    assert "--collectives: 'gossip'" in refused(tutti, "-o", output, "--collectives", "gossip")
    assert "--minutes: '0'" in refused(tutti, "-o", output, "--minutes", "0")
    assert "--repetitions: '2'" in refused(tutti, "-o", output, "--repetitions", "2")
    assert "give counts of 2 or more" in refused(tutti, "-o", output, "--ranks", "1,2")
    assert "--output" in refused(tutti, "-o", str(tmp_path / "nowhere" / "tuned.map"))
    (tmp_path / "mine.map").write_text("tutti-map 1\nbcast -> mine.plan\n")
    assert "is not a table: remove it, or give another file" in refused(
        tutti, "-o", str(tmp_path / "mine.map")
    )
    (tmp_path / "tuned.map.state").write_text("{}")
    if mpis():
        assert "does not change a barrier" in refused(
            tutti, "-o", output, "--shared-heap", "--collectives", "bcast,barrier"
        )
        staged = refused(
            tutti, "-o", output, "--shared-heap", environment={"TUTTI_REACH": "staged"}
        )
        assert "--shared-heap: TUTTI_REACH=staged keeps ranks from reaching" in staged
        assert "add --resume to continue it" in refused(tutti, "-o", output)
        assert "is not a state file of `tutti tune`" in refused(tutti, "-o", output, "--resume")


def bench_under_tutti(table: Path, report: Path, *options: str) -> tuple[int, str, str]:
    """Runs two ranks of tutti-bench with a table; returns (exit code, stdout, stderr)."""
    mpich, (launcher, program) = (
        mpis()["mpich"],
        (find_program(name) for name in ("tutti-run", "tutti-bench-mpich")),
    )
    assert launcher is not None and program is not None
    words = command(Variant(mpich, "default", False), 2, "none", [], None)
    words += [str(launcher), "--table", str(table), f"--report={report}", str(program), *options]
    env = {
        name: value
        for name, value in environment(
            Variant(mpich, "default", True), "none", table.parent
        ).items()
        if not name.startswith("TUTTI_")
    }
    return execute(words, env, 60)


@pytest.mark.mpi
@pytest.mark.skipif("mpich" not in mpis(), reason="no MPICH here")
def test_a_table_is_obeyed_and_a_broken_one_ends_the_program_before_it_starts(tmp_path):
    table, report = tmp_path / "mine.map", tmp_path / "report.json"
    table.write_text("tutti-map 1\nallreduce ranks 2 sizes 1K.. -> builtin:binomial\n")
    code, _, errors = bench_under_tutti(
        table, report, "--collectives", "allreduce", "--bytes", "8,4K", "--iterations", "50"
    )
    assert code == 0, errors
    text = report.read_text()
    assert "binomial" in text and "all_read_all" in text
    table.write_text("tutti-map 1\n\nallreduce -> builtin:chain\n")
    code, _, errors = bench_under_tutti(table, report)
    said = [line for line in errors.splitlines() if line.startswith("tutti: ")]
    assert code == 2 and said == [
        f"tutti: error: {table}:3: algorithm 'chain' does not serve allreduce"
    ]
    code, _, errors = bench_under_tutti(tmp_path / "none.map", report)
    assert code == 2 and "tutti-run: --table " in errors and "No such file or directory" in errors


@pytest.mark.mpi
@pytest.mark.skipif("mpich" not in mpis(), reason="no MPICH here")
def test_a_small_real_tuning(document_of, tutti, tmp_path):
    output = tmp_path / "tuned.map"
    words = f"--ranks 2 --collectives scan --bytes 8,4K --mpi {mpis()['mpich'].name} -o {output}"
    document, said = document_of(
        f"tune --repetitions 3 --budget-ms 5 {words}",
        environment={"TUTTI_ALGORITHM_SCAN": "chain"},
        seconds=100,
    )
    assert "of 2 measured cells change" in said
    assert {job["repetition"] for job in document["jobs"]} >= {
        0,
        1,
        2,
    }  # there are more jobs if picks had to be confirmed
    assert {cell["bytes"] for job in document["jobs"] for cell in job["cells"]} == {8, 4096}
    assert all(cell["median_us"] > 0 for job in document["jobs"] for cell in job["cells"])
    assert output.read_text().startswith("tutti-map 1\n# Written by tutti tune ")
    found = tutti("explain", "scan", "--bytes", "8", "--ranks", "2", "--table", str(output))
    assert found.returncode == 0, found.stderr
    assert not (tmp_path / "tuned.map.state").exists()


def test_leaves_follow_from_one_core_and_from_all():
    """On sixteen cores a byte takes 1 ns for one core, and longer if all copy at once."""
    bytes = 4 << 20
    for slower, leaves in ((2.0, 16), (4.0, 12), (16 / 3, 7), (16.0, 3)):  # c = 8, 4, 3, 1
        steps = {
            "read": {"64": 64.0, str(bytes): float(bytes)},
            "read_by_16": {"64": 64.0, str(bytes): slower * bytes},
        }
        found = links_of("cache", 16, steps)
        assert found.leaves == leaves, slower
        assert (found.alone, found.shared) == pytest.approx((1.0, slower / 16), abs=2e-6)
        assert f"can have {leaves} leaves" in found.text


def test_links_of_this_machine_are_measured():
    for one in links_of_this_machine():
        assert one.alone > 0 and 0 < one.shared <= 10 * one.alone and 1 <= one.leaves <= one.cores


def test_measured_leaves_are_tried_and_kept(tmp_path):
    assert "levels:leaves=3" in algorithms_for(8, "reduce", (3,))
    assert "levels:leaves=3" not in algorithms_for(8, "alltoall", (3,))
    with_three = replace(SETTINGS, leaves=(3,))
    labels = {label for job in jobs_of(with_three, 0, 8, {}) for _, label in job.labels}
    assert "levels:leaves=3" in labels
    kept = state.State(state.settings_json(SETTINGS) | {"leaves": [3]})
    state.save(kept, tmp_path / "state")
    assert state.with_leaves(SETTINGS, state.load(tmp_path / "state", SETTINGS)) == with_three
