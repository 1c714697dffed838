"""`tutti ps`: the jobs of this machine, and where the ranks of one are."""
