"""Sequential code over objects that live in other processes: calls that depend on nothing overlap."""
