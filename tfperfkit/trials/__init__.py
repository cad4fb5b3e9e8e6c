"""Trials: the script run several times, as it is and changed, in turn, on a view of its folder."""

#: Default time limits of all trials together. Users wait for an answer about a run's findings that comes within two
#: minutes.
SCRIPT_TIME, FINDINGS_TIME = "3m", "100s"
#: Of ``tfperf fix --prove``, which users wait for; with ``--all`` the script is recorded again after each patch.
PROVE_TIME, LADDER_TIME = "5m", "15m"
