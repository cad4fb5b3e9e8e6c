"""Scalars and the account as text in a log directory of TensorBoard, beside the profile."""
