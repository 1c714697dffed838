"""The commands of `tutti plan` that read and write plans; `tutti.plans` registers them."""
