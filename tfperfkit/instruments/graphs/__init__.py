"""Traces of tf.functions, and the graphs that these traces build."""
