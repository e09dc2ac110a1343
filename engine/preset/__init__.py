"""The TOML preset: schema, layers of settings, and every problem reported at once."""
