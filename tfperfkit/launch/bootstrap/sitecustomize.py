"""Starts the agent in a script that ``tfperf run`` launched, then takes itself away.

Python imports ``sitecustomize`` at start-up; the supervisor put this folder at the head of PYTHONPATH. What the script
could see of that (PYTHONPATH, ``sys.path``, the module itself) is undone here, and the person's own sitecustomize
runs as it would have.
"""

import os
import sys


def _start() -> None:
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != here]
    sys.path_importer_cache.pop(here, None)
    run = os.environ.pop("TFPERF_RUN_DIRECTORY", None)
    before = os.environ.pop("TFPERF_PYTHONPATH", None)
    if before is None:
        os.environ.pop("PYTHONPATH", None)
    else:
        os.environ["PYTHONPATH"] = before
    if run is not None:
        try:
            from tfperfkit.launch.agent import start

            start(run)
        except Exception:
            pass


def _chain() -> None:
    sys.modules.pop("sitecustomize", None)
    import sitecustomize  # noqa: F401  (the person's own; without one this raises what site.py expects and passes over)


_start()
_chain()
