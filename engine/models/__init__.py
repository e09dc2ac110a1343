"""What agents think with: one batch protocol, and the backends behind it."""
