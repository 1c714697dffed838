"""Comparisons of `tutti bench` with the best peer of each cell and with the machine's bounds."""

from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from made_up_jobs import MPICH, OPENMPI, cell_of
from rich.console import Console
from tutti.bench import peer_files
from tutti.bench.bounds import Machine, bounded, interpolated, machine_of
from tutti.bench.document import as_json
from tutti.bench.measurements import Measurements, Settings
from tutti.bench.peer_files import peer_choice, require_peers
from tutti.bench.report import show
from tutti.bench.results import best_peers
from tutti.bench.variants import Variant, command, environment, variants_for
from tutti.errors import UserError

LIMITS = {
    "format": "tutti-limits 1", "flag_exchange_ns": 200.0,
    "copy_one_core_gb_per_s": {}, "copy_two_cores_gb_per_s": {}, "cma_rewritten_us": {},
    "copy_rewritten_us": {"1000": 1.0, "2000": 2.0, "4000": 6.0},
    "add_rewritten_us": {"1000": 2.0, "2000": 4.0, "4000": 9.0},
    "copy_own_rewritten_us": {"1000": 0.5, "4000": 2.0},
}  # fmt: skip


def test_every_setting_that_a_user_could_choose():
    def keys(chosen, oversubscribed, heap=False):
        return [v.key for v in variants_for([MPICH, OPENMPI], chosen, oversubscribed, True, heap)]

    settings = "mpich mpich+tutti mpich@mpir openmpi openmpi+tutti openmpi@sm"
    assert " ".join(keys("all", False)) == settings
    assert "mpich@best" in keys("all", True) and "openmpi@sm" in keys("all", True)
    heaps = "mpich mpich+tutti mpich+tutti+heap openmpi openmpi+tutti openmpi+tutti+heap"
    assert " ".join(keys("default", False, True)) == heaps


def test_other_settings_and_the_heap_reach_the_job(tmp_path):
    assert (
        environment(Variant(MPICH, "mpir", False), "core", tmp_path)[
            "MPIR_CVAR_REDUCE_POSIX_INTRA_ALGORITHM"
        ]
        == "mpir"
    )
    assert "MPIR_CVAR_POLLS_BEFORE_YIELD" not in environment(
        Variant(MPICH, "mpir", False), "core", tmp_path
    )
    assert "coll_sm_priority" in command(Variant(OPENMPI, "sm", False), 2, "core", ["prog"], None)
    assert command(
        Variant(MPICH, "default", True, True), 2, "core", ["prog"], Path("/x/tutti-run")
    )[-3:] == ["/x/tutti-run", "--shared-heap", "prog"]


def test_settings_by_name(tmp_path):
    """Names stand beside one of the words. Open MPI's xhc is left out where it is not built in."""
    tool = tmp_path / "ompi_info"
    openmpi = replace(OPENMPI, launcher=tmp_path / "mpiexec")

    def keys(chosen, oversubscribed=False):
        return [v.key for v in variants_for([MPICH, openmpi], chosen, oversubscribed, False)]

    assert keys("sm") == ["mpich", "openmpi", "openmpi@sm"]
    assert keys("best,mpir") == ["mpich@best", "mpich@mpir", "openmpi@best"]
    assert "openmpi@xhc" not in keys("all")
    with pytest.raises(UserError, match="xhc: ompi_info shows that the component is not built in"):
        require_peers(peer_choice("xhc"), [MPICH, openmpi])
    with pytest.raises(UserError, match="sm: no MPI has it"):
        require_peers(peer_choice("sm"), [MPICH])
    peer_files._components.cache_clear()
    tool.write_text("#!/bin/sh\necho '  MCA coll: xhc (MCA v2.1.0, API v2.4.0)'\n")
    tool.chmod(0o755)
    assert "openmpi@xhc" in keys("all")
    require_peers(peer_choice("xhc"), [MPICH, openmpi])
    words = command(Variant(openmpi, "xhc", False), 2, "core", ["prog"], None)
    assert words[words.index("coll_xhc_priority") + 1] == "90"


@pytest.mark.parametrize("text", ["worst", "best,both", "mpir,mpr", "ext_mpi_collectives", ""])
def test_choices_that_are_refused(text):
    with pytest.raises(UserError, match="--peer-settings: "):
        peer_choice(text)


def test_a_library_in_front_of_the_mpi_that_it_was_linked_with(tmp_path):
    library = tmp_path / "libext_mpi_collectives.so"
    library.write_bytes(b"\x7fELF libm.so.6 libmpi.so.12")
    chosen = f"default,ext_mpi_collectives={tmp_path}"
    found = variants_for([MPICH, OPENMPI], chosen, False, False)
    assert [one.key for one in found] == ["mpich", "mpich@ext_mpi_collectives", "openmpi"]
    assert environment(found[1], "core", tmp_path)["LD_PRELOAD"] == str(library)
    assert "LD_PRELOAD" not in environment(found[0], "core", tmp_path)
    with pytest.raises(UserError, match="was linked with none of Open MPI"):
        require_peers(peer_choice(chosen), [OPENMPI])


@pytest.fixture
def measured() -> Measurements:
    """Three repetitions: MPICH is best for short messages, another Open MPI setting for long."""
    settings = Settings(
        [MPICH, OPENMPI], [2], 2, ["allreduce", "bcast"], [8, 4000], 3, peer_settings="all"
    )
    measurements = Measurements(settings)
    times = {
        "mpich": (1, 40),
        "mpich@mpir": (2, 30),
        "openmpi": (3, 20),
        "openmpi@sm": (4, 12),
        "mpich+tutti": (0.5, 6),
        "openmpi+tutti": (2, 6),
    }
    for repetition in range(3):
        measurements.limits.append(LIMITS)
        for variant in settings.variants(2):
            cells = [
                cell_of(time + 0.01 * repetition, collective=collective, bytes=size)
                for collective in settings.collectives
                for size, time in zip(settings.sizes, times[variant.key], strict=True)
            ]
            measurements.add(2, variant, {"library": variant.mpi.label, "cells": cells})
    return measurements


def test_the_best_peer_is_chosen_in_each_cell(measured):
    on_mpich, on_openmpi = best_peers(measured)
    assert [entry.peer.key for entry in on_mpich.cells] == ["mpich", "openmpi@sm"] * 2
    assert on_mpich.means.every.value == pytest.approx(2.0, rel=0.02)
    assert on_mpich.means.slower_cells == 0
    assert on_openmpi.means.slower_cells == 2  # both of 8 bytes
    assert on_openmpi.means.by_collective["bcast"].value == pytest.approx(1.0, rel=0.02)


def test_one_mpi_alone_has_no_best_peer():
    settings = Settings([MPICH], [2], 2, ["bcast"], [8], 1, peer_settings="default")
    assert best_peers(Measurements(settings)) == []


def test_tutti_at_the_best_setting_if_only_that_was_measured():
    """With more ranks than cores, as `--peer-settings best` asks."""
    settings = Settings([MPICH, OPENMPI], [4], 2, ["bcast"], [8], 1, peer_settings="best")
    measurements = Measurements(settings)
    for variant in settings.variants(4):
        time = {"mpich@best": 4, "openmpi@best": 2}.get(variant.key, 1)
        cell = cell_of(time, collective="bcast", bytes=8)
        measurements.add(4, variant, {"library": variant.mpi.label, "cells": [cell]})
    found = best_peers(measurements)
    assert [
        (best.variant.key, best.cells[0].peer.key, best.means.every.value) for best in found
    ] == [
        ("mpich@best+tutti", "openmpi@best", pytest.approx(2)),
        ("openmpi@best+tutti", "openmpi@best", pytest.approx(2)),
    ]


def test_interpolation():
    points = {"1000": 1.0, "2000": None, "4000": 4.0}
    assert interpolated(points, 500) == pytest.approx(0.5)
    assert interpolated(points, 2500) == pytest.approx(2.5)
    assert interpolated(points, 4001) is None
    assert interpolated({}, 8) is None


def test_bounds_by_hand():
    machine = machine_of(LIMITS)
    assert isinstance(machine, Machine)
    assert machine.bound("barrier", 0) == pytest.approx(0.2)
    assert machine.bound("bcast", 4000) == pytest.approx(6.2)
    # If each adds half: 4 us of adding and 2 us of copying. If both add everything: 9 us.
    assert machine.bound("allreduce", 4000) == pytest.approx(4 + 2 + 0.4)
    assert machine.bound("alltoall", 4000) == pytest.approx(6 + 2 + 0.2)
    assert machine.bound("reduce_scatter_block", 2000) == pytest.approx(4.2)
    assert machine.bound("gatherv", 2000) is None
    assert machine.bound("bcast", 8000) is None
    assert machine_of({"flag_exchange_ns": None}) is None


def test_tables_and_json(measured):
    stream = StringIO()
    show(measured, Console(file=stream, width=160))
    text = stream.getvalue()
    assert (
        "against the best peer in each cell" in text
        and "multiples of the lower bound" in text
        and "2 of 4" in text
    )
    document = as_json(measured)
    assert document["best_peers"][0]["cells"][1]["peer"] == "openmpi@sm"
    rows = {(row["collective"], row["bytes"]): row for row in document["bounds"]}
    assert rows["bcast", 4000]["times_bound"]["mpich+tutti"] == pytest.approx(6.01 / 6.2)
    assert len(bounded(measured)) == 4
