"""`tutti explain` says which algorithm serves a call; `tutti tune` measures which algorithm should.

explain asks the compiled core. jobs says what to measure and in which order, measuring runs the
jobs, state keeps the results, writing makes the table and the summary, and keeping says which rules
of an existing table stay. The room `choose` has the candidates and decides.
"""
