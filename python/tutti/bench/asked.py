"""Functions that turn the options of `tutti bench` into the terms of measurements. All raise
UserError, before anything runs."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tutti.bench.checks import choose_mpis, default_ranks, startable, with_tutti
from tutti.bench.hosts import Hosts
from tutti.bench.measurements import DEFAULT_COLLECTIVES, ROOTED, Settings
from tutti.bench.mpis import Mpi, find_mpis
from tutti.bench.options import DEFAULT_DELAYS, DEFAULT_NODES, DEFAULT_SIZES, Options
from tutti.bench.over_nodes import TWO, Between, Nodes, nodes_plan
from tutti.bench.peer_files import peer_choice, require_peers
from tutti.bench.variants import BINDINGS
from tutti.bench.words import (
    one_of,
    parse_bytes,
    parse_collectives,
    parse_delays,
    parse_kinds,
    parse_ranks,
    parse_sizes,
    require_per_node,
)
from tutti.errors import UserError
from tutti.rows import members

QUICK_SIZES = "8,512,4K,64K"
NODES_SIZES = "8,512,4K,64K,1M"
OF_HOSTS = ("--nodes", "--per-node", "--delay")


def sizes_of(options: Options, usual: str, quick: str = QUICK_SIZES) -> list[int]:
    usual = quick if options.quick else usual
    return parse_sizes(usual if options.bytes is None else options.bytes)


def check_hosts(options: Options, of_hosts: Sequence[str], of_one_node: Sequence[str] = ()) -> None:
    """Raises UserError if an option was given that does not go with --hosts, or needs it."""
    wrong = options.given(*(of_hosts if options.hosts is None else of_one_node))
    if wrong and options.hosts is None:
        raise UserError(
            f"{wrong[0]}: it needs --hosts, the directory of the scripts that make nodes"
        )
    if wrong:
        raise UserError(
            f"{wrong[0]}: --hosts has its own settings, because its nodes share this machine's "
            "cores; leave it out"
        )


def require_hosts(options: Options) -> str:
    if options.hosts is None:
        raise UserError(
            "--hosts: give the directory of the scripts that make nodes (tests/hosts of Tutti's "
            "sources)"
        )
    return options.hosts


def mpis_of(options: Options) -> list[Mpi]:
    mpis = choose_mpis(options.mpi or [], find_mpis())
    return startable(mpis, named=bool(options.mpi)) if options.hosts is not None else mpis


def settings_of(options: Options, **changes: Any) -> Settings:
    """Reads the options that measurements of collectives share. Raises UserError."""
    cores = options.cores
    ranks = parse_ranks(options.ranks) if options.ranks is not None else default_ranks(cores)
    if options.kinds and options.given("--collectives", "--bytes"):
        raise UserError(
            "--kinds: a kind has its collective and its size; leave --collectives and --bytes out"
        )
    one_of("--bind", options.bind, BINDINGS)
    choice = peer_choice(options.peer_settings)
    if options.hosts is None and options.bind == "core" and max(ranks) > cores:
        raise UserError(
            f"--bind core: there are more ranks ({max(ranks)}) than cores ({cores}); give "
            "--bind auto"
        )
    usual = ",".join(DEFAULT_COLLECTIVES)
    settings = Settings(
        mpis=[],
        ranks=ranks,
        cores=cores,
        collectives=parse_collectives(
            usual if options.collectives is None else options.collectives
        ),
        sizes=sizes_of(options, DEFAULT_SIZES if options.hosts is None else NODES_SIZES),
        repetitions=options.count,
        heap=options.shared_heap,
        budget_ms=options.milliseconds,
        kinds=parse_kinds(options.kinds) if options.kinds else "",
        cold=parse_bytes("--cold", options.cold) if options.cold else 0,
        **members(options, "dirty", "peer_settings", "bind", "seed", "every_root", "load"),
    )
    if options.every_root and not any(name in ROOTED for name in settings.collectives):
        raise UserError(
            f"--every-root: none of {', '.join(settings.collectives)} has a root; add one of "
            f"{', '.join(ROOTED)}, or leave --every-root out"
        )
    mpis = mpis_of(options)
    require_peers(choice, mpis)
    return replace(settings, mpis=mpis, tutti=with_tutti(options.tutti, mpis), **changes)


def plan_of(options: Options, settings: Settings, delays: str = DEFAULT_DELAYS) -> Nodes:
    return nodes_plan(
        settings,
        require_hosts(options),
        options.nodes or DEFAULT_NODES,
        2 if options.per_node is None else options.per_node,
        options.delay or delays,
    )


def between_of(options: Options, usual_ranks: int, delays: str, milliseconds: int) -> Between:
    """The measurement between two nodes. Raises UserError before anything runs."""
    mpis = mpis_of(options)
    with_tutti(True, mpis)
    hosts = Path(require_hosts(options))
    if options.nodes not in (None, str(TWO)):
        raise UserError(
            f"--nodes: '{options.nodes}' is not accepted; transfers are between {TWO} nodes, so "
            "leave it out"
        )
    per_node = usual_ranks if options.per_node is None else options.per_node
    require_per_node(per_node)
    Hosts(hosts, TWO)  # raises if a script is missing
    times = parse_delays(options.delay or delays)
    return Between(mpis, hosts, per_node, times, options.budget_ms or milliseconds)


def one_count(options: Options, usual: int) -> int:
    """The value of --ranks, which must be one number."""
    counts = [usual] if options.ranks is None else parse_ranks(options.ranks)
    if len(counts) != 1:
        raise UserError(f"--ranks: '{options.ranks}' is not accepted; one number is")
    return counts[0]
