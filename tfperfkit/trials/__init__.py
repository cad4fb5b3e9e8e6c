"""Trials: the script run several times, as it is and changed, in turn, on a view of its folder."""

#: What all trials together may take, unless it is said. A proof that comes within two minutes is waited for.
TRY_TIME, PROVE_TIME = "3m", "100s"
