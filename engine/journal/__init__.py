"""One SQLite file a run, in which every number can be traced to the prompt and reply behind it."""
