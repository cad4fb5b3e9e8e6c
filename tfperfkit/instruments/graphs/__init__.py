"""Traces of tf.functions, and the graphs that come of them."""
