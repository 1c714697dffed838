"""`tutti bench`: host MPIs with and without Tutti, measured in one interleaved run.

A subcommand (command.py) names its options (options.py). mpis finds the MPIs, variants says how to
start each, and driver runs the jobs in shuffled order and reads their rows (tutti.rows), which
measurements collects by cell and variant. results and statistics turn them into ratios with
95% confidence intervals. Each kind of measurement is a view of these: declared columns (tables.py)
and panels (figures.py). load watches other processes, and states finds the states of the machine.
"""
