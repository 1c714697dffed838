"""`tutti explain` says which algorithm serves a call; `tutti tune` measures which algorithm should.

explain asks the compiled core. jobs says what to measure and in which order, and keeps the results.
measuring runs the jobs. writing makes the table, with the rules of an existing one that stay, and
the summary. The room `choose` has the candidates and decides.
"""
