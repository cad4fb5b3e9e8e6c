"""The experiment ``adapt-batches``."""
