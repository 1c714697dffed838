"""Which algorithm serves which call: `tutti explain` says so, `tutti tune` measures what should.

explain asks the compiled core; candidates lists what could serve instead of the default, jobs says what to measure in which
order, measuring runs it, state keeps what was measured, picking decides, writing makes the table and the summary, keeping
says what stays of the table that was there.
"""
