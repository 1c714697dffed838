"""`tutti explain` says which algorithm serves a call; `tutti tune` measures which algorithm should.

explain asks the compiled core. candidates lists the alternatives to the default, jobs says what to
measure and in which order, measuring runs the jobs, state keeps the results, picking decides,
writing makes the table and the summary, and keeping says which rules of an existing table stay.
"""
