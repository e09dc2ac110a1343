"""The processes of a run: coordinator, workers, model services, and the links between them."""
