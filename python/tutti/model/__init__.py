"""`tutti model`: how long plans take on a machine, in virtual time.

The commands ask the C++ code (`src/model`) through tutti._core.
"""
