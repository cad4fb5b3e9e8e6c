"""Starts the agent in a script that ``tfperf run`` launched, then takes itself away.

Python imports ``sitecustomize`` at start-up; the supervisor put this folder at the head of PYTHONPATH. Traces that the
script could see of that (PYTHONPATH, ``sys.path``, the module itself) are undone here, and the user's own sitecustomize
runs as it would have.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def _start() -> None:
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != here]
    sys.path_importer_cache.pop(here, None)
    run = os.environ.pop("TFPERF_RUN_DIRECTORY", None)
    before = os.environ.pop("TFPERF_PYTHONPATH", None)
    profile = os.environ.pop("TFPERF_PROFILE", None)
    pinned = os.environ.pop("TFPERF_PIN", "")
    children = os.environ.pop("TFPERF_CHILDREN", None)
    if before is None:
        os.environ.pop("PYTHONPATH", None)
    else:
        os.environ["PYTHONPATH"] = before
    if run is None:
        return
    try:
        launch = os.path.dirname(here)
        agent, when_imported = _load(launch, "agent"), _load(launch, "imports").when_imported
        if children is None:
            agent.start(run, when_imported, pinned)
        else:
            family = [_load(launch, name) for name in ("offspring", "child", "child_stacks")]
            agent.start_family(run, when_imported, children, *family)
        if profile:
            # kernprof's builtin, for a script whose source decorates with the bare name (the parent has looked).
            import builtins

            from tfperfkit.instruments.profiled import profile as mark

            builtins.profile = mark  # type: ignore[attr-defined]
    except Exception:
        pass


def _load(folder: str, name: str) -> "Any":
    """Run a file of ours as a module that nobody finds in ``sys.modules``."""
    module = type(sys)("tfperfkit.launch." + name)
    module.__file__ = os.path.join(folder, name + ".py")
    loader: Any = globals()["__loader__"]
    type(loader)(module.__name__, module.__file__).exec_module(module)
    return module


def _chain() -> None:
    sys.modules.pop("sitecustomize", None)
    import sitecustomize  # type: ignore[import-not-found]  # noqa: F401  (the user's own; without one this raises what site.py expects and passes over)


_start()
_chain()
