"""The choice of what serves a call: the candidates and their parameters, the search among predictions, what measured
times decide, and the rules that tables have.
"""
