"""`tutti sim` simulates collectives on clusters, by SimGrid's SMPI.

machines defines the clusters, platform writes their files for SimGrid, jobs runs the simulations,
and report compares and shows them.
"""
