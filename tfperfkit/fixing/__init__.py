"""``tfperf fix``: findings with a mechanical remedy as patches of the person's source."""
