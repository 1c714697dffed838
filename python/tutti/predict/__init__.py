"""Predictions of calls in virtual time, on machines that files describe.

The compiled core (`src/model`) makes them; these modules ask it through tutti._core.
"""
