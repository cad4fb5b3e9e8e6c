"""The experiment ``matmul-order``."""
