"""The plan language: write, check and place collectives of your own. docs/plans.md is the tutorial.

    import tutti.plan as tp

A plan function says which rank's data goes where, in order; Tutti checks that this computes the collective, works
out what must wait for what, and runs it in any MPI program. Plan functions run when a plan is compiled
(`tutti plan compile`), never in the program that the plan serves.
"""

from tutti.plan import algo
from tutti.plan.context import Context
from tutti.plan.fault import PlanError, WrongPlan
from tutti.plan.language import Collective, builtin, collective
from tutti.plan.machine import Group, Machine, Placed
from tutti.plan.ranks import Ranks
from tutti.plan.region import Combination, Region
from tutti.plan.trees import Tree

__all__ = [
    "Collective",
    "Combination",
    "Context",
    "Group",
    "Machine",
    "Placed",
    "PlanError",
    "Ranks",
    "Region",
    "Tree",
    "WrongPlan",
    "algo",
    "builtin",
    "collective",
]
