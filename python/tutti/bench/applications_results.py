"""The results of an application's jobs: ratios, answers, shares of collectives, and JSON."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from tutti import __version__
from tutti.bench.applications import Applications, Jobs, Place
from tutti.bench.document import machine_json, variables_of_user
from tutti.bench.reading import COMMUNICATION, WHOLE, Answer
from tutti.bench.results import typical
from tutti.bench.states import States
from tutti.bench.statistics import Ratio, centre, compare
from tutti.bench.variants import Variant, host_of
from tutti.rows import members

LEAST_SECONDS = 1e-9  # the resolution of the applications' clock: a phase may take none


def times_of(jobs: Jobs, name: str, least: bool = False) -> list[float]:
    """Seconds by repetition (Output.seconds). Empty if the application has no such phase."""
    seconds = [output.seconds(name, least) for output in jobs.outputs]
    return [max(one, LEAST_SECONDS) for one in seconds if one is not None]


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

    measured: Applications
    place: Place
    host: Variant  # with several forms of the program: the blocking one
    tutti: Variant
    best_peer: Variant  # the MPI and setting without Tutti whose communication is shortest

    def jobs_of(self, variant: Variant) -> Jobs:
        return self.measured.of(self.place, variant)

    def timed(self, name: str, least: bool = False, host: Variant | None = None) -> Timed:
        base, other = self.jobs_of(host or self.host), self.jobs_of(self.tutti)
        return Timed(times_of(base, name, least), times_of(other, name, least))

    @property
    def whole(self) -> Timed:
        return self.timed(WHOLE)

    @property
    def communication(self) -> Timed:
        return self.timed(COMMUNICATION)

    @property
    def over_best(self) -> Timed:
        """All communication, with that of the best peer as `host`."""
        return self.timed(COMMUNICATION, host=self.best_peer)

    @property
    def phases(self) -> dict[str, tuple[str, Timed]]:
        """Kind and times by name."""
        base, other = (self.jobs_of(one).outputs[0].phases for one in (self.host, self.tutti))
        return {name: (kind, self.timed(name)) for name, (kind, _) in (base | other).items()}

    @property
    def least(self) -> dict[str, Timed]:
        """The times of the rank that was in a phase for the shortest time, by phase."""
        return {name: self.timed(name, least=True) for name in self.phases}

    @property
    def shares(self) -> list[Share]:
        return shares_of(self.jobs_of(self.tutti), self.place.ranks)


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


def host_at(measured: Applications, place: Place, variant: Variant) -> Variant:
    """The host MPI in the same setting, which is always measured."""
    host = host_of(measured.settings.variants(place.ranks), variant)
    assert host is not None
    return host


def runs_of(measured: Applications) -> list[Run]:
    """Every variant with Tutti beside the host MPI in the same setting."""
    result = []
    for place in measured.settings.places:
        variants = measured.settings.variants(place.ranks)
        best = min(
            (variant for variant in variants if not variant.tutti),
            key=lambda one: centre(times_of(measured.of(place, one), COMMUNICATION)),
        )
        result += [
            Run(measured, place, host_at(measured, place, variant), variant, best)
            for variant in variants
            if variant.tutti
        ]
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
        for variant in measured.settings.variants(place.ranks):
            host = host_at(measured, place, variant)
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


def states_of(measured: Applications) -> States:
    """The states of the machine before each repetition, by the time of a cache line."""
    lines = [one.get("line_half_round_trip_ns") for one in measured.limits]
    return States({(0, "machine", "plain"): [[time] if time else [] for time in lines]})


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


def _run_json(run: Run) -> dict[str, Any]:
    expected, outputs = run.jobs_of(run.host).outputs[0].answers, run.jobs_of(run.tutti).outputs
    least = run.least
    times = {
        f"{who}_{name}us": microseconds(getattr(timed, who))
        for name, timed in (("", run.whole), ("communication_", run.communication))
        for who in ("host", "tutti")
    }
    return {
        "mpi": run.host.mpi.name,
        "version": run.host.mpi.version,
        "setting": run.host.setting,
        "shared_heap": run.tutti.heap,
        "servers": run.tutti.servers,
        "host_form": run.host.form or None,
        "form": run.tutti.form or None,
        **asdict(run.place),
        **times,
        "whole": _timed_json(run.whole),
        "communication": _timed_json(run.communication),
        "phases": [
            {"name": name, "kind": kind, "least": _timed_json(least[name])} | _timed_json(timed)
            for name, (kind, timed) in run.phases.items()
        ],
        "best_peer": {"variant": run.best_peer.key} | _timed_json(run.over_best),
        "answers": [
            {
                "name": name,
                "host": answer.text,
                "tutti": [output.answers[name].text for output in outputs],
                "tolerance": answer.tolerance,
                "same": all(same_answer(answer, one.answers[name]) for one in outputs),
            }
            for name, answer in expected.items()
        ],
        "collectives": [asdict(share) for share in run.shares],
        "notes": list(outputs[0].notes),
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
        "runs": list(map(_run_json, runs_of(measured))),
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
        "limits": typical(measured.limits) if measured.limits else None,
        "states": [states.state(times) or None for times in states.by_repetition(0)],
    }
