"""What agents do together: the base class and the built-in scenarios, one file each."""
