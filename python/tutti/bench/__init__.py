"""`tutti bench`: host MPIs with and without Tutti, measured in one interleaved run.

mpis finds the MPIs, variants says how to start each, and driver runs the jobs in shuffled order.
statistics turns the results into ratios with 95% confidence intervals; report and plot show them.
load watches other processes, states finds the states of the machine, and conditions compares calls
that are repeated or shuffled, with warm or cold caches.
"""
