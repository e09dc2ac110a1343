"""Everything that simulates: agents, models, populations, the journal and the processes that run them."""
