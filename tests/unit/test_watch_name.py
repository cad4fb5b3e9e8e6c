"""``tfperfkit.watch`` is a function to whoever calls it and a module to whoever imports from it, in every order."""

from __future__ import annotations

import itertools
import subprocess
import sys

import pytest

#: Each must work whatever stood before it, and leave the name as it was for what comes after.
USES = {
    "from the package": "from tfperfkit import watch; assert watch(probes='none') and watch.Run",
    "from the module": "from tfperfkit.watch import Run, Watch, watch as function; assert function(probes='none')",
    "the module": "import tfperfkit.watch as module; assert module.Run and module.watch and module(probes='none')",
    "the attribute": "import tfperfkit; assert isinstance(tfperfkit.watch(probes='none'), tfperfkit.watch.Watch)",
    "a decorator": "import tfperfkit\n@tfperfkit.watch\ndef train(): ...\nassert train.__name__ == 'train'",
}


@pytest.mark.parametrize("first", USES)
def test_it_is_both_in_every_order(first: str) -> None:
    """One process for all orders that begin with a use: the package is forgotten before each."""
    orders = [order for order in itertools.permutations(USES, 3) if order[0] == first]
    script = "\n".join(
        (
            "import sys",
            f"uses = {USES!r}",
            f"for order in {orders!r}:",
            "    for name in [name for name in sys.modules if name in ('tfperfkit', 'tfperfkit.watch')]:",
            "        del sys.modules[name]",
            "    for use in order:",
            "        exec(uses[use], {})",
        )
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_it_has_the_functions_signature() -> None:
    import inspect

    import tfperfkit
    from tfperfkit.watch import watch

    assert inspect.signature(tfperfkit.watch) == inspect.signature(watch)


def test_the_module_can_be_sent_to_another_process() -> None:
    """Ray and Dask pickle the globals of a function that runs elsewhere."""
    code = (
        "import pickle, sys, tfperfkit.watch; module = sys.modules['tfperfkit.watch']; "
        "assert pickle.loads(pickle.dumps(module)) is module"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
