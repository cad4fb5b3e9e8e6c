"""The experiment ``batch-as-call``."""
