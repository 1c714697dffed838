"""`tutti model`: how long plans take on a machine, in virtual time.

The commands measure machines, show predictions of the room `predict`, and compare both.
"""
