"""``tfperf fix``: findings with a mechanical remedy as patches of the user's source."""
