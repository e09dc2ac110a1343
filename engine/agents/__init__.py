"""Agents: what authors write, the effects that agents wait for, and the scheduler that drives them."""
