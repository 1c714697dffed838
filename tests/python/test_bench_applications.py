"""`tutti bench apps`: refused options, reading of an application's output, and real runs."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from conftest import ROOT
from rich.console import Console
from tutti.bench import applications
from tutti.bench.applications import (
    APPLICATIONS,
    Applications,
    AppSettings,
    Jobs,
    Place,
    built,
    failure,
    find_application,
    over_nodes,
)
from tutti.bench.applications_report import draw, show
from tutti.bench.applications_results import as_json, differences, runs_of, same_answer
from tutti.bench.apps import AppOptions, run
from tutti.bench.core_ways import BY_RANKS, MESSAGES, PUTS, SERVED, CoreWays, parse_problems
from tutti.bench.core_ways_report import ways_json
from tutti.bench.measurements import Settings
from tutti.bench.mpis import Mpi
from tutti.bench.over_nodes import Nodes
from tutti.bench.reading import Answer, parse_output
from tutti.errors import RunError, UserError
from tutti.places import program

MPICH = Mpi(
    "mpich", "mpich", "5.0.2", Path("/opt/mpich/bin/mpiexec"), Path("/opt/mpich/lib/libmpi.so.12")
)
HOSTS = ROOT / "tests" / "hosts"
OUTPUT = """phase send communication {send}
least send {least}
phase work computation 2
tolerance sum 1e-9
answer sum {sum}
answer words {words}
# any line
communication {send}
whole 3.5
"""
SMALL = {
    "matvec": (["--size", "65", "--iterations", "5"], ["scatter", "bcast", "compute", "reduce"]),
    "barnes_hut": (
        ["--bodies", "3000", "--heaviest", "20", "--steps", "2"],
        ["move", "sort", "align", "count", "allreduce", "split"],
    ),
}


def output(send="1", least="0.5", total="1", words="abc"):
    return parse_output(OUTPUT.format(send=send, least=least, sum=total, words=words))


def settings(**changes):
    return replace(AppSettings([MPICH], [2], 2, [], [], 3, application="matvec"), **changes)


def measured(**changes):
    """Jobs of the host, in which sending takes 2 s, and of Tutti, in which it takes 1 s."""
    result = Applications(settings(**changes), seed=1)
    for place in result.settings.places:
        for variant in result.settings.variants(place.ranks):
            jobs = result.of(place, variant)
            jobs.outputs = [output(send="1" if variant.tutti else "2")] * 3
            jobs.shares_of_others = [0.0, None, 0.0]
            if variant.tutti:
                row = {"calls": 6, "mean_us": 5e5, "host_calls": 2, "host_mean_us": 25e4}
                jobs.report = {"collectives": [{"collective": "bcast"} | row]}
                jobs.reported = jobs.outputs[0]
    return result


def test_output_is_read():
    read = output()
    assert read.whole == 3.5 and read.communication == 1 and read.least == {"send": 0.5}
    assert list(read.phases.items()) == [
        ("send", ("communication", 1.0)),
        ("work", ("computation", 2.0)),
    ]
    assert read.answers == {"sum": Answer("1", 1e-9), "words": Answer("abc", 0.0)}
    assert read.notes == ("any line",)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("communication 1\nwhole 1\n", "no line 'phase"),
        ("phase a setup 1\ncommunication 0\nwhole 1\n", "no line 'answer"),
        ("phase a setup 1\nanswer b 2\nwhole 1\n", "no line 'communication SECONDS'"),
        ("phase a setup 1\nanswer b 2\n", "no line 'whole"),
        ("phase a rest 1\n", "not understood: 'phase a rest 1'"),
        ("phase a setup soon\n", "no number in the line 'phase a setup soon'"),
        ("hello\n", "not understood: 'hello'"),
    ],
)
def test_other_output_is_refused(text, says):
    with pytest.raises(RunError, match=says):
        parse_output(text)


def test_results():
    run = runs_of(measured())[0]
    assert run.communication.ratio.value == pytest.approx(2)
    assert run.whole.ratio.value == pytest.approx(1)
    assert run.least["send"].ratio.value == pytest.approx(1)
    share = run.shares[0]
    assert (share.collective, share.calls, share.host_calls) == ("bcast", 8, 2)
    assert share.microseconds == pytest.approx((6 * 5e5 + 2 * 25e4) / 2)
    assert share.share == pytest.approx(share.microseconds / 3.5e6)


def test_json_and_table(tmp_path):
    result = measured(heap=True)
    document = json.loads(json.dumps(as_json(result)))
    assert document["format"] == "tutti-bench-app 1" and document["differences"] == []
    assert [run["shared_heap"] for run in document["runs"]] == [False, True]
    run = document["runs"][0]
    times = [run[name] for name in ("host_us", "tutti_us")]
    times += [run[f"{name}_communication_us"] for name in ("host", "tutti")]
    assert (run["mpi"], run["ranks"], times) == ("mpich", 2, [3.5e6, 3.5e6, 2e6, 1e6])
    assert [phase["name"] for phase in run["phases"]] == ["send", "work"]
    assert all(answer["same"] for answer in run["answers"])
    text = StringIO()
    show(result, Console(file=text, width=160))
    for words in ("all communication", "2.00x", "bcast 50.0%", "sum within 1e-09", "seed 1"):
        assert words in text.getvalue()
    assert [file.exists() for file in draw(result, tmp_path / "times")] == [True, True]


@pytest.mark.parametrize(("jobs", "kept"), [(1, None), (3, 1), (4, 2), (5, 2), (6, 2)])
def test_an_interrupt_keeps_whole_repetitions(monkeypatch, jobs, kept):
    """A repetition has a job of the host and one of Tutti; after two comes a job with a report."""
    started = []

    def run(*_, **__):
        started.append(1)
        if len(started) > jobs:
            raise KeyboardInterrupt
        return output(), 0.0

    monkeypatch.setattr(applications, "run_application", run)
    asked = settings(repetitions=2, limits=False)
    if kept is None:
        with pytest.raises(KeyboardInterrupt):
            applications.measure(asked, lambda _: None)
        return
    result = applications.measure(asked, lambda _: None)
    assert result.interrupted == (jobs < asked.jobs) and asked.jobs == 5
    assert result.settings.repetitions == kept
    assert {len(one.outputs) for one in result.jobs.values()} == {kept}
    assert {len(one.shares_of_others) for one in result.jobs.values()} == {kept}
    show(result, Console(file=StringIO(), width=160))
    assert len(as_json(result)["runs"]) == 1


def forms_measured():
    """The host's blocking form sends for 4 s and its overlapped one for 2 s, under other names."""
    result = Applications(settings(application="fft", servers=True), seed=1)
    for variant in result.settings.variants(2):
        text = OUTPUT.replace("send", "wait") if variant.form == "overlapped" else OUTPUT
        name = "wait" if variant.form == "overlapped" else "send"
        seconds = {"send": "4", "wait": "1" if variant.servers else "2"}[name]
        out = parse_output(text.format(**{name: seconds}, least="0.5", sum="1", words="abc"))
        result.of(Place(2), variant).outputs = [replace(out, whole=out.communication + 2)] * 3
        result.of(Place(2), variant).shares_of_others = [0.0] * 3
    return result


def test_forms_of_a_program(tmp_path):
    result = forms_measured()
    keys = ["mpich:blocking", "mpich:overlapped", "mpich+tutti:blocking"]
    variants = result.settings.variants(2)
    assert [one.key for one in variants] == [*keys, "mpich+tutti+servers:overlapped"]
    assert result.settings.arguments_of(variants[0], Place(2)) == ("--blocking",)
    assert result.settings.arguments_of(variants[3], Place(2))[0] == "--overlap"
    own = replace(result.settings, arguments=("--class", "W"))
    assert own.arguments_of(variants[0], Place(2)) == ("--blocking", "--class", "W")
    served = runs_of(result)[1]
    assert (served.host.key, served.best_peer.key) == (keys[0], keys[1])
    assert served.whole.ratio.value == pytest.approx(2)  # 6 s over 3 s
    assert list(served.phases) == ["send", "work", "wait"]
    assert served.phases["wait"][1].ratio is None and served.phases["send"][1].tutti == []
    run = json.loads(json.dumps(as_json(result)))["runs"][1]
    assert (run["servers"], run["host_form"], run["form"]) == (True, "blocking", "overlapped")
    waits = next(phase for phase in run["phases"] if phase["name"] == "wait")
    assert (waits["host_us"], waits["tutti_us"], waits["ratio"]) == (None, 1e6, None)
    text = StringIO()
    show(result, Console(file=text, width=160))
    assert "MPICH 5.0.2, Tutti, servers, overlapped" in text.getvalue()
    assert "the forms of the program" in text.getvalue()
    assert [file.exists() for file in draw(result, tmp_path / "forms")] == [True, True]


def test_bad_options_of_the_ways():
    for options, says in (
        (AppOptions(app="matvec", core_ways=1), "matvec has no one-sided transfers"),
        (
            AppOptions(app="fft", core_ways=1, bind="core"),
            "--bind: it does not go with --core-ways",
        ),
        (AppOptions(app="fft", core_ways=1, tutti=False), "--no-tutti: it does not go with"),
        (AppOptions(app="fft", problems="8x8x8"), "--problems: it needs --core-ways"),
        (AppOptions(app="multigrid", transfers="puts"), "--transfers: it needs --core-ways"),
        (
            AppOptions(app="multigrid", core_ways=1, transfers="put"),
            "--transfers: 'put' is not accepted; it is gets or puts",
        ),
        (
            AppOptions(app="fft", core_ways=1, transfers="puts"),
            "--transfers: fft has no puts that signal; multigrid has",
        ),
    ):
        with pytest.raises(UserError, match=says):
            run(options)
    with pytest.raises(UserError, match="--core-ways: '0' is not accepted; whole numbers from 1"):
        AppOptions(app="fft", core_ways=0)
    with pytest.raises(UserError, match="'8x8' is not accepted; fft takes --size, as in 32x32x32"):
        parse_problems("fft", "16x8x8,8x8")
    with pytest.raises(UserError, match="4 ranks and their servers on a node need 68 cores"):
        CoreWays("fft", 64, (), cores=16).check(4)


def ways_measured():
    """Two problems, of which the whole takes 3 s by messages, 4 s by gets, and 2 s by servers."""
    ways = CoreWays("multigrid", 2, ("32x1", "64x8"), cores=16)
    result = Applications(settings(application="multigrid", core_ways=ways), seed=1)
    for place in result.settings.places:
        for variant in result.settings.variants(place.ranks):
            whole = {MESSAGES: 3.0, BY_RANKS: 4.0}.get(variant.form, 2.0)
            jobs = result.of(place, variant)
            jobs.outputs = [replace(output(), whole=whole)] * 3
            jobs.shares_of_others = [0.0] * 3
    return result


def test_ways_to_give_cores(tmp_path):
    result = ways_measured()
    forms = [variant.form for variant in result.settings.variants(2)]
    assert forms == [MESSAGES, BY_RANKS, *SERVED]
    first, second = result.settings.places
    assert (first.text, second.problem) == ("32x1, 2 ranks", "64x8")
    by_messages, _, effort, *_, selective = result.settings.variants(2)
    of = result.settings.arguments_of
    usual = ("--solves", "1", "--cycles", "7")
    common = ("--side", "64", "--boxes", "8", *usual, "--exchange")
    assert of(by_messages, second) == (*common, "messages", "--threads", "8")
    assert of(effort, second) == (*common, "tutti_get", "--threads", "8")
    assert of(selective, second) == (*common, "tutti_get", "--threads", "7")
    by_puts = replace(result.settings.core_ways, transfers=PUTS)
    for way, exchange in (
        (MESSAGES, "messages"),
        (BY_RANKS, "tutti_put"),
        (SERVED[0], "tutti_put"),
    ):
        words = by_puts.arguments(way, "64x8", nodes=1, ranks=2)
        assert words == [*common, exchange, "--threads", "8"]
    rows = ways_json(result)
    assert len(rows) == 3 * 5 and [row["problem"] for row in rows[::5]] == ["32x1", "64x8", None]
    assert {row["over_messages"]["value"] for row in rows if row["way"] == BY_RANKS} == {0.75}
    for row in rows:
        if row["way"] in SERVED:
            assert row["over_messages"]["value"] == pytest.approx(1.5)
            assert row["over_by_ranks"]["value"] == pytest.approx(2)
    text = StringIO()
    show(result, Console(file=text, width=160))
    assert "1.50x (1.50-1.50)" in text.getvalue() and "by ranks, whole over" in text.getvalue()
    assert [file.exists() for file in draw(result, tmp_path / "ways")] == [True, True]


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs a core beside the server's")
def test_cores_of_the_ways():
    """The cores that the program's threads may use."""
    ways = CoreWays("multigrid", 1, (), cores=2)

    def of_program(way):
        words = [str(program("tutti-run")), *ways.before_program(way, "mpich")]
        script = 'import os; print(*sorted(os.sched_getaffinity(0)), os.environ["TUTTI_SERVERS"])'
        done = subprocess.run(
            [*words, sys.executable, "-c", script],
            env=dict(os.environ) | {"TUTTI_MPI": "mpich"},
            capture_output=True,
            text=True,
            timeout=100,
            check=True,
        )
        return done.stdout.split()

    everywhere = [str(core) for core in sorted(os.sched_getaffinity(0))]
    *kept, servers = of_program("partitioned")
    unit = servers.partition("@")[2]
    assert servers.startswith("1@") and unit in everywhere and unit not in kept
    assert of_program("selective") == [*kept, servers]
    assert of_program("pinned") == [*everywhere, servers]
    assert of_program("best effort") == [*everywhere, "1"]


def test_many_answers_are_counted():
    result = measured()
    for jobs in result.jobs.values():
        many = {f"sum_{k}": Answer("1", 1e-9) for k in range(5)} | {"words": Answer("abc", 0.0)}
        jobs.outputs = [replace(out, answers=many) for out in jobs.outputs]
        jobs.reported = None
    text = StringIO()
    show(result, Console(file=text, width=160))
    assert "all the same (5 answers within 1e-09; words to the last bit)" in text.getvalue()


def test_answers_are_compared():
    result = measured()
    host, tutti = result.settings.variants(2)
    result.of(Place(2), tutti).outputs[1] = output(total="1.0000000001")
    assert differences(result) == []
    result.of(Place(2), tutti).outputs[1] = output(total="1.1", words="abd")
    found = differences(result)
    assert len(found) == 2 and "sum is 1.1, and 1 with MPICH" in found[0]
    result.jobs[Place(2), host.key] = Jobs([output(), output(words="x")], [0.0, 0.0])
    assert any("words is x" in one for one in differences(result))
    assert same_answer(Answer("0", 1e-9), Answer("-0", 1e-9))
    assert not same_answer(Answer("nan", 1e-9), Answer("nan ", 1e-9))


def test_over_nodes():
    plan = Nodes(Settings([MPICH], [2, 4], 2, [], [], 3), HOSTS, [2, 4], 1, ["0", "1ms"])
    changed = over_nodes(settings(), plan)
    assert [place.text for place in changed.places] == [
        "2 nodes, 2 ranks, delay 0",
        "4 nodes, 4 ranks, delay 0",
        "2 nodes, 2 ranks, delay 1ms",
        "4 nodes, 4 ranks, delay 1ms",
    ]
    assert (changed.bind, changed.peer_settings, changed.limits) == ("none", "default", False)


def test_mistakes_are_named():
    with pytest.raises(UserError, match="nothing was not built for this MPI .*is missing"):
        find_application("nothing", "mpich")
    assert failure("fft", 2, "", "noise\nfft: --size: bad\n") == "fft: --size: bad"
    assert failure("fft", 3, "", "it broke") == "exit code 3: it broke"


def test_list(tutti):
    done = tutti("bench", "apps")
    assert done.returncode == 0
    assert all(name in done.stdout for name in APPLICATIONS)


@pytest.mark.parametrize("application", SMALL)
def test_a_run(document_of, mpi, application):
    """Answers are the same with and without Tutti on 1, 2 and 4 ranks, whoever reduces first."""
    if mpi.abi not in built(application):
        pytest.skip(f"{application} was not built for {mpi.label}")
    arguments, phases = SMALL[application]
    words = f"bench apps {application} --ranks 1,2,4 --repetitions 1 --quick --mpi {mpi.name}"
    words += " --peer-settings best --bind none"
    document, _ = document_of(words, after=" ".join(["--", *arguments]))
    assert [run["ranks"] for run in document["runs"]] == [1, 2, 4]
    answers = set()
    for run in document["runs"]:
        assert [phase["name"] for phase in run["phases"]] == phases
        assert run["tutti_communication_us"] > 0 and run["host_us"] > 0
        assert all(answer["same"] and answer["tolerance"] == 0 for answer in run["answers"])
        answers.add(tuple(answer["host"] for answer in run["answers"]))
    assert len(answers) == 1  # nor do they depend on the number of ranks
    served = {share["collective"] for share in document["runs"][1]["collectives"]}
    assert served >= {"matvec": {"scatter", "reduce"}, "barnes_hut": {"allreduce"}}[application]


@pytest.mark.parametrize("application", SMALL)
def test_options_of_an_application(tutti, mpi, application):
    if mpi.abi not in built(application):
        pytest.skip(f"{application} was not built for {mpi.label}")
    options = ["--ranks", "2", "--repetitions", "1", "--quick", "--mpi", mpi.name, "--no-tutti"]
    for arguments, says in (
        (["--sise", "4"], "unknown option '--sise'"),
        (["--size" if application == "matvec" else "--bodies", "0"], "'0' is not accepted"),
    ):
        done = tutti("bench", "apps", application, *options, "--", *arguments)
        assert done.returncode == 2, done.stderr
        assert done.stderr.startswith(f"tutti: {application}: ") and says in done.stderr


def test_barnes_hut_aligns_levels(document_of, mpi):
    """With --align-levels there is a barrier before each allreduce, and the tree is the same."""
    if mpi.abi not in built("barnes_hut"):
        pytest.skip(f"barnes_hut was not built for {mpi.label}")
    words = f"bench apps barnes_hut --ranks 2 --repetitions 1 --quick --mpi {mpi.name}"
    calls, answers = [], []
    for aligns in ("0", "1"):
        own = ["--", *SMALL["barnes_hut"][0], "--align-levels", aligns]
        document, _ = document_of(words, after=" ".join(own))
        run = document["runs"][0]
        calls.append({share["collective"]: share["calls"] for share in run["collectives"]})
        answers.append([answer["host"] for answer in run["answers"]])
    assert answers[0] == answers[1]
    plain, aligned = calls
    assert aligned["allreduce"] == plain["allreduce"] > 4
    assert aligned["barrier"] - plain["barrier"] == plain["allreduce"]
