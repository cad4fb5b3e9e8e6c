"""Questions to TensorFlow about a function that are asked only on request: AutoGraph's code and XLA's view."""

from __future__ import annotations

import inspect
import logging
from typing import Any

from tfperfkit import clock
from tfperfkit.records.graph_contents import AutographCode, XlaView

_MAX_HLO_CHARACTERS = 4_000_000


def autograph_code(function: Any) -> AutographCode:
    """Convert a Python function as tf.function does, without calling it."""
    from tensorflow.python.autograph.impl import api

    target = inspect.unwrap(getattr(function, "__func__", function))
    code = getattr(target, "__code__", None)
    file, line = getattr(code, "co_filename", ""), getattr(code, "co_firstlineno", 0)
    try:
        source = inspect.getsource(target).splitlines()
        logger = logging.getLogger("tensorflow")
        level = logger.level
        logger.setLevel(logging.CRITICAL)  # AutoGraph logs what it then raises
        try:
            converted = api.to_graph(target, recursive=True)
        finally:
            logger.setLevel(level)
        made, first = inspect.getsourcelines(converted)
        origins = {place.lineno: origin.loc.lineno for place, origin in converted.ag_source_map.items()}
    except Exception as error:
        words = f"{type(error).__name__}: {error}".splitlines()[0]
        return AutographCode(file=file, line=line, source=[], lines=[], error=words)
    lines = [(origins.get(first + index), text.rstrip("\n")) for index, text in enumerate(made)]
    return AutographCode(file=file, line=line, source=source, lines=lines)


def xla_view(concrete: Any, arguments: tuple[Any, ...], *, optimized: bool) -> XlaView:
    """Ask XLA for the HLO of a function called with ``arguments``.

    The function is lowered again; ``optimized`` also compiles it.
    """
    begin_ns = clock.now_ns()
    try:
        hlo = _compiler_ir(concrete, arguments, "hlo")
        after = _compiler_ir(concrete, arguments, "optimized_hlo") if optimized else None
    except Exception as error:
        return XlaView(error=str(error)[:20_000], ms=clock.ms(clock.now_ns() - begin_ns))
    return XlaView(hlo=hlo, optimized_hlo=after, ms=clock.ms(clock.now_ns() - begin_ns))


def _compiler_ir(concrete: Any, arguments: tuple[Any, ...], stage: str) -> str:
    from tensorflow.python.eager import context
    from tensorflow.python.eager.polymorphic_function import compiler_ir

    raw = context.context().get_compiler_ir(
        device_name=compiler_ir.maybe_get_device_name(None),
        platform_name=None,
        function_name=concrete.name,
        flat_args=list(arguments),
        captured_inputs=concrete.captured_inputs,
        stage=stage,
    )
    text: str = raw.decode("utf-8", "replace") if isinstance(raw, bytes) else str(raw)
    return text[:_MAX_HLO_CHARACTERS]
