"""What makes runs differ, and by how much."""
