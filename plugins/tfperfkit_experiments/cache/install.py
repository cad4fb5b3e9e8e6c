"""Puts ``cache`` behind stages that the person's code makes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tfperfkit.experiment import Trial
from tfperfkit.instruments.changes.replaced import attribute, caller, seams
from tfperfkit.instruments.changes.tf_functions import named_so
from tfperfkit.instruments.steps.updates import own_code

#: Stages with a function of the person's, and others.
_OF_FUNCTIONS = ("map", "flat_map", "interleave", "filter")
_OTHERS = ("batch", "padded_batch", "shuffle", "take", "skip", "unbatch")


@contextmanager
def install(trial: Trial, target: str) -> Iterator[None]:
    """``target``: a stage, or the function of one; "": maps. Not behind one over an endless dataset."""
    stages = [target] if target in _OF_FUNCTIONS + _OTHERS else list(_OF_FUNCTIONS) if target else ["map"]
    function = "" if target in stages else target
    trial.refuse(f"no stage of the script's is {target}" if target else "the script maps nothing")

    def wanted(arguments: tuple[Any, ...], named: dict[str, Any]) -> bool:
        if not function:
            return True
        given = arguments[0] if arguments else named.get("map_func", named.get("predicate"))
        code = own_code(given)
        return code is not None and named_so(code, function)

    def caching(original: Callable[..., Any]) -> Callable[..., Any]:
        def stage(dataset: Any, *arguments: Any, **named: Any) -> Any:
            made = original(dataset, *arguments, **named)
            if not wanted(arguments, named) or not trial.is_user_code(caller().f_code.co_filename):
                return made
            if int(made.cardinality()) == -1:
                trial.refuse("the data set is endless")
                return made
            trial.applied()
            return made.cache()

        return stage

    with seams() as made:
        dataset = attribute("tensorflow.python.data.ops.dataset_ops", "DatasetV2")
        for name in stages:
            made.replace(dataset, name, caching)
        yield
