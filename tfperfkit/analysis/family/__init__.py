"""The children of a script that were recorded (``tfperf run --children``), put together for its report."""
