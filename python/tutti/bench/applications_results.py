"""The results of an application's jobs: ratios, answers, shares of collectives, and JSON."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from tutti import __version__
from tutti.bench.applications import Applications, Jobs, Place
from tutti.bench.document import machine_json, variables_of_user
from tutti.bench.load import MOST_SHARE
from tutti.bench.reading import Answer, Output
from tutti.bench.results import typical_limits
from tutti.bench.states import States, border
from tutti.bench.statistics import Ratio, centre, compare
from tutti.bench.variants import Variant
from tutti.rows import members

LEAST_SECONDS = 1e-9  # the resolution of the applications' clock: a phase may take none


def times_of(
    jobs: Jobs, phase: str | None = None, communication: bool = False, least: bool = False
) -> list[float]:
    """Seconds by repetition: of a phase, of all communication, or of the whole.

    Empty if the application, in this form, has no such phase. `least`: of the rank that was in the phase for the shortest time, if the application says it.
    """

    def seconds(output: Output) -> float:
        if communication:
            return output.communication
        if least and phase is not None:
            return output.least.get(phase, output.phases[phase][1])
        return output.whole if phase is None else output.phases[phase][1]

    return [
        max(seconds(output), LEAST_SECONDS)
        for output in jobs.outputs
        if phase is None or phase in output.phases
    ]


@dataclass(frozen=True)
class Timed:
    """The host's seconds and Tutti's, by repetition; empty for a phase that one does not have."""

    host: list[float]
    tutti: list[float]

    @property
    def ratio(self) -> Ratio | None:
        return compare(self.host, self.tutti) if self.host and self.tutti else None


@dataclass(frozen=True)
class Share:
    """A collective in the job with a report; microseconds are of one rank."""

    collective: str
    calls: int  # calls of all ranks
    host_calls: int  # those among them that the host MPI made
    microseconds: float
    share: float  # the share of the whole


@dataclass(frozen=True)
class Run:
    """An application at one place with one MPI in one setting, without Tutti and with it."""

    place: Place
    host: Variant  # with several forms of the program: the blocking one
    tutti: Variant
    whole: Timed
    communication: Timed
    phases: dict[str, tuple[str, Timed]]  # name: (kind, times)
    # Indexed by phase: the times of the rank that was in it for the shortest time.
    least: dict[str, Timed]
    best_peer: Variant  # the MPI and setting without Tutti whose communication is shortest
    over_best: Timed  # its communication as `host`
    shares: list[Share]


def shares_of(jobs: Jobs, ranks: int) -> list[Share]:
    """The share of each collective, the largest first. Empty without a report."""
    if jobs.report is None or jobs.reported is None:
        return []
    found: dict[str, list[float]] = {}
    for row in jobs.report["collectives"]:
        entry = found.setdefault(row["collective"], [0, 0, 0.0])
        entry[0] += row["calls"] + row["host_calls"]
        entry[1] += row["host_calls"]
        entry[2] += row["calls"] * row["mean_us"] + row["host_calls"] * row["host_mean_us"]
    whole = 1e6 * jobs.reported.whole
    return sorted(
        (
            Share(name, int(calls), int(by_host), time / ranks, time / ranks / whole)
            for name, (calls, by_host, time) in found.items()
        ),
        key=lambda share: -share.microseconds,
    )


def runs_of(measured: Applications) -> list[Run]:
    """Every variant with Tutti beside the host MPI in the same setting."""
    result = []
    for place in measured.settings.places:
        variants = measured.settings.variants(place.ranks)
        hosts = [variant for variant in variants if not variant.tutti]
        best = min(
            hosts, key=lambda one: centre(times_of(measured.of(place, one), communication=True))
        )
        for variant in variants:
            if not variant.tutti:
                continue
            host = next(
                one for one in hosts if (one.mpi, one.setting) == (variant.mpi, variant.setting)
            )
            base, other = measured.of(place, host), measured.of(place, variant)

            phases = base.outputs[0].phases | other.outputs[0].phases

            def timed(jobs: Jobs = base, with_tutti: Jobs = other, **which: Any) -> Timed:
                return Timed(times_of(jobs, **which), times_of(with_tutti, **which))

            result.append(
                Run(
                    place,
                    host,
                    variant,
                    timed(),
                    timed(communication=True),
                    {name: (kind, timed(phase=name)) for name, (kind, _) in phases.items()},
                    {name: timed(phase=name, least=True) for name in phases},
                    best,
                    timed(measured.of(place, best), communication=True),
                    shares_of(other, place.ranks),
                )
            )
    return result


def same_answer(one: Answer, other: Answer) -> bool:
    if one.tolerance == 0:
        return one.text == other.text
    try:
        first, second = float(one.text), float(other.text)
    except ValueError:
        return one.text == other.text
    return abs(first - second) <= one.tolerance * max(abs(first), abs(second))


def differences(measured: Applications) -> list[str]:
    """A sentence for each answer that differs from that of the host MPI's first run."""
    found = []
    for place in measured.settings.places:
        variants = measured.settings.variants(place.ranks)
        for variant in variants:
            host = next(
                one
                for one in variants
                if not one.tutti and (one.mpi, one.setting) == (variant.mpi, variant.setting)
            )
            expected = measured.of(place, host).outputs[0].answers
            jobs = measured.of(place, variant)
            for output in [*jobs.outputs, *([jobs.reported] if jobs.reported else [])]:
                if list(output.answers) != list(expected):
                    found.append(f"{place.text}, {variant.label}: other answers than the host's")
                    continue
                found += [
                    f"{place.text}, {variant.label}: {name} is {output.answers[name].text}, and "
                    f"{expected[name].text} with {host.label}"
                    for name in expected
                    if not same_answer(expected[name], output.answers[name])
                ]
    return list(dict.fromkeys(found))


def loaded(jobs: Jobs) -> list[int]:
    """The repetitions in which other processes used more than MOST_SHARE of the ranks' cores."""
    return [
        k
        for k, share in enumerate(jobs.shares_of_others)
        if share is not None and share > MOST_SHARE
    ]


def states_of(measured: Applications) -> States:
    """The states of the machine before each repetition, by the time of a cache line."""
    lines = [one.get("line_half_round_trip_ns") for one in measured.limits]
    states = States({(0, "machine", "plain"): [[time] if time else [] for time in lines]}, None)
    return States(states.hand_overs, border(states.all_times))


def microseconds(seconds: Sequence[float]) -> float:
    return 1e6 * centre(seconds)


def _timed_json(timed: Timed) -> dict[str, Any]:
    ratio = timed.ratio
    return {
        "host_us": microseconds(timed.host) if timed.host else None,
        "tutti_us": microseconds(timed.tutti) if timed.tutti else None,
        "ratio": asdict(ratio) if ratio is not None else None,
        "host_by_repetition_us": [1e6 * time for time in timed.host],
        "tutti_by_repetition_us": [1e6 * time for time in timed.tutti],
    }


def _run_json(measured: Applications, run: Run) -> dict[str, Any]:
    base, other = measured.of(run.place, run.host), measured.of(run.place, run.tutti)
    expected = base.outputs[0].answers
    return {
        "mpi": run.host.mpi.name,
        "version": run.host.mpi.version,
        "setting": run.host.setting,
        "shared_heap": run.tutti.heap,
        "servers": run.tutti.servers,
        "host_form": run.host.form or None,
        "form": run.tutti.form or None,
        **asdict(run.place),
        "host_us": microseconds(run.whole.host),
        "tutti_us": microseconds(run.whole.tutti),
        "host_communication_us": microseconds(run.communication.host),
        "tutti_communication_us": microseconds(run.communication.tutti),
        "whole": _timed_json(run.whole),
        "communication": _timed_json(run.communication),
        "phases": [
            {"name": name, "kind": kind, "least": _timed_json(run.least[name])} | _timed_json(timed)
            for name, (kind, timed) in run.phases.items()
        ],
        "best_peer": {"variant": run.best_peer.key} | _timed_json(run.over_best),
        "answers": [
            {
                "name": name,
                "host": answer.text,
                "tutti": [output.answers[name].text for output in other.outputs],
                "tolerance": answer.tolerance,
                "same": all(same_answer(answer, one.answers[name]) for one in other.outputs),
            }
            for name, answer in expected.items()
        ],
        "collectives": [asdict(share) for share in run.shares],
        "notes": list(other.outputs[0].notes),
    }


def as_json(measured: Applications) -> dict[str, Any]:
    settings, states = measured.settings, states_of(measured)
    return {
        "format": "tutti-bench-app 1",
        "tutti": __version__,
        "application": settings.application,
        "arguments": list(settings.arguments),
        "machine": machine_json(settings.cores),
        "settings": members(settings, "ranks", "repetitions", "peer_settings", "bind")
        | {
            "per_node": settings.per_node if settings.hosts else None,
            "delays": list(settings.delays),
            "seed": measured.seed,
            "variables": variables_of_user(),
        },
        "runs": [_run_json(measured, run) for run in runs_of(measured)],
        "jobs": [
            {
                "variant": key,
                **asdict(place),
                "whole_us": [1e6 * output.whole for output in jobs.outputs],
                "communication_us": [1e6 * output.communication for output in jobs.outputs],
                "phases_us": {
                    name: [1e6 * output.phases[name][1] for output in jobs.outputs]
                    for name in jobs.outputs[0].phases
                },
                "share_of_others": jobs.shares_of_others,
                "report": jobs.report,
            }
            for (place, key), jobs in measured.jobs.items()
        ],
        "differences": differences(measured),
        "one_way_us": measured.one_way_us,
        "limits": typical_limits(measured.limits) if measured.limits else None,
        "states": [states.state(times) or None for times in states.by_repetition(0)],
    }
