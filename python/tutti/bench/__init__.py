"""`tutti bench`: host MPIs with and without Tutti, measured in one interleaved run.

mpis finds the MPIs, variants says how each is started, driver runs the jobs in shuffled order, statistics turns what
they measured into ratios with intervals, report and plot show them. load watches other processes, states tells the states of
the machine, and conditions compares calls repeated and shuffled, warm and cold.
"""
