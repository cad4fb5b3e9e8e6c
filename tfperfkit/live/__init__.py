"""``tfperf run --live``: the parent draws what the script's process writes anyway, at the bottom of the terminal."""
