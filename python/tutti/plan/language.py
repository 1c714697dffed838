"""The plan language: a Python function writes a collective, transfer by transfer, to a context.

    import tutti.plan as tp

    @tp.collective("allreduce")
    def star(c: tp.Context) -> None:
        c.out[0] = sum(c.inp[r] for r in c.ranks)
        for r in c.ranks[1:]:
            c.out[r] = c.out[0]

    plan = star.build(ranks=8)

The order of transfers has meaning: a plan is right if executing its transfers one after another
computes the collective. `build` proves this with the C++ check. Its result is a value, the same C++
`Plan` that programs run.
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

# Parameters of build(); parameters of plan functions must have other names.
OWN_PARAMETERS = ("placed", "ranks", "shape", "deal", "root", "check")
LONGEST_LABEL = 128


class Collective:
    """A plan function. `build` writes the plan for one number of ranks, machine and root.

    Calling it with a context writes its transfers there, so that one plan can be part of another.
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
        """The function's own parameters and their defaults (inspect.Parameter.empty if none)."""
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
        """The plan for `placed` ranks, or for `ranks` placed on a machine of this `shape` by
        `deal`.

        Raises PlanError, which names the line of the plan function at fault, or WrongPlan if the
        check fails.
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
                "placed ranks exclude ranks and shape; give either placed, or ranks and shape"
            )
        return placed
    if shape is not None:
        return Machine.parse(shape).place(ranks, deal)
    if ranks is None:
        raise fault(
            "no ranks to build the plan for; give ranks=8, shape='node:2 core:4', or placed ranks"
        )
    if not isinstance(ranks, int) or ranks < 1:
        raise fault(f"ranks={ranks!r} is not accepted; give a number of at least 1")
    return Machine.parse(f"core:{ranks}").place(ranks, deal)


def collective(
    name: str, *, label: str | None = None, commutative: bool | None = None
) -> Callable[[Callable[..., None]], Collective]:
    """Turns a Python function that takes a context into a plan function.

    `name` is the collective: barrier, bcast, reduce, allreduce, gather, scatter, allgather,
    alltoall, reduce_scatter, scan or exscan. Those from gather to reduce_scatter have parts:
    blocks, one for each rank:

        @tp.collective("alltoall")
        def pairwise(c: tp.Context) -> None:
            for r in c.ranks:
                for other in c.ranks:
                    c.tmp[r][other] = c.inp[r][other]
            for r in c.ranks:
                for other in c.ranks:
                    c.out[r][other] = c.tmp[other][r]

    `commutative=False` requires that the ranks' data is combined in rank order, so that the plan
    serves every operation. By default a plan is marked as relying on commuting only if it needs
    that. `label` is a name for people.
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
                    f"{function.__name__}: parameter '{parameter}' is also one of build; give it "
                    "another name"
                )
        return Collective(function, name, label or function.__name__, commutative)

    return decorate


def builtin(algorithm: str, collective: str, ranks: int, root: int = 0, levels: str = "") -> Plan:
    """The plan of a built-in algorithm (`tutti plan list`), such as `builtin("nary:4", "bcast",
    16)`.

    `levels` gives the groups that the ranks share, as `Placed.levels` returns it.
    """
    try:
        plan: Plan = core().generate(collective, algorithm, ranks, root, levels)
    except core().Error as error:
        raise fault(str(error)) from error
    return plan
