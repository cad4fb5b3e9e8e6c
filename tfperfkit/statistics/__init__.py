"""How measured times are compared: ratios with intervals, and what could have been seen.

NumPy and SciPy are imported when something is compared, in the parent's process only.
"""
