"""Reads what applications print (examples/apps/phases.h)."""

from dataclasses import dataclass

from tutti.errors import RunError

KINDS = ("communication", "computation", "setup")
# Times that are of no phase.
COMMUNICATION, WHOLE = "all communication", "whole"


@dataclass(frozen=True)
class Answer:
    text: str
    tolerance: float  # relative; 0: the same text is expected


@dataclass(frozen=True)
class Output:
    """The output of an application. Times are in seconds."""

    whole: float
    phases: dict[str, tuple[str, float]]  # name: (kind, seconds), in the order printed
    least: dict[str, float]  # seconds by phase, of the rank that was in it for the shortest time
    answers: dict[str, Answer]
    notes: tuple[str, ...]  # lines that begin with #
    communication: float  # the time of the rank that communicates for the longest time

    def seconds(self, name: str, least: bool = False) -> float | None:
        """The time of a phase, COMMUNICATION or WHOLE; None without such a phase.

        `least`: that of the rank that was in the phase for the shortest time, if it is known.
        """
        if name in (COMMUNICATION, WHOLE):
            return self.communication if name == COMMUNICATION else self.whole
        if name not in self.phases:
            return None
        seconds = self.phases[name][1]
        return self.least.get(name, seconds) if least else seconds


def parse_output(text: str) -> Output:
    """Reads an application's output. Raises RunError if it is not as examples/apps/phases.h says."""
    whole: float | None = None
    communication: float | None = None
    phases: dict[str, tuple[str, float]] = {}
    least: dict[str, float] = {}
    answers: dict[str, Answer] = {}
    tolerances: dict[str, float] = {}
    notes = []
    for line in text.splitlines():
        match line.split():
            case ["phase", name, kind, seconds] if kind in KINDS:
                phases[name] = (kind, _number(line, seconds))
            case ["least", name, seconds]:
                least[name] = _number(line, seconds)
            case ["answer", name, value]:
                answers[name] = Answer(value, tolerances.get(name, 0.0))
            case ["tolerance", name, value]:
                tolerances[name] = _number(line, value)
            case ["communication", seconds]:
                communication = _number(line, seconds)
            case ["whole", seconds]:
                whole = _number(line, seconds)
            case ["#", *_]:
                notes.append(line.lstrip("# "))
            case []:
                pass
            case _:
                raise RunError(f"the application printed a line that is not understood: '{line}'")
    if whole is None or communication is None:
        missing = "whole" if whole is None else "communication"
        raise RunError(f"the application printed no line '{missing} SECONDS'")
    for name, found in (("phase", phases), ("answer", answers)):
        if not found:
            raise RunError(f"the application printed no line '{name} NAME ...'")
    return Output(whole, phases, least, answers, tuple(notes), communication)


def _number(line: str, word: str) -> float:
    try:
        return float(word)
    except ValueError:
        raise RunError(f"the application printed no number in the line '{line}'") from None
