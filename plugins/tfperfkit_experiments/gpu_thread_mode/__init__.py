"""The experiment ``gpu-thread-mode``."""
