"""Drawings of plans.

`tutti plan draw` draws a plan over the machine's tree. `tutti plan play` makes a page that shows a
plan step by step. flow.py follows the data through a plan, graph.py finds the messages between
ranks and their levels, and layout.py places boxes and ranks. figure.py (Matplotlib) and page.py
(one HTML page, made of the files in pages/) show the results. Other drawings of plans can use
layout.py, tree.py and graph.py too. single_file.py and pages/machine.js also make the page of a
trace (tutti.tracing).
"""
