"""`tutti papers`: what the five papers say, and what today's code gives."""
