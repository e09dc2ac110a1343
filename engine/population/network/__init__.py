"""Who knows whom."""
