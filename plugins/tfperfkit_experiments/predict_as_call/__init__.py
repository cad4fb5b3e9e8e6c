"""The experiment ``predict-as-call``."""
