"""The results of `tutti bench mixed --cold`: means by condition and state of the machine,
tables, JSON.
"""

import json
from dataclasses import replace
from io import StringIO

import pytest
from made_up_jobs import cell_of
from rich.console import Console
from test_bench_driver import MPICH, OPENMPI
from tutti.bench import driver
from tutti.bench.conditions import all_shuffled_over_repeated, condition_summaries
from tutti.bench.document import as_json
from tutti.bench.measurements import CONDITIONS, Cell, Measurements, Settings
from tutti.bench.report import show
from tutti.bench.states import CHANGED, QUICK, SLOW, border, states_of, states_text
from tutti.bench.texts import kind_text
from tutti.bench.variants import Variant, in_detail
from tutti.bench.words import parse_bytes, parse_kinds
from tutti.errors import UserError

KINDS = (
    {"collective": "allreduce", "bytes": 4, "element": "uint32", "communicator": "dup"},
    {"collective": "bcast", "bytes": 4096, "root": 1, "element": "double", "communicator": "world"},
)
# Microseconds by variant and condition: Tutti loses half of its lead in a shuffled order, and all
# of it with cold caches on Open MPI.
TIMES = {
    "mpich": (0.4, 0.4, 0.8, 0.8), "openmpi": (0.6, 0.6, 0.6, 0.6),
    "mpich+tutti": (0.1, 0.2, 0.2, 0.3), "openmpi+tutti": (0.2, 0.22, 0.3, 0.6),
}  # fmt: skip
HAND_OVERS = (50.0, 190.0, 52.0, 188.0)  # by repetition


def job_of(variant: Variant, repetition: int, hand_over: float) -> dict:
    slow = (
        2.0 if hand_over > 100 and not variant.tutti else 1.0
    )  # the slow state slows the hosts more
    cells = []
    for condition, time in zip(CONDITIONS, TIMES[variant.key], strict=True):
        for kind in KINDS:
            us = time * slow * (1 + 0.01 * repetition)
            cells.append(cell_of(us, condition=condition, **kind))
    hand_overs = [{"condition": name, "ns": [hand_over, hand_over + 1]} for name in CONDITIONS]
    return {
        "library": variant.mpi.label,
        "cells": cells,
        "hand_overs": hand_overs,
        "share_of_others": 0.01,
    }


@pytest.fixture
def settings() -> Settings:
    return Settings(
        [MPICH, OPENMPI],
        [2],
        2,
        ["bcast"],
        [8],
        4,
        kinds="programs",
        mixed=True,
        cold=1 << 20,
        seed=3,
    )


@pytest.fixture
def measured(settings) -> Measurements:
    measurements = Measurements(settings, seed=3)
    for repetition, hand_over in enumerate(HAND_OVERS):
        measurements.limits.append({"format": "tutti-limits 1", "line_half_round_trip_ns": 70.0})
        for variant in settings.variants(2):
            measurements.add(2, variant, job_of(variant, repetition, hand_over))
    return measurements


def test_conditions_are_those_asked_for(settings):
    assert settings.conditions == list(CONDITIONS)
    assert Settings([MPICH], [2], 2, ["bcast"], [8], 1).conditions == ["plain"]
    assert Settings([MPICH], [2], 2, ["bcast"], [8], 1, cold=8).conditions == ["plain", "cold"]
    assert settings.job_seconds(2) == driver.JOB_SECONDS


def test_kinds_keep_what_distinguishes_them(measured):
    plain = [cell for cell in measured.cells if cell.condition == "plain"]
    assert plain == [Cell(2, "allreduce", 4, "uint32", None, "dup"), Cell(2, "bcast", 4096, root=1)]
    assert [kind_text(cell) for cell in plain] == ["allreduce 4 B uint32 dup", "bcast 4 KiB from 1"]
    assert (
        kind_text(Cell(2, "reduce", 8, root=0)) == "reduce 8 B to 0"
        and kind_text(Cell(2, "barrier", 0)) == "barrier"
    )


def test_means_of_each_condition_by_hand(measured):
    rows = {
        (row.variant.key, row.condition): row
        for row in condition_summaries(measured)
        if row.state == ""
    }
    on_mpich, mixed = rows["mpich+tutti", "plain"], rows["mpich+tutti", "mixed"]
    # Over the best peer, MPICH: 4x in the quick state, 8x in the slow one.
    assert on_mpich.ratio.value == pytest.approx(32**0.5)
    assert mixed.ratio.value == pytest.approx(8**0.5)
    assert mixed.kept.value == pytest.approx(0.5) and mixed.kept.low == pytest.approx(0.5)
    assert on_mpich.kept is None
    # With cold caches the best peer is Open MPI, which is not the host of this variant.
    cold = rows["mpich+tutti", "cold"]
    assert cold.entries[0].peer.key == "openmpi"
    assert cold.ratio.value == pytest.approx(18**0.5) and cold.over_host.value == pytest.approx(
        32**0.5
    )
    assert rows["openmpi+tutti", "mixed+cold"].ratio.value == pytest.approx(2**0.5)
    assert rows["openmpi+tutti", "mixed+cold"].behind == []


def test_kinds_behind_the_best_peer_are_counted_even_if_slightly_behind(measured):
    for cell, by_variant in measured.cells.items():
        if (cell.collective, cell.condition) == ("bcast", "mixed"):
            by_variant["openmpi+tutti"].median = [
                1.02 * time for time in by_variant["mpich"].median
            ]
    rows = {
        (row.variant.key, row.condition): row
        for row in condition_summaries(measured)
        if row.state == ""
    }
    behind = rows["openmpi+tutti", "mixed"].behind
    assert [entry.comparison.cell.collective for entry in behind] == ["bcast"] and not behind[
        0
    ].comparison.ratio.slower
    assert rows["openmpi+tutti", "mixed"].worst is behind[0]


def test_means_of_each_state(measured):
    rows = {
        (row.variant.key, row.condition, row.state): row for row in condition_summaries(measured)
    }
    quick, slow = (rows["mpich+tutti", "plain", state] for state in (QUICK, SLOW))
    assert (quick.repetitions, slow.repetitions) == (2, 2)
    assert quick.ratio.value == pytest.approx(4.0) and slow.ratio.value == pytest.approx(8.0)
    assert rows["mpich+tutti", "mixed", QUICK].kept.value == pytest.approx(0.5)


def test_a_job_that_saw_both_states_is_in_neither(measured):
    measured.hand_overs[2, "mpich"][0]["mixed"] = [51.0, 190.0]
    states = states_of(measured)
    assert states.state([51.0, 190.0]) == CHANGED
    assert states.repetitions(2, ["mpich", "mpich+tutti"], ["mixed"], QUICK) == [2]
    assert states.repetitions(2, ["mpich", "mpich+tutti"], ["plain"], QUICK) == [0, 2]
    assert "quick in 3; slow in 2, 4; changed in 1" in states_text(states, 2)


def test_one_state_is_reported_as_one(measured):
    for jobs in measured.hand_overs.values():
        jobs[:] = [{name: [50.0 + k] for name in CONDITIONS} for k in range(4)]
    assert {row.state for row in condition_summaries(measured)} == {""}
    assert (
        states_text(states_of(measured), 2)
        == "2 ranks: a cache line goes from core to core in 52 ns; the machine was in one state"
    )


def test_if_ranks_share_cores_the_limits_give_the_state(measured):
    for jobs in measured.hand_overs.values():
        jobs[:] = [{} for _ in jobs]
    for limits, time in zip(measured.limits, HAND_OVERS, strict=True):
        limits["line_half_round_trip_ns"] = time
    assert "quick in 1, 3; slow in 2, 4" in states_text(states_of(measured), 2)
    measured.limits = [{"line_half_round_trip_ns": None}] * 4
    assert states_text(states_of(measured), 2) == ""


def test_border_needs_two_groups_of_some_size():
    assert border([50, 52, 190, 51, 188]) == pytest.approx((52 * 188) ** 0.5)
    assert border([50, 55, 60, 70]) is None
    assert border([50.0] * 20 + [900.0]) is None  # a disturbance
    assert border([]) is None and border([50.0]) is None


def test_shuffled_times_are_compared_with_the_goals(measured):
    rows = {
        (row.kind.collective, row.shuffled): row
        for row in all_shuffled_over_repeated(measured, 2, Variant(OPENMPI, "default", True))
    }
    warm, cold = rows["bcast", "mixed"], rows["bcast", "mixed+cold"]
    assert warm.ratio.value == pytest.approx(1.1) and warm.within_goal
    assert cold.ratio.value == pytest.approx(2.0) and not cold.within_goal
    on_mpich = all_shuffled_over_repeated(measured, 2, Variant(MPICH, "default", True))[0]
    assert on_mpich.nanoseconds == pytest.approx(101.5) and not on_mpich.within_goal


def test_tables_show_conditions_states_and_shares(measured):
    measured.loads[2, "mpich"][1] = 0.5
    stream = StringIO()
    show(measured, Console(file=stream, width=160))
    text = stream.getvalue()
    for words in (
        "repeated",
        "shuffled, cold / cold",
        "bcast 4 KiB from 1",
        "slow (2)",
        "5.66x",
        "quick in 1, 3; slow in 2, 4",
        "seed 3",
        "streamed over 1 MiB",
        "best peer in each cell, load",
        "MPICH 5.0.2 with 2 ranks (repetition 2)",
    ):
        assert words in text, words
    assert text.count("load: other processes") == 1
    means = [line for line in text.splitlines() if "own host" in line]
    assert len(means) == 1 and "…" not in text


def test_each_mpi_is_shownin_detail_once(settings):
    settings = replace(settings, peer_settings="both", heap=True, ranks=[4])
    shown = [variant.key for variant in in_detail(settings.variants(4))]
    assert shown == ["mpich+tutti", "mpich+tutti+heap", "openmpi+tutti", "openmpi+tutti+heap"]


def test_json_has_everything(measured):
    document = json.loads(json.dumps(as_json(measured)))
    assert (
        document["settings"]["conditions"] == list(CONDITIONS) and document["settings"]["seed"] == 3
    )
    assert {(cell["collective"], cell["condition"]) for cell in document["cells"]} == {
        (kind["collective"], condition) for kind in KINDS for condition in CONDITIONS
    }
    conditions = document["conditions"]
    row = next(
        one
        for one in conditions["against_best_peer"]
        if (one["variant"], one["condition"]) == ("mpich+tutti", "mixed")
    )
    assert row["kept_of_repeated"]["value"] == pytest.approx(0.5) and len(row["kinds"]) == 2
    assert row["kinds"][1]["root"] == 1 and row["kinds"][0]["element"] == "uint32"
    assert len(conditions["shuffled_over_repeated"]) == 2 * 2 * 2
    assert document["states"]["repetitions"] == [{"ranks": 2, "states": [QUICK, SLOW, QUICK, SLOW]}]
    assert document["load"]["jobs"][0]["marked"] == [False] * 4
    # Means over sizes include only cells of condition `plain`.
    assert document["geometric_means"][0]["all_cells"]["value"] == pytest.approx(32**0.5)


def test_all_variants_of_a_repetition_have_one_order(monkeypatch, settings):
    seeds: list[list[int]] = [[]]

    def run_job(one, ranks, variant, directory):
        seeds[-1].append(one.order_seed)
        return job_of(variant, 0, 50.0)

    def measure_limits():
        seeds.append([])
        return {"line_half_round_trip_ns": 50.0}

    monkeypatch.setattr(driver, "run_job", run_job)
    monkeypatch.setattr(driver, "measure_limits", measure_limits)
    assert driver.run(settings, lambda line: None).seed == 3
    first = seeds[1:]
    assert (
        all(len(one) == 4 and len(set(one)) == 1 for one in first)
        and len({one[0] for one in first}) == 4
    )
    seeds[:] = [[]]
    driver.run(settings, lambda line: None)
    assert seeds[1:] == first


def test_kinds_are_checked_before_anything_runs():
    assert parse_kinds("programs") == "programs"
    assert (
        parse_kinds("bcast:4K:1,barrier,barrier:dup,allreduce:4:uint32:dup")
        == "bcast:4K:1,barrier,barrier:dup,allreduce:4:uint32:dup"
    )
    for wrong in (
        "",
        "bcast",
        "bcast:12",
        "allreduce:8:1",
        "bcast:8:x",
        "barrier:8",
        "alltoallx:8",
        "bcast:8,programs",
        "bcast:4k",
    ):
        with pytest.raises(UserError, match="is not a kind of call"):
            parse_kinds(wrong)
    assert parse_bytes("--cold", "4M") == 4 << 20
    for wrong in ("0", "2048M", "-1", "many"):
        with pytest.raises(UserError, match="--cold"):
            parse_bytes("--cold", wrong)
