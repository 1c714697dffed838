"""The plan language, for writing, checking and placing your own collectives.

docs/plans.md is the tutorial.

    import tutti.plan as tp

A plan function lists transfers between the ranks' buffers, in order. Tutti checks that they compute
the collective, finds which transfer must wait for which, and runs the plan in any MPI program. Plan
functions run when a plan is compiled (`tutti plan compile`), never in the MPI program.
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
