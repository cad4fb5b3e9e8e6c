"""The probes that tfperf brings, each in a folder of its own."""

#: The probes of ``--probes default``; the most informative windows come first.
DEFAULT = ("lines", "retrace", "tfprof", "input", "memory", "ops", "devices")
