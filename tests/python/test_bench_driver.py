"""The driver of `tutti bench`: its MPIs, its variants and their order, and a small real run."""

import json
import os
import sys
import time
from pathlib import Path

import pytest
from conftest import mpis
from made_up_jobs import LIMITS, MPICH, OPENMPI, cell_of
from tutti.bench import driver
from tutti.bench.checks import choose_mpis, default_ranks, plot_stem
from tutti.bench.document import as_json, comparison_json
from tutti.bench.measurements import COLLECTIVES, Cell, Measurements, Settings
from tutti.bench.mpis import Mpi, find_mpis, identify
from tutti.bench.results import compare_cells, nearness, pairs, summarise, typical
from tutti.bench.statistics import Ratio
from tutti.bench.texts import interval_text, size_text, time_text
from tutti.bench.variants import Variant, command, environment, variants_for
from tutti.bench.words import parse_collectives, parse_ranks, parse_sizes
from tutti.errors import RunError, UserError
from tutti.places import find_interposer, find_program

INTEL = Mpi(
    "intel", "intel", "2021.19", Path("/opt/intel/bin/mpiexec"), Path("/opt/intel/lib/libmpi.so.12")
)


@pytest.mark.parametrize(
    ("text", "identity"),
    [
        (
            "HYDRA build details:\n    Version:                                 5.0.2\n",
            ("mpich", "5.0.2"),
        ),
        ("mpiexec (Open MPI) 5.0.11\n\nReport bugs to", ("openmpi", "5.0.11")),
        ("mpiexec.openmpi (OpenRTE) 4.1.4\n", ("openmpi", "4.1.4")),
        ("mpirun (Open MPI) 6.0.0rc2\n", ("openmpi", "6.0.0rc2")),
        (
            "Intel(R) MPI Library for Linux* OS, Version 2021.19.0 Build 20260929",
            ("intel", "2021.19"),
        ),
        ("Intel(R) MPI Library for Linux* OS, Version 2021.7.1 Build 2022", ("intel", "2021.7.1")),
        ("mpiexec: command not understood", None),
        ("", None),
    ],
)
def test_identify(text, identity):
    assert identify(text) == identity


def make_mpi(directory: Path, says: str, library: str) -> None:
    (directory / "bin").mkdir(parents=True)
    (directory / "lib").mkdir()
    launcher = directory / "bin" / "mpiexec"
    launcher.write_text(f"#!/bin/sh\necho '{says}'\n")
    launcher.chmod(0o755)
    (directory / "lib" / library).write_text(directory.name)


def test_find_mpis_takes_environments_first_and_each_mpi_once(tmp_path, monkeypatch):
    monkeypatch.delenv("I_MPI_ROOT", raising=False)
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "project" / ".venv"))
    make_mpi(tmp_path / ".mpi" / "mine", "mpiexec (Open MPI) 5.0.1", "libmpi.so.40")
    make_mpi(tmp_path / "project/.mpi/own", "mpiexec (Open MPI) 5.0.11", "libmpi.so.40")
    make_mpi(tmp_path / "other", "mpiexec (Open MPI) 4.1.4", "libmpi.so.40")
    make_mpi(tmp_path / "debian", "HYDRA build details: Version: 4.0.2", "libmpich.so.12")
    (tmp_path / "other" / "bin" / "mpirun").symlink_to("mpiexec")
    (tmp_path / "work").mkdir()
    path = os.pathsep.join(str(tmp_path / name / "bin") for name in ("other", "debian"))
    found = find_mpis(tmp_path / "work", path)
    assert [(mpi.name, mpi.version) for mpi in found] == [
        ("mine", "5.0.1"),
        ("own", "5.0.11"),
        ("openmpi", "4.1.4"),
        ("mpich", "4.0.2"),
    ]
    assert found[3].library == tmp_path / "debian" / "lib" / "libmpich.so.12"


def test_choose_mpis_takes_the_first_of_each_family():
    older = Mpi(
        "mpich-4.0.2", "mpich", "4.0.2", Path("/usr/bin/mpiexec"), Path("/usr/lib/libmpich.so.12")
    )
    assert choose_mpis([], [MPICH, older, OPENMPI]) == [MPICH, OPENMPI]
    assert choose_mpis(["openmpi,mpich-4.0.2"], [MPICH, older, OPENMPI]) == [OPENMPI, older]
    with pytest.raises(UserError, match="nothing.*found are mpich, openmpi"):
        choose_mpis(["nothing"], [MPICH, OPENMPI])
    with pytest.raises(UserError, match="no MPI was found"):
        choose_mpis([], [])


def test_parsing():
    assert parse_ranks("2,4,2") == [2, 4]
    assert parse_sizes("8,4K,1M") == [8, 4096, 1048576]
    assert default_ranks(2) == [2, 4]
    assert default_ranks(1) == [2]
    assert default_ranks(64) == [2, 16, 32]


def test_collectives_are_all_or_known_ones():
    assert parse_collectives("all") == list(COLLECTIVES)
    assert parse_collectives("scan,alltoallv,scan") == ["scan", "alltoallv"]
    with pytest.raises(
        UserError,
        match="'alltoal' is unknown; did you mean alltoall[?] known are all, allreduce, "
        ".*alltoallw$",
    ):
        parse_collectives("scan,alltoal")
    with pytest.raises(UserError, match="'' is unknown; known are all"):
        parse_collectives("")


def test_a_job_with_more_collectives_gets_more_time():
    assert fake_settings().job_seconds(4) == driver.JOB_SECONDS
    assert (
        fake_settings(collectives=list(COLLECTIVES)).job_seconds(4) == 17 / 4 * driver.JOB_SECONDS
    )
    # Six of the seventeen have a root.
    assert (
        fake_settings(collectives=list(COLLECTIVES), every_root=True).job_seconds(8)
        == (11 + 6 * 8) / 4 * driver.JOB_SECONDS
    )


def test_plot_stem_drops_the_suffix(tmp_path):
    assert plot_stem(str(tmp_path / "plot.svg")) == tmp_path / "plot"
    assert plot_stem(str(tmp_path / "plot.v2")) == tmp_path / "plot.v2"


def keys(mpi_list, chosen, oversubscribed, with_tutti=True):
    return [variant.key for variant in variants_for(mpi_list, chosen, oversubscribed, with_tutti)]


def test_variants():
    assert keys([MPICH], "auto", False) == ["mpich", "mpich+tutti"]
    assert keys([MPICH], "auto", True) == ["mpich", "mpich+tutti", "mpich@best", "mpich@best+tutti"]
    assert keys([MPICH, OPENMPI], "best", False, False) == ["mpich@best", "openmpi@best"]
    # No better setting is known for Intel MPI than its own.
    assert keys([INTEL], "both", True) == ["intel", "intel+tutti"]


def test_commands_differ_in_the_launcher_only():
    for mpi in (MPICH, OPENMPI, INTEL):
        for setting in ("default", "best"):
            host, ours = (
                command(
                    Variant(mpi, setting, tutti), 4, "none", ["prog", "-x"], Path("/x/tutti-run")
                )
                for tutti in (False, True)
            )
            assert [word for word in ours if word != "/x/tutti-run"] == host
            assert ours[-3:] == ["/x/tutti-run", "prog", "-x"]


def test_best_settings_reach_the_job(tmp_path, monkeypatch):
    monkeypatch.setenv("LD_PRELOAD", "libsomething.so")
    monkeypatch.setenv("LD_LIBRARY_PATH", "/inherited")
    plain = environment(Variant(MPICH, "default", False), "core", tmp_path)
    best = environment(Variant(MPICH, "best", True), "core", tmp_path)
    assert "LD_PRELOAD" not in plain
    assert plain["LD_LIBRARY_PATH"] == "/opt/mpich/lib:/inherited"
    assert "MPIR_CVAR_POLLS_BEFORE_YIELD" not in plain
    assert best["MPIR_CVAR_POLLS_BEFORE_YIELD"] == "1"
    assert best["MPIR_CVAR_ALLREDUCE_POSIX_INTRA_ALGORITHM"] == "mpir"
    assert "mpi_yield_when_idle" in command(Variant(OPENMPI, "best", False), 4, "none", [], None)
    assert (
        environment(Variant(INTEL, "default", False), "core", tmp_path)["I_MPI_PIN_ORDER"]
        == "range"
    )


def test_a_library_with_another_name_gets_a_link_with_the_expected_name(tmp_path):
    library = tmp_path / "libmpich.so.12"
    library.write_text("")
    debian = Mpi("mpich", "mpich", "4.0.2", Path("/usr/bin/mpiexec"), library)
    env = environment(Variant(debian, "default", False), "core", tmp_path)
    first = Path(env["LD_LIBRARY_PATH"].split(os.pathsep)[0])
    assert (first / "libmpi.so.12").resolve() == library


def fake_job(ranks: int, variant: Variant, repetition: int) -> dict:
    """Tutti takes half the time, except for a bcast of 64 bytes, which is slower. Both drift."""
    drift = 1 + 0.1 * repetition
    cells = []
    for collective, size in (("allreduce", 8), ("bcast", 64), ("bcast", 1048576)):
        gain = 0.8 if size == 64 else 2.0
        time = 10.0 * drift / (gain if variant.tutti else 1.0)
        cells.append(cell_of(time, 3 * time, collective=collective, bytes=size))
    job = {"library": variant.mpi.label, "cells": cells, "interposed": variant.tutti}
    return job | ({"flag_exchange_us": 4.0 * drift} if ranks == 2 else {})


def fake_settings(**changes) -> Settings:
    values = dict(mpis=[MPICH, OPENMPI], ranks=[2, 4], cores=2, collectives=["allreduce", "bcast"],
                  sizes=[8, 64, 1048576], repetitions=4, seed=1)  # fmt: skip
    return Settings(**(values | changes))


@pytest.fixture
def faked(monkeypatch):
    """A run without MPI: (measurements, the jobs in the order they ran)."""
    ran: list[tuple[int, str]] = []

    def run_job(settings, ranks, variant, directory):
        ran.append((ranks, variant.key))
        return fake_job(ranks, variant, len(ran) // 12)

    monkeypatch.setattr(driver, "run_job", run_job)
    monkeypatch.setattr(
        driver,
        "measure_limits",
        lambda: {"format": "tutti-limits 1", "line_half_round_trip_ns": 50.0},
    )
    return driver.run(fake_settings(), lambda line: None), ran


def test_each_repetition_runs_every_variant_once_in_another_order(faked):
    measurements, ran = faked
    assert len(ran) == measurements.settings.jobs == 4 * (4 + 8)
    repetitions = [ran[i : i + 12] for i in range(0, len(ran), 12)]
    for repetition in repetitions:
        assert sorted(repetition) == sorted(repetitions[0])
        assert len(set(repetition)) == 12
    assert len({tuple(repetition) for repetition in repetitions}) > 1


def test_ratios_and_flags(faked):
    measurements, _ = faked
    (base, other), _ = pairs(measurements, 2)
    assert (base.key, other.key) == ("mpich", "mpich+tutti")
    allreduce, short, long = compare_cells(measurements, 2, base, other)
    assert allreduce.by_median.value == pytest.approx(2.0)
    assert allreduce.by_mean.value == pytest.approx(2.0)
    assert short.by_median.slower and not allreduce.by_median.slower
    assert long.cell == Cell(2, "bcast", 1048576)
    summary = summarise(measurements, 2, base, other)
    assert summary.means.short.value == pytest.approx((2.0 * 0.8) ** 0.5)
    assert summary.means.every.value == pytest.approx((2.0 * 0.8 * 2.0) ** (1 / 3))
    assert summary.means.slower_cells == 1
    assert {name: ratio.value for name, ratio in summary.means.by_collective.items()} == {
        "allreduce": pytest.approx(2.0), "bcast": pytest.approx((0.8 * 2.0) ** 0.5)
    }  # fmt: skip


def test_nearness_to_the_flag_exchange_is_by_job(faked):
    rows = nearness(faked[0])
    assert [(row.cell.collective, row.variant.key) for row in rows[:2]] == [
        ("allreduce", "mpich"),
        ("allreduce", "mpich+tutti"),
    ]
    assert {row.cell.ranks for row in rows} == {2}
    # 10 us and 4 us, with the same drift.
    assert rows[0].ratio.value == pytest.approx(2.5)
    assert rows[1].ratio.low == pytest.approx(1.25)


def test_json_holds_every_number(faked):
    measurements, _ = faked
    document = json.loads(json.dumps(as_json(measurements)))
    assert document["format"] == "tutti-bench 1"
    assert len(document["cells"]) == 2 * 3
    assert len(document["cells"][0]["variants"]["mpich"]["median_us"]) == 4
    assert len(document["comparisons"]) == 3 * (2 + 4)
    assert {v["mpi"] for v in document["variants"].values()} == {"mpich", "openmpi"}
    flagged = [c for c in document["comparisons"] if c["slower"]]
    assert {(c["collective"], c["bytes"]) for c in flagged} == {("bcast", 64)}


def test_plot_writes_both_formats(faked, tmp_path):
    from tutti.bench.report import draw

    written = draw(faked[0], tmp_path / "plot")
    assert [name.name for name in written] == ["plot.png", "plot.svg"]
    assert written[0].read_bytes().startswith(b"\x89PNG")
    text = written[1].read_text()
    assert "<svg" in text
    # Matplotlib writes each text as a comment beside its outlines.
    for label in ("Open MPI 5.0.11, best setting, Tutti", "bcast, 4 ranks", "1 MiB"):
        assert f">{label}<" in text


def test_plot_sets_many_collectives_in_several_rows(tmp_path):
    from tutti.bench.report import draw

    settings = fake_settings(collectives=list(COLLECTIVES[4:10]), ranks=[2, 4])
    measurements = Measurements(settings)
    for ranks in settings.ranks:
        for variant in settings.variants(ranks):
            cells = [
                cell | {"collective": name}
                for name in settings.collectives
                for cell in fake_job(ranks, variant, 0)["cells"][:2]
            ]
            measurements.add(ranks, variant, fake_job(ranks, variant, 0) | {"cells": cells})
    text = draw(measurements, tmp_path / "plot")[1].read_text()
    for ranks in settings.ranks:
        assert all(f">{name}, {ranks} ranks<" in text for name in settings.collectives)
    # Two rows of four panels for each rank count; the last two panels are empty.
    assert text.count('<g id="axes_') == 4 * 4


def test_cells_left_out_are_reported_and_rank_counts_without_cells_are_skipped(monkeypatch):
    from io import StringIO

    from rich.console import Console
    from tutti.bench.report import show

    left = {"collective": "alltoall", "bytes": 128 << 20}

    def run_job(settings, ranks, variant, directory):
        job = fake_job(ranks, variant, 0)
        return job | {"left_out": [left]} | ({"cells": []} if ranks == 4 else {})

    monkeypatch.setattr(driver, "run_job", run_job)
    monkeypatch.setattr(driver, "measure_limits", lambda: LIMITS)
    measurements = driver.run(fake_settings(), lambda line: None)
    stream = StringIO()
    show(measurements, Console(file=stream, width=200))
    said = [line for line in stream.getvalue().splitlines() if "left out" in line]
    assert (
        len(said) == 1
        and "alltoall of 128 MiB on 2 ranks; alltoall of 128 MiB on 4 ranks" in said[0]
    )
    document = as_json(measurements)
    assert document["left_out"] == [{"ranks": ranks} | left for ranks in (2, 4)]
    assert {mean["ranks"] for mean in document["geometric_means"]} == {2}


def test_tables_show_ratio_and_flag(faked):
    from io import StringIO

    from rich.console import Console
    from tutti.bench.report import collectives_table, comparison_table, summary_table

    measurements, _ = faked
    stream = StringIO()
    console = Console(file=stream, width=140)
    base, other = pairs(measurements, 2)[0]
    console.print(comparison_table(measurements, 2, base, other))
    console.print(summary_table([summarise(measurements, 2, base, other)], "itself"))
    text = stream.getvalue()
    assert (
        "2.00x" in text
        and "0.80x" in text
        and "slower" in text
        and "1 cell" in text
        and "1 cells" not in text
    )
    assert "1 MiB" in text
    stream.truncate(0)
    console.print(
        collectives_table([summarise(measurements, 2, *pair) for pair in pairs(measurements, 2)])
    )
    bcast = next(line for line in stream.getvalue().splitlines() if "bcast" in line)
    assert bcast.count("1.26x") == 2


def two_modes(host: list[float]) -> Measurements:
    """An allreduce whose times cluster around 0.3 and 60 us, and a bcast with one cluster."""
    measurements = Measurements(fake_settings(mpis=[MPICH], ranks=[2], repetitions=len(host)))
    for variant in measurements.settings.variants(2):
        for time in host:
            cells = [
                cell_of(us, mean, collective=name, bytes=8)
                for name, us, mean in (
                    ("allreduce", 0.1 if variant.tutti else time, 0.2 if variant.tutti else 20.0),
                    ("bcast", 0.1 if variant.tutti else 0.3, 3.0),
                )
            ]
            measurements.add(2, variant, {"library": "", "cells": cells})
    return measurements


def test_a_host_with_two_modes_is_compared_by_means_and_marked():
    from io import StringIO

    from rich.console import Console
    from tutti.bench.report import comparison_table

    measurements = two_modes([0.3, 60.0, 0.31])
    base, other = pairs(measurements, 2)[0]
    torn, whole = compare_cells(measurements, 2, base, other)
    assert torn.modes == (True, False) and whole.modes == (False, False)
    assert torn.by_median.wider(1000) and interval_text(torn.by_median) == "wide"
    assert torn.ratio.value == pytest.approx(100.0) and whole.ratio.value == pytest.approx(3.0)
    assert summarise(measurements, 2, base, other).means.every.value == pytest.approx(300**0.5)
    stream = StringIO()
    Console(file=stream, width=150).print(comparison_table(measurements, 2, base, other))
    allreduce, bcast = (line for line in stream.getvalue().splitlines() if "8 B" in line)
    assert (
        "two modes (host)" in allreduce
        and "20.00" in allreduce
        and ">9999" not in allreduce
        and "two modes" not in bcast
    )
    # Times that differ little between jobs have one mode. If both variants change together, the
    # ratio of medians is used.
    steady = two_modes([0.3, 0.32, 0.35])
    assert compare_cells(steady, 2, base, other)[0].modes == (False, False)
    assert comparison_json(base, other, torn)["two_modes"] == {"base": True, "other": False}


def test_words():
    assert [size_text(n) for n in (8, 1000, 1024, 4096, 1 << 20)] == [
        "8 B",
        "1000 B",
        "1 KiB",
        "4 KiB",
        "1 MiB",
    ]
    assert [time_text(t) for t in (0.2346, 12.346, 123.46, 12345.6)] == [
        "0.235",
        "12.35",
        "123.5",
        "12,346",
    ]
    assert interval_text(Ratio(1.0, None, None)) == "-"
    assert interval_text(Ratio(90.0, 1.0, 23456.0)) == "wide"
    assert interval_text(Ratio(90.0, 12.34, 234.5)) == "12.3-234"


def test_typical_limits_are_medians_or_none():
    entries = [
        {
            "format": "tutti-limits 1",
            "line_half_round_trip_ns": value,
            "cma_rewritten_us": {"8": cma, "64": None},
        }
        for value, cma in ((40, 1.0), (60, None), (50, 3.0))
    ]
    found = typical(entries)
    assert found["line_half_round_trip_ns"] == 50
    assert found["cma_rewritten_us"] == {"8": 2.0, "64": None}


def test_a_job_that_does_not_end_is_killed(tmp_path):
    pid_file = tmp_path / "pid"
    script = f"sleep 600 & echo $! > {pid_file}; wait"
    with pytest.raises(RunError, match="did not end within"):
        driver.execute(["sh", "-c", script], dict(os.environ), 1.0)
    assert ends(int(pid_file.read_text()))


def ends(pid, seconds=100.0):
    """Whether a process that got SIGKILL ends in time: the system may be busy, and need a while."""
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        try:
            state = Path(f"/proc/{pid}/stat").read_text()
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state.rpartition(")")[2].split()[0] in "ZX":
            return True
        time.sleep(0.01)
    return False


@pytest.mark.mpi
@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
def test_hosts_alone(document_of, tmp_path, mpi):
    words = f"--ranks 2 --repetitions 2 --sizes 8,1K --budget-ms 3 --mpi {mpi.name}"
    words += f" --plot {tmp_path / 'hosts'}"
    document, said = document_of(f"bench --no-tutti --quick {words}", "--json")
    assert len(document["cells"]) == 3 * 2 + 1
    for cell in document["cells"]:
        for samples in cell["variants"].values():
            assert len(samples["median_us"]) == 2
            assert all(
                0 < low <= time
                for low, time in zip(samples["min_us"], samples["median_us"], strict=True)
            )
    assert document["limits"]["copy_one_core_gb_per_s"]["32768"] > 0
    assert (tmp_path / "hosts.png").exists() and (tmp_path / "hosts.svg").exists()
    assert mpi.label in said and "memcpy" in said


def failing_launcher(tmp_path, line):
    """A command that prints the line and fails the first time, and succeeds from then on."""
    script = 'test -e "$1" && echo fine && exit 0; touch "$1"; echo "$2" >&2; exit 213'
    return ["sh", "-c", script, "sh", str(tmp_path / "tried"), line]


def test_a_launcher_that_could_not_start_is_tried_again(tmp_path):
    words = failing_launcher(tmp_path, f"The {driver.LAUNCHER_FAILED}. We cannot")
    assert driver.execute_job(words, dict(os.environ)) == (0, "fine\n", "")


def test_a_job_that_failed_is_not_tried_again(tmp_path):
    code, _, err = driver.execute_job(failing_launcher(tmp_path, "killed"), dict(os.environ))
    assert code == 213 and "killed" in err


@pytest.mark.parametrize(
    ("said", "line"),
    [
        (
            "first\n\n------\nIt failed. We cannot\ncontinue.\n------\n",
            "It failed. We cannot continue.",
        ),
        ("tutti-bench: no memory\n=====\nBAD TERMINATION\n", "tutti-bench: no memory"),
        ("\n", "it said nothing"),
    ],
)
def test_what_failed_is_one_line(said, line):
    assert driver.what_failed(said) == line


@pytest.mark.mpi
@pytest.mark.parametrize("ranks", [2, 4])
def test_with_and_without_tutti(document_of, mpi, ranks):
    if find_program("tutti-run") is None or find_interposer(mpi.abi) is None:
        pytest.skip("the interposer is not built")
    words = f"--ranks {ranks} --repetitions 2 --sizes 8,4K --budget-ms 2 --mpi {mpi.name}"
    document, said = document_of(f"bench {words}", "--json", seconds=280)
    oversubscribed = ranks > len(os.sched_getaffinity(0))
    assert len(document["comparisons"]) == (3 * 2 + 1) * (2 if oversubscribed else 1)
    assert all(c["ratio_of_medians"]["low"] > 0 for c in document["comparisons"])
    assert "Geometric means" in said


def test_mpis_are_found_if_the_environments_exist():
    root = Path(__file__).resolve().parents[2]
    for name in ("mpich", "openmpi"):
        if (root / ".mpi" / name / "bin" / "mpiexec").exists():
            assert name in mpis()
