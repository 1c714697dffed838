"""`tutti sim`: collectives on clusters that are not there, simulated by SimGrid's SMPI.

machines holds the clusters, platform writes what SimGrid reads of them, jobs runs the simulations, results compares them,
report and plot show the comparison.
"""
