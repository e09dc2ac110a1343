"""What a run will take, from a small sample of it that was really run."""
