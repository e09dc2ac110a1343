"""Who the agents are."""
