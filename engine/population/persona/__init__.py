"""Who somebody is, in words."""
