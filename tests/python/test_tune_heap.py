"""`tutti tune --shared-heap` adds rules for memory that all ranks reach to those of the table."""

import io
import json
import os
from dataclasses import replace

import pytest
from conftest import mpis
from rich.console import Console
from test_tune import SETTINGS, picked
from tutti.bench import driver
from tutti.choose.picking import DEFAULT, TUNED, rules_of
from tutti.doctor import GOOD, examine_heap
from tutti.errors import RunError
from tutti.places import core
from tutti.tuning import measuring
from tutti.tuning.command import report_older_rules
from tutti.tuning.jobs import Job
from tutti.tuning.writing import table_text


def tuned_table(existing: str, answers: dict[int, str | None], heap: bool, ranks: int = 4) -> str:
    """The text that a tuning of allreduce writes in place of an existing table."""
    settings = replace(SETTINGS, shared_heap=heap, ranks=[ranks], collectives=["allreduce"])
    picks = picked("allreduce", ranks, answers)
    rules = rules_of(picks, 2, core().line_payload, heap)
    return table_text(rules, settings, 7, {one: "the default" for one in picks}, existing)


def rules_in(text: str) -> list[str]:
    """The conditions of rules, and the comments, in order."""
    lines = [line for line in text.splitlines() if line and not line.startswith("# Where no rule")]
    return [
        line.split(" ->")[0].removeprefix("allreduce ranks ") if "->" in line else line
        for line in lines
    ]


MINE = (
    "tutti-map 1\n# mine\n\n# of scans\nscan -> builtin:chain\n# long ones\nallreduce reached "
    "yes -> builtin:ring\n"
)


def test_a_tuning_for_the_shared_heap_keeps_the_other_rules():
    private = tuned_table("", {4096: "nary:4"}, heap=False)
    both = tuned_table(private, {4096: "binomial", 1 << 20: "ring"}, heap=True)
    first, second = (
        "4 oversubscribed yes reached yes sizes 2K..64K",
        "4 oversubscribed yes reached yes sizes 65537..",
    )
    behind = "4 oversubscribed yes reached no sizes 2K..8K"
    assert [line for line in rules_in(both) if "oversubscribed" in line] == [first, second, behind]
    assert both.count("# Written by tutti tune") == 2 and both.count("shared heap, medians") == 1
    # A second tuning for the heap, with another answer, replaces the rules and comments of the
    # first.
    again = tuned_table(both, {4096: "flat"}, heap=True)
    assert [line for line in rules_in(again) if "oversubscribed" in line] == [
        "4 oversubscribed yes reached yes sizes 2K..8K",
        behind,
    ]
    assert again.count("# Written by tutti tune") == again.count("# 4 ranks") == 2
    assert again.endswith(private.removeprefix("tutti-map 1\n"))
    # A new tuning for private memory keeps the heap's rules. A tuning without picks writes no
    # rules.
    anew = tuned_table(again, {4096: "binomial"}, heap=False)
    assert [line for line in rules_in(anew) if "oversubscribed" in line] == [
        "4 oversubscribed yes reached yes sizes 2K..8K",
        behind,
    ]
    assert "nary" not in anew and anew.count("# Written by tutti tune") == 2
    none = tuned_table(tuned_table(anew, {4096: None}, heap=True), {4096: None}, heap=True)
    assert rules_in(none)[-2:] == rules_in(anew)[-2:] and none.count("# Written by tutti tune") == 2
    for text in (both, again, anew, none):
        assert core().read_map(text)["rules"]


def test_rules_of_other_ranks_and_of_the_users_own_are_kept():
    two = tuned_table(MINE, {4096: "binomial"}, heap=True, ranks=2)
    four = tuned_table(two, {4096: "flat"}, heap=True, ranks=4)
    assert [rule["text"].split(" ->")[0] for rule in core().read_map(four)["rules"]] == [
        "allreduce ranks 4 oversubscribed yes reached yes sizes 2K..8K",
        "allreduce ranks 2 oversubscribed no reached yes sizes 2K..8K",
        "scan",
        "allreduce reached yes",
    ]
    assert (
        MINE.removeprefix("tutti-map 1\n") in four
        and four.count("# What the table had before:") == 1
    )
    gone = tuned_table(four, {4096: None}, heap=True, ranks=2)
    assert len(core().read_map(gone)["rules"]) == 3 and MINE.removeprefix("tutti-map 1\n") in gone
    private = tuned_table(MINE, {4096: None}, heap=False)
    assert [rule["text"] for rule in core().read_map(private)["rules"]] == [
        "allreduce reached yes -> builtin:ring"
    ]
    assert "# long ones\nallreduce" in private and "of scans" not in private


def test_older_rules_that_decide_cells_kept_at_the_default_are_named(tmp_path):
    table, console = tmp_path / "tuned.map", Console(file=io.StringIO(), width=132)
    table.write_text("tutti-map 1\nallreduce sizes 1K.. -> builtin:ring\n")
    settings = replace(SETTINGS, shared_heap=True)
    report_older_rules(
        picked("allreduce", 4, {8: None, 4096: None, 65536: None}), settings, table, console
    )
    assert (
        f"Older rules of the table decide 2 of these cells: {table}:2. To use Tutti's choice there"
        in console.file.getvalue()
    )
    table.write_text("tutti-map 1\nallreduce sizes 1K.. reached no -> builtin:ring\n")
    console = Console(file=io.StringIO())
    report_older_rules(picked("allreduce", 4, {8: None, 4096: None}), settings, table, console)
    assert console.file.getvalue() == ""


@pytest.mark.mpi
def test_jobs_for_the_shared_heap_run_with_it(mpi, tmp_path):
    """A table with a rule for each gives jobs with and without the heap different algorithms."""
    if examine_heap().state != GOOD:
        pytest.skip("no shared heap here")
    table, report = tmp_path / "picked.map", tmp_path / "report.json"
    table.write_text("tutti-map 1\nscan reached yes -> builtin:doubling\nscan -> builtin:chain\n")
    job = Job(5, 2, (("scan", TUNED),), (65536,))
    for heap, algorithm in ((False, "chain"), (True, "doubling")):
        settings = replace(SETTINGS, mpi=mpi, shared_heap=heap, cores=len(os.sched_getaffinity(0)))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(
                measuring, "CLEARED", ("TUTTI_SHARED_HEAP", "TUTTI_TABLE")
            )  # keep only the variable of the report
            patch.setenv("TUTTI_REPORT", str(report))
            patch.setenv("TUTTI_SHARED_HEAP", "1")
            assert measuring.run_job(settings, job, tmp_path)["scan", 65536] > 0
        ran = {
            row["algorithm"]
            for row in json.loads(report.read_text())["collectives"]
            if row["collective"] == "scan"
        }
        assert ran == {algorithm}


def test_a_job_without_the_heap_that_it_asked_for_is_refused(monkeypatch, tmp_path):
    """Otherwise its measurements would be wrongly taken as those of the shared heap."""

    def without_heap(words: list[str], env: dict[str, str], seconds: float) -> tuple[int, str, str]:
        assert "--shared-heap" in words
        return (
            0,
            '{"what":"job","interposed":true}',
            "tutti-run: no shared heap, the program has its usual memory: no memfd\n",
        )

    monkeypatch.setattr(driver, "execute_job", without_heap)
    settings = replace(SETTINGS, shared_heap=True)
    with pytest.raises(RunError, match="shared heap, 2 ranks: tutti-run: no shared heap"):
        measuring.run_job(settings, Job(0, 2, (("scan", DEFAULT),), (8,)), tmp_path)


@pytest.mark.mpi
@pytest.mark.skipif(
    "mpich" not in mpis() or examine_heap().state != GOOD, reason="no MPICH, or no shared heap here"
)
def test_a_small_real_tuning_for_the_shared_heap(document_of, tutti, tmp_path):
    output = tmp_path / "tuned.map"
    output.write_text("tutti-map 1\n# mine\nscan ranks 2 reached no -> builtin:chain\n")
    words = f"--ranks 2 --collectives scan --bytes 4K --mpi {mpis()['mpich'].name} -o {output}"
    document, said = document_of(
        f"tune --shared-heap --repetitions 3 --budget-ms 3 {words}", seconds=100
    )
    assert document["settings"]["shared_heap"] is True
    assert output.read_text().endswith(
        "\n\n# What the table had before:\n# mine\nscan ranks 2 reached no -> builtin:chain\n"
    )
    assert ", shared heap, medians of" in output.read_text() and "Older rules" not in said
    found = tutti(
        "explain", "scan", "--bytes", "4K", "--ranks", "2", "--no-reached", "--table", str(output)
    )
    assert "chain" in found.stdout.splitlines()[1]
