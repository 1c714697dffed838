"""Seeing plans: `tutti plan draw` lays one over the machine's tree, `tutti plan play` runs one step by step in a page.

flow.py follows the data through a plan, graph.py says who hands what to whom and over which level, layout.py gives
boxes and ranks their places; figure.py (Matplotlib) and page.py (one HTML page, made of the files in pages/) only show
what these found. layout.py's boxes, tree.py's trees and graph.py's messages serve any other drawing of plans as well;
single_file.py and pages/machine.js also make the page of a trace (tutti.tracing).
"""
