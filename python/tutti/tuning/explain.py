"""The command `tutti explain`: which algorithm serves a call, which rule says so, and what else had a say."""

import json
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from tutti.bench.texts import size_text
from tutti.choose.candidates import Candidate, algorithms_for, core_name, size_word
from tutti.choose.choice import Question, predicted
from tutti.choose.found import NO_TABLE, Found, found_by_jobs
from tutti.errors import UserError
from tutti.options import AsJson, Costs, Deal, Root, option, taking
from tutti.places import MPIS, core
from tutti.plan.command.machines import SHAPES, levels_of, nodes_of
from tutti.plan.command.machines import machine as machine_of
from tutti.predict.machines import read_model
from tutti.predict.prediction import Where, shared_levels

MOST_RANKS = 1024
MOST_COMPARED = 256  # with more ranks only what runs is predicted, not its rivals
MOST_BYTES = 1 << 40
UNITS = {"": 0, "K": 10, "M": 20, "G": 30}
V_COLLECTIVES = ("gatherv", "scatterv", "allgatherv", "alltoallv", "alltoallw")
REACHES = {
    "staged": "by slots alone",
    "direct": "mapped memory where it is",
    "cma": "mapped memory where it is, other memory by the system's copies, where ranks have them",
    "net": "none: messages of the host MPI",
}
READERS = {
    "direct": "from the buffer itself where they have mapped it",
    "cma": "by the system's copies where it permits them",
}
CARRIERS = {
    "line": "stamped lines (data and flag share a cache line)",
    "slot": "slots (rings of buffers)",
}


def parse_bytes(text: str) -> int:
    match = re.fullmatch(r"([0-9]{1,15})([KkMmGg]?)", text)
    size = int(match[1]) << UNITS[match[2].upper()] if match else -1
    if not 0 <= size <= MOST_BYTES:
        raise UserError(
            f"--bytes: '{text}' is not a number of bytes; as 8, 4K, 1M or 2G, up to 1024G"
        )
    return size


def _collective(word: str) -> str:
    if word in V_COLLECTIVES:
        plain = word.rstrip("vw")
        raise UserError(f"{word}: its parts may differ in length, so it always runs by direct, with the segments and the reach that "
                        f"rules give {plain} for the longest part: see TUTTI_ALGORITHM_{plain.upper()}=direct tutti explain {plain}")  # fmt: skip
    name = core_name(word)
    if name not in core().collectives():
        raise UserError(f"'{word}' is no collective; known are {', '.join(core().collectives())}")
    return name


def _file(option: str, path: Path | None, directory: bool) -> str:
    if path is None:
        return ""
    if directory and not path.is_dir():
        raise UserError(f"{option}: '{path}' is no directory; give one with a map and plans")
    if not directory and not path.is_file():
        raise UserError(f"{option}: '{path}' is no file; give a table, as `tutti tune` writes it")
    return str(path)


def _set(variable: str) -> str | None:
    value: str | None = core().environment()[variable][0]
    return value


def oversubscribed_by_default(ranks: int, cores: int) -> bool:
    """Decides as the libraries do, where each rank may run on every core."""
    waits = (_set("TUTTI_WAIT") or "auto").lower()
    return waits == "yield" or (waits == "auto" and ranks > cores)


def reached_by_default() -> bool:
    """Decides as ranks do that are processes: threads reach everything."""
    return (_set("TUTTI_SHARED_HEAP") or "0").lower() in ("1", "yes", "on", "true")


def _users_table(named: Path | None, mpi: str | None, shape: str | None) -> tuple[str, Found]:
    """The table that an option or the variable names, or else the one that jobs here find."""
    text = str(named) if named is not None else _set("TUTTI_TABLE") or ""
    if text == NO_TABLE or shape is not None and not text:
        return "", Found("", ())
    if named is not None:
        return _file("--table", named, False), Found("", ())
    found = Found("", ()) if text else found_by_jobs(mpi)
    return text or found.file, found


def _range_words(low: int, high: int | None) -> str:
    if high is None:
        return "all sizes" if low == 0 else f"{low} bytes and more"
    return f"{low} to {high} bytes"


def _each_leg(found: dict[str, Any], words_of: Callable[[dict[str, Any]], str]) -> str:
    """The words of a call's one program, or of the two around the host MPI's own collective."""
    if not found["legs"]:
        return "none: each rank is alone on its node, and only the host MPI moves data"
    words = {leg["phase"]: words_of(leg) for leg in found["legs"]}
    if len(set(words.values())) == 1:
        return next(iter(words.values()))
    return "; ".join(f"{phase} the host's collective: {text}" for phase, text in words.items())


def _segments_of(leg: dict[str, Any], place: str) -> str:
    if leg["segments"] == 1:
        return "none: the message goes in one piece"
    why = f"wanted by {place}" if place else "the executor's choice"
    return f"{leg['segments']} of {leg['segment_bytes']} bytes, {why}"


def _segments(found: dict[str, Any]) -> str:
    # The two phases of a ring with a threshold are two segments, whatever a rule asks for.
    place = "" if "threshold=" in found["runs"] else found["segment_place"]
    return _each_leg(found, lambda leg: _segments_of(leg, place))


def _readers(found: dict[str, Any]) -> str:
    """Where readers take the data from; nothing between nodes, and where only slots are in question."""
    if found["bypass"]:
        return ", ".join(READERS[way] for way in found["bypass"]) + "; else from slots"
    return "from slots alone" if found["reach_place"] and not found["mpi"] else ""


def _between(found: dict[str, Any]) -> str:
    if "host" in found:
        return f"the host MPI's own collective among {found['leaders']} leaders, whose messages are the host's to choose"
    return f"{found['messages']} messages a segment, {found['delays']} of them one after the other at most"


def _other_mpi(found: dict[str, Any], other: dict[str, Any] | None) -> list[str]:
    """The difference under Open MPI where no MPI was named: it sends less without its receiver's consent."""
    if other is None or _segments(other) == _segments(found):
        return []
    return [f"segments are those of MPICH; with {MPIS[other['mpi']]}: {_segments(other)}"]


def _notes(collective: str, found: dict[str, Any]) -> list[str]:
    notes = []
    if _set("TUTTI_DISABLE") not in (None, "0", "no", "off", "false"):
        notes.append(
            "TUTTI_DISABLE is set: every call goes to the host MPI, and nothing of this runs"
        )
    if (_set("TUTTI_REPRODUCIBLE") or "").lower() == "placement" and core().combines(collective):
        notes.append(
            "TUTTI_REPRODUCIBLE=placement: reductions read placement.map alone, no table and no plans of yours"
        )
    chosen = found["considered"][found["chosen"]]
    if "threshold=" in chosen["target"] and found["runs"] == "direct":
        notes.append(
            f"{chosen['target']}: parts that are no longer than the threshold go by direct"
        )
    elif chosen["target"] != found["runs"]:
        too_large = (
            f"{chosen['target']} needs more shared memory than there is (TUTTI_SHM_BYTES_PER_RANK)"
        )
        notes.append(f"{too_large}; {found['runs']} runs")
    if not chosen["builtin"] and core().combines(collective):
        notes.append("for sums of doubles; other types and operations may be refused the plan")
    return notes


def _measured(found: dict[str, Any]) -> float | None:
    """The time that a tuning wrote above the rule that decides, for this call."""
    place = found["considered"][found["chosen"]]["place"]
    file, _, number = place.rpartition(":")
    if not Path(file).is_file() or not number.isdigit():
        return None
    size = f", {size_word(found['bytes'])} bytes" if found["bytes"] else ""
    wanted = re.compile(rf"# {found['ranks']} ranks{size}: .*, now ([0-9.]+) \((?!.*predicted)")
    for line in reversed(Path(file).read_text().splitlines()[: int(number) - 1]):
        if not line.startswith("# "):
            return None
        if match := wanted.match(line):
            return float(match[1])
    return None


def _what_runs(found: dict[str, Any]) -> Candidate:
    """The candidate, as predictions take it: where ranks reach all memory, nobody needs the system's copies."""
    asked = found["reach"] == "staged" or (found["reach"] == "cma" and not found["reached"])
    return Candidate(found["runs"], found["wanted_segment_bytes"], found["reach"] if asked else "")


def _predictions(
    found: dict[str, Any], machine: Path, levels: str, nodes: list[int], reached: bool
) -> dict[str, Any]:
    """Predicted times of what runs and of the other algorithms; `failed` has the reason if there is
    none.
    """
    ranks, collective = found["ranks"], found["collective"]
    try:
        model = read_model(machine)
    except UserError as error:
        return {"failed": str(error)}
    where = Where(ranks, shared_levels(levels), nodes, "mapped" if reached else "slots", 0, [])
    question = Question(collective, found["bytes"], found["root"], levels, where)
    runs = _what_runs(found)
    leaves = [model.leaves(where.levels, ranks, found["bytes"])]
    others = algorithms_for(ranks, collective, leaves) if ranks <= MOST_COMPARED else []
    reach = runs.reach if runs.reach == "cma" else ""
    candidates = [runs, *(Candidate(one, 0, reach) for one in others if one != runs.algorithm)]
    if reach:  # the same without the system's copies is a rival, too
        candidates.append(Candidate(runs.algorithm, runs.segment_bytes, "staged"))
    order, refused = predicted(model, question, candidates)
    times = {one.candidate: one.microseconds for one in order}
    if runs not in times:
        return {"failed": refused[0] if refused else f"{runs.label} has no prediction"}
    return {
        "machine": json.loads(model.text)["name"],
        "us": times[runs],
        "algorithms": [{"algorithm": one.candidate.label, "us": one.microseconds} for one in order],
    }


def _time_lines(found: dict[str, Any]) -> list[tuple[str, str]]:
    lines = []
    if "predicted" in found and "failed" in found["predicted"]:
        lines.append(("predicted", f"no time: {found['predicted']['failed']}"))
    elif "predicted" in found:
        mine = found["predicted"]["us"]
        lines.append(("predicted", f"{mine:.3f} us on {found['predicted']['machine']}"))
        runs = _what_runs(found).label
        others = [one for one in found["predicted"]["algorithms"] if one["algorithm"] != runs]
        if others:
            best = others[0]
            more = best["us"] / mine - 1
            words = "runner-up" if more >= 0 else "better"
            change = f"{abs(more):.0%} {'more' if more >= 0 else 'less'}"
            lines.append((words, f"{best['algorithm']}: {best['us']:.3f} us, {change}"))
    if found["measured_us"] is not None:
        lines.append(("measured", f"{found['measured_us']:.2f} us, when the table was tuned"))
    return lines


def _print(found: dict[str, Any]) -> None:
    size, ranks = found["bytes"], found["ranks"]
    what = found["collective"] + (
        "" if found["collective"] == "barrier" else f" of {size_text(size)}"
    )
    root = f", root {found['root']}" if core().rooted(found["collective"]) else ""
    kind = "more ranks than cores" if found["oversubscribed"] else "a core for every rank"
    kind += ", memory that all reach" if found["reached"] else ""
    considered, chosen = found["considered"], found["chosen"]
    print(f"{what}, {ranks} ranks{root}, {kind}")
    lines = [
        ("algorithm", found["runs"]),
        ("because", f"{considered[chosen]['place']}: {considered[chosen]['rule']}"),
        ("holds for", _range_words(*found["bytes_range"])),
        ("carrier", _each_leg(found, lambda leg: CARRIERS[leg["carrier"]])),
        ("segments", _segments(found)),
    ]
    if found["reach_place"]:
        lines.append(("reach", f"{REACHES[found['reach']]}, wanted by {found['reach_place']}"))
    if readers := _readers(found):
        lines.append(("readers", readers))
    if "between_nodes" in found:
        lines.append(("between", "nodes: " + _between(found["between_nodes"])))
    lines += _time_lines(found)
    lines += [
        ("refused", f"{one['place']}: {one['rule']}: {one['refused']}")
        for one in considered[:chosen]
    ]
    label = "overrides" if considered[chosen]["place"].startswith("TUTTI_") else "next"
    behind = [f"{one['place']}: {one['rule']}" for one in considered[chosen + 1 :]]
    lines += [(label if place == 0 else "", text) for place, text in enumerate(behind)]
    lines += [("note", note) for note in found["notes"]]
    for name, text in lines:
        print(f"{name:<11}{text}")


def _print_rules(table: str, as_json: bool) -> None:
    rules = core().table_rules(table)
    if as_json:
        document = {
            "format": "tutti-table 1",
            "rules": [{"place": place, "rule": rule} for place, rule in rules],
        }
        print(json.dumps(document, indent=1))
        return
    width = max(len(place) for place, _ in rules)
    for place, rule in rules:
        print(f"{place:<{width}}  {rule}")


@dataclass(frozen=True)
class Asked:
    """The options."""

    collective: Annotated[
        str | None,
        typer.Argument(help="A collective; left out with --rules, --table or --json: all rules."),
    ] = None
    size: Annotated[
        str | None,
        option(
            "Of the vector; of one part in gather, scatter, allgather, alltoall, reduce_scatter.",
            "--bytes",
        ),
    ] = None
    ranks: Annotated[int | None, option("How many ranks [as many as cores].")] = None
    oversubscribed: Annotated[
        bool | None,
        option(
            "Whether ranks outnumber cores [found out].",
            "--oversubscribed/--no-oversubscribed",
            "--crowded/--no-crowded",
        ),
    ] = None
    reached: Annotated[
        bool | None,
        option(
            "Whether ranks reach all that each allocates: threads, --shared-heap [TUTTI_SHARED_HEAP]."
        ),
    ] = None
    root: Root = 0
    table: Annotated[
        Path | None,
        option(
            "A table of yours, as for tutti-run; none: also none that jobs here would find "
            "[TUTTI_TABLE]."
        ),
    ] = None
    plans: Annotated[
        Path | None, option("A directory of plans, as for tutti-run [TUTTI_PLANS].")
    ] = None
    shape: Annotated[
        str | None, option(f"The machine that ranks are bound on: {SHAPES}; else one level.")
    ] = None
    deal: Deal = "block"
    mpi: Annotated[
        str | None, option("The host MPI between nodes: mpich, openmpi or mpiabi [TUTTI_MPI].")
    ] = None
    machine: Costs = None
    rules: Annotated[bool, option("Print all rules of the table, in their order.", "--rules")] = (
        False
    )
    as_json: AsJson = False


def _explain(collective: str, size: int, table: str, plans: str, asked: Asked) -> dict[str, Any]:
    root, shape, deal, mpi = asked.root, asked.shape, asked.deal, asked.mpi
    units = sorted(os.sched_getaffinity(0))
    count = asked.ranks if asked.ranks is not None else max(2, min(len(units), MOST_RANKS))
    if not 1 <= count <= MOST_RANKS:
        raise UserError(
            f"--ranks: {count} is not accepted; whole numbers from 1 to {MOST_RANKS} are"
        )
    if not 0 <= root < count:
        raise UserError(f"--root: {root} is out of range; ranks are 0 to {count - 1}")
    if root != 0 and not core().rooted(collective):
        raise UserError(f"--root: {collective} has no root; leave it out")
    nodes = nodes_of(shape, deal, count)
    # A shape describes the machine, which need not be this one.
    cores = machine_of(shape).cores if shape else len(units)
    many = asked.oversubscribed
    if many is None:
        many = oversubscribed_by_default(count, cores)
    levels = levels_of(shape, deal, count)
    shared = asked.reached if asked.reached is not None else (not nodes and reached_by_default())
    if mpi is not None and mpi not in MPIS:
        raise UserError(f"--mpi: '{mpi}' is none of {', '.join(MPIS)}")
    variable = (_set("TUTTI_MPI") or "").lower()
    named = mpi or (variable if variable in MPIS else None)

    def explained(host: str) -> dict[str, Any]:
        found: dict[str, Any] = core().explain(
            collective, size, count, root, many, units, table, plans, levels, nodes, shared, host
        )
        return found

    found = explained(named or "mpich")
    other = explained("openmpi") if named is None and found["mpi"] else None
    document = {
        "format": "tutti-explain 1", "collective": collective, "bytes": size, "ranks": count, "root": root, "oversubscribed": many,
        **found, "notes": _notes(collective, found) + _other_mpi(found, other),
    }  # fmt: skip
    document["measured_us"] = _measured(document)
    if asked.machine is not None:
        document["predicted"] = _predictions(document, asked.machine, levels, nodes, shared)
    return document


def _run(asked: Asked) -> None:
    """Say which algorithm serves a call, by which rule, and why.

    With --machine it also predicts the time on that machine, and the runner-up's.
    """
    users_table, found_table = _users_table(asked.table, asked.mpi, asked.shape)
    users_plans = _file("--plans", asked.plans, True)
    try:
        if asked.collective is None and not (asked.rules or asked.table or asked.as_json):
            raise UserError(
                "name a call, as in `tutti explain allreduce --bytes 1K`; --rules prints all "
                f"{len(core().table_rules(users_table))} rules"
            )
        if asked.collective is None:
            _print_rules(users_table, asked.as_json)
            return
        name = _collective(asked.collective)
        if asked.size is None and name != "barrier":
            raise UserError(f"{name}: say how long the message is, with --bytes")
        found = _explain(name, parse_bytes(asked.size or "0"), users_table, users_plans, asked)
        found["notes"] += found_table.notes
    except core().Error as error:
        raise UserError(str(error)) from error
    if asked.as_json:
        print(json.dumps(found, indent=1))
    else:
        _print(found)


explain = taking(Asked, _run)
