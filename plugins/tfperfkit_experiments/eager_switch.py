"""``eager-switch``: ignores debugging switches that make everything run eagerly."""

from __future__ import annotations

from typing import Any

from tfperfkit.errors import Unavailable
from tfperfkit.experiment import Change
from tfperfkit.remedy import Every, Setting
from tfperfkit_experiments.base import Base
from tfperfkit_experiments.seams import Seams


class EagerSwitch(Base):
    """``run_functions_eagerly``, ``run_eagerly``, ``enable_debug_mode``, ``enable_check_numerics``."""

    name = "eager-switch"
    keeps = "mathematics"
    remedies = (Setting("run_eagerly"), Setting("debug_mode"), Setting("check_numerics"), Every("print"))

    def apply(self, seams: Seams, change: Change) -> None:
        """Replace the names of the public modules, where user code finds them."""
        tensorflow = seams.tensorflow
        places = (
            (tensorflow.config, "run_functions_eagerly"),
            (tensorflow.data.experimental, "enable_debug_mode"),
            (tensorflow.debugging, "enable_check_numerics"),
        )

        def ignore(original: Any, /, *arguments: Any, **named: Any) -> None:
            seams.applied()

        def compiled(arguments: dict[str, Any]) -> None:
            if arguments.pop("run_eagerly", False):
                seams.applied()

        for owner, name in places:
            try:
                seams.replace(owner, name, ignore)
            except Unavailable:
                continue
        seams.on_compile(compiled)
