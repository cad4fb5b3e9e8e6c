"""The probes that tfperf brings, each in a folder of its own."""

#: What ``--probes default`` stands for, the windows that tell most first.
DEFAULT = ("lines", "retrace", "tfprof", "input", "memory", "ops", "devices")
#: Of these, the ones whose tables the report shows unasked.
SHOWN = ("lines",)
