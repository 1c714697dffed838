"""The part of `tutti bench` that measures applications. It checks options before anything runs."""

import difflib
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from tutti.bench import applications_report
from tutti.bench.applications import (
    APPLICATIONS,
    FORMS,
    AppSettings,
    measure,
    require_built,
)
from tutti.bench.applications_results import as_json, differences
from tutti.bench.hosts import Hosts
from tutti.bench.nodes_command import MOST_NODES, parse_delays, parse_nodes
from tutti.bench.progress import with_progress
from tutti.errors import RunError, UserError, cannot_write

LIST = "list"


def usual_repetitions(quick: bool) -> int:
    return 3 if quick else 5


def require_known(application: str) -> None:
    if application in APPLICATIONS:
        return
    near = difflib.get_close_matches(application, APPLICATIONS, n=1)
    hint = f"did you mean {near[0]}? " if near else ""
    raise UserError(
        f"--app: '{application}' is unknown; {hint}known are {', '.join(APPLICATIONS)} (--app list "
        "says what they are)"
    )


def refuse_with_app(given: Mapping[str, bool]) -> None:
    for option, is_given in given.items():
        if is_given:
            raise UserError(
                f"{option}: it cannot be combined with --app, which runs a whole program; leave "
                "one of them out"
            )


def require_forms(application: str) -> None:
    if application not in FORMS:
        raise UserError(
            f"--servers: {application} has no overlapped form, which servers could help; those that "
            f"have one are {' and '.join(FORMS)}"
        )


def over_nodes(
    settings: AppSettings, hosts: str, nodes: str, per_node: int, delays: str
) -> AppSettings:
    """The settings for emulated nodes, which have settings of their own. Raises UserError."""
    if not 1 <= per_node <= MOST_NODES:
        raise UserError(
            f"--per-node: {per_node} is not accepted; whole numbers from 1 to {MOST_NODES} are"
        )
    counts = parse_nodes(nodes)
    Hosts(Path(hosts), max(counts))  # raises if a script is missing
    return replace(
        settings,
        ranks=[count * per_node for count in counts],
        peer_settings="default",
        bind="none",
        limits=False,  # nodes share cores
        hosts=Path(hosts),
        per_node=per_node,
        delays=tuple(parse_delays(delays)),
    )


def bench_application(
    settings: AppSettings, json_file: Path | None, stem: Path | None, console: Console
) -> None:
    require_built(settings)
    measured = with_progress(
        settings.jobs,
        settings.application,
        lambda before_job: measure(settings, before_job),
    )
    applications_report.show(measured, console)
    try:
        if json_file is not None:
            json_file.write_text(json.dumps(as_json(measured), indent=1) + "\n")
            console.print(f"wrote {json_file}", highlight=False)
        if stem is not None:
            for name in applications_report.draw(measured, stem):
                console.print(f"wrote {name}", highlight=False)
    except OSError as error:
        raise cannot_write(error, json_file or stem) from error
    if different := differences(measured):
        raise RunError(f"{settings.application}: the answers differ: {different[0]}")
