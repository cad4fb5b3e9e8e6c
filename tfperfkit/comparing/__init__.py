"""``tfperf compare``: what changed between runs, and why."""
