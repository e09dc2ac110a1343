"""Environments: actors with state that many agents call, and what follows from what happens in them."""
