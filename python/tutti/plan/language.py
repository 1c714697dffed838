"""The plan language: a Python function of a context writes a collective, transfer by transfer.

    import tutti.plan as tp

    @tp.collective("allreduce")
    def star(c: tp.Context) -> None:
        c.out[0] = sum(c.inp[r] for r in c.ranks)
        for r in c.ranks[1:]:
            c.out[r] = c.out[0]

    plan = star.build(ranks=8)

Order is meaning: a plan is right if executing its transfers one after another is right. `build` proves that by the
C++ check. The `Plan` that comes out is a value, and the C++ one that programs run.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tutti.errors import UserError
from tutti.places import core
from tutti.plan.context import Context
from tutti.plan.fault import PlanError, fault, place_of
from tutti.plan.machine import Deal, Machine, Placed

if TYPE_CHECKING:
    from tutti._core import Plan

# What build() takes itself; parameters of plan functions have other names.
OWN_PARAMETERS = ("placed", "ranks", "shape", "deal", "root", "check")
LONGEST_LABEL = 128


class Collective:
    """A plan function. `build` writes the plan for one number of ranks, machine and root.

    Called with a context it writes its transfers there, so that one plan can be part of another.
    """

    def __init__(
        self, function: Callable[..., None], collective: str, label: str, commutative: bool | None
    ) -> None:
        self.function = function
        self.collective = collective
        self.label = label
        self.commutative = commutative
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__
        self.__module__ = function.__module__
        self.signature = inspect.signature(function)

    @property
    def name(self) -> str:
        return self.__name__

    @property
    def parameters(self) -> dict[str, Any]:
        """The function's own parameters and their defaults (inspect.Parameter.empty where there is none)."""
        return {
            name: parameter.default
            for name, parameter in list(self.signature.parameters.items())[1:]
        }

    def __call__(self, c: Context, **parameters: Any) -> None:
        self.function(c, **parameters)

    def build(
        self,
        placed: Placed | None = None,
        *,
        ranks: int | None = None,
        shape: str | None = None,
        deal: Deal = "block",
        root: int = 0,
        check: bool = True,
        **parameters: Any,
    ) -> Plan:
        """The plan for ranks that are placed on a machine, or for `ranks` dealt over a machine of this `shape`.

        Raises PlanError naming the line of the plan function at fault; WrongPlan where the check fails.
        """
        where = _where(placed, ranks, shape, deal)
        rooted: bool = core().rooted(self.collective)
        if not isinstance(root, int) or not 0 <= root < len(where) or (root != 0 and not rooted):
            said = (
                f"ranks are 0..{len(where) - 1}"
                if rooted
                else f"a collective such as {self.collective} has none"
            )
            raise fault(f"{self.name}: root {root!r}; {said}")
        context = Context(self.collective, where, root, self.commutative)
        try:
            self.signature.bind(context, **parameters)
        except TypeError as error:
            known = ", ".join(self.parameters) or "none"
            raise fault(f"{self.name}: {error}; its parameters are: {known}") from None
        try:
            self.function(context, **parameters)
        except PlanError:
            raise
        except UserError as error:
            raise PlanError(f"{place_of(error.__traceback__) or self.name}: {error}") from error
        return context.finish(self._label(parameters), check)

    def _label(self, parameters: dict[str, Any]) -> str:
        words = [self.label, *(f"{name}={value}" for name, value in parameters.items())]
        text = " ".join(" ".join(words).split())
        kept = "".join(letter if " " <= letter <= "~" and letter != "#" else "?" for letter in text)
        return kept[:LONGEST_LABEL].strip()

    def __repr__(self) -> str:
        return f"<{self.collective} {self.name}>"


def _where(placed: Placed | None, ranks: int | None, shape: str | None, deal: Deal) -> Placed:
    if placed is not None:
        if ranks is not None or shape is not None:
            raise fault(
                "ranks that are placed already, and ranks or shape as well; give one of the two"
            )
        return placed
    if shape is not None:
        return Machine.parse(shape).place(ranks, deal)
    if ranks is None:
        raise fault(
            "no ranks to build the plan for; give ranks=8, shape='node:2 core:4', or placed ranks"
        )
    if not isinstance(ranks, int) or ranks < 1:
        raise fault(f"{ranks!r} ranks; give a number of at least 1")
    return Machine.parse(f"core:{ranks}").place(ranks, deal)


def collective(
    name: str, *, label: str | None = None, commutative: bool | None = None
) -> Callable[[Callable[..., None]], Collective]:
    """Makes a plan function of a Python function of a context.

    `name` is the collective: barrier, bcast, reduce, allreduce, gather, scatter, allgather, alltoall, reduce_scatter,
    scan or exscan. gather to reduce_scatter have parts, which are blocks, one for each rank:

        @tp.collective("alltoall")
        def pairwise(c: tp.Context) -> None:
            for r in c.ranks:
                for other in c.ranks:
                    c.tmp[r][other] = c.inp[r][other]
            for r in c.ranks:
                for other in c.ranks:
                    c.out[r][other] = c.tmp[other][r]

    `commutative=False` demands that the ranks' data is combined in rank order, so that the plan serves every
    operation; by default the plan says that it relies on commuting only where it must. `label` names it to people.
    """
    known = core().collectives()
    if name not in known:
        raise fault(f"there is no collective '{name}'; known are {', '.join(known)}")

    def decorate(function: Callable[..., None]) -> Collective:
        parameters = list(inspect.signature(function).parameters)
        if not parameters:
            raise fault(
                f"{function.__name__} takes no context; write it as def {function.__name__}(c): ..."
            )
        for parameter in parameters[1:]:
            if parameter in OWN_PARAMETERS:
                raise fault(
                    f"{function.__name__}: parameter '{parameter}' is build's own; name it otherwise"
                )
        return Collective(function, name, label or function.__name__, commutative)

    return decorate


def builtin(algorithm: str, collective: str, ranks: int, root: int = 0, levels: str = "") -> Plan:
    """The plan of a built-in algorithm, as `tutti plan list` names them: `builtin("nary:4", "bcast", 16)`.

    `levels` says what the ranks share, as `Placed.levels` gives it.
    """
    try:
        plan: Plan = core().generate(collective, algorithm, ranks, root, levels)
    except core().Error as error:
        raise fault(str(error)) from error
    return plan
