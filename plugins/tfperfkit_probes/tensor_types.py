"""TensorFlow's FunctionTypes as flat mappings from an argument's path to what stands there.

TensorFlow's classes are distinguished by their names and attributes, so that nothing is imported here and a class that
another version adds is still shown, by its text.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from typing import Any

from tfperfkit_probes.function_records import Argument

#: More leaves than these are not compared: a type so large is not read by anyone either.
MAX_LEAVES = 400
_TEXT = 80
_SHORT = {
    "float64": "f64",
    "float32": "f32",
    "float16": "f16",
    "bfloat16": "bf16",
    "int64": "i64",
    "int32": "i32",
    "int16": "i16",
    "int8": "i8",
    "uint64": "u64",
    "uint32": "u32",
    "uint16": "u16",
    "uint8": "u8",
    "string": "str",
    "complex64": "c64",
    "complex128": "c128",
}


@dataclasses.dataclass(frozen=True)
class Leaf:
    """A place in the arguments. ``raw`` is TensorFlow's own type there: never keep a leaf."""

    argument: Argument
    raw: Any
    keyword: bool = False  # a keyword-only argument at the top level

    @property
    def path(self) -> str:
        return self.argument.path

    @property
    def kind(self) -> str:
        return self.argument.kind


@dataclasses.dataclass(frozen=True)
class Names:
    """How to call the arguments: the function's own signature, and the names behind a wrapper's ``*args``."""

    polymorphic: Any = None
    positional: tuple[str, ...] = ()


def leaves(function_type: Any, names: Names = Names()) -> dict[str, Leaf]:
    """All places of a FunctionType, in order."""
    found: dict[str, Leaf] = {}
    for name, parameter in function_type.parameters.items():
        keyword = str(getattr(parameter.kind, "name", "")) == "KEYWORD_ONLY"
        path = _parameter_path(name, names)
        for leaf in _walk(path, getattr(parameter, "type_constraint", None), keyword):
            found[leaf.path] = leaf
            if len(found) >= MAX_LEAVES:
                return found
    for name, captured in (getattr(function_type, "captures", None) or {}).items():
        # By-value captures are numbered, by-reference ones named: only those belong to the key.
        if isinstance(name, str):
            for leaf in _walk(f"captured {name}", captured, False):
                found[leaf.path] = leaf
    return found


def _parameter_path(name: str, names: Names) -> str:
    """``args_1`` is how TensorFlow calls the second of ``*args``: give it its own name back."""
    match = re.fullmatch(r"(.*)_(\d+)", name)
    if match and names.polymorphic is not None:
        declared = names.polymorphic.parameters
        owner = declared.get(match[1])
        if name not in declared and str(getattr(getattr(owner, "kind", None), "name", "")) == "VAR_POSITIONAL":
            index = int(match[2])
            return names.positional[index] if index < len(names.positional) else f"{match[1]}[{index}]"
    return name


def _walk(path: str, raw: Any, keyword: bool) -> Iterator[Leaf]:
    name = type(raw).__name__
    children = _children(path, raw, name)
    if children is None:
        yield Leaf(_argument(path, raw, name), raw, keyword)
        return
    text, parts = children
    yield Leaf(Argument(path, text, "container"), raw, keyword)
    for child, child_raw in parts:
        yield from _walk(child, child_raw, False)


def _children(path: str, raw: Any, name: str) -> tuple[str, list[tuple[str, Any]]] | None:
    if name == "Tuple":
        return f"tuple of {len(raw.components)}", _indexed(path, raw.components)
    if name == "List":
        components = raw.components_tuple.components
        return f"list of {len(components)}", _indexed(path, components)
    if name == "Dict":
        keys = ", ".join(str(key) for key in raw.mapping)
        parts = [(f"{path}[{key!r}]".replace("'", '"'), value) for key, value in raw.mapping.items()]
        return _cut(f"dict with {keys}" if keys else "empty dict"), parts
    if name in ("NamedTuple", "Attrs"):
        named = getattr(raw, "named_attributes", raw)
        pairs = zip(named.attribute_names, named.attributes.components, strict=False)
        return named.type_name, [(f"{path}.{attribute}", value) for attribute, value in pairs]
    if name == "CustomNestTraceType":
        return raw.value_type.__name__, _indexed(path, raw.components)
    if name.endswith(("IteratorSpec", "DatasetSpec")):
        element = getattr(raw, "element_spec", None) or getattr(raw, "_element_spec", None)
        if element is not None:
            return name.removesuffix("Spec"), list(_elements(f"{path}.element", element))
    if name == "PerReplicaSpec":
        return "per replica", _indexed(path, getattr(raw, "_value_specs", ()))
    return None


def _indexed(path: str, components: Any) -> list[tuple[str, Any]]:
    return [(f"{path}[{index}]", component) for index, component in enumerate(components)]


def _elements(path: str, spec: Any) -> Iterator[tuple[str, Any]]:
    """The specs of a dataset's elements: a plain Python structure."""
    if isinstance(spec, dict):
        for key, value in spec.items():
            yield from _elements(f'{path}["{key}"]', value)
    elif isinstance(spec, (tuple, list)):
        for index, value in enumerate(spec):
            yield from _elements(f"{path}[{index}]", value)
    else:
        yield path, spec


def _argument(path: str, raw: Any, name: str) -> Argument:
    if name == "Literal":
        value = raw.value
        if type(value).__name__ == "object":  # TensorFlow's marker for not-a-number
            return Argument(path, "nan", "value", "float")
        return Argument(path, _cut(repr(value)), "value", type(value).__name__)
    if name == "Weakref":
        target = raw._ref()
        text = "an object that is gone" if target is None else f"{type(target).__name__} object {id(target):#x}"
        return Argument(path, text, "object", "" if target is None else type(target).__name__)
    dtype, shape = _dtype(raw), _shape(raw)
    if dtype is None:
        return Argument(path, _cut(repr(raw)), "other", name)
    prefix = "" if name == "TensorSpec" else name.removesuffix("Spec") + " "
    kind = "tensor" if name == "TensorSpec" else "variable" if name == "VariableSpec" else "spec"
    text = f"{prefix}{_SHORT.get(dtype, dtype)}[{_shape_text(shape)}]"
    if kind == "variable" and getattr(raw, "alias_id", None) is not None:
        text += f" (variable {raw.alias_id})"
    return Argument(path, text, kind, dtype, shape)


def _dtype(raw: Any) -> str | None:
    found = getattr(raw, "dtype", None) or getattr(raw, "_dtype", None)
    name = getattr(found, "name", None)
    return name if isinstance(name, str) else None


def _shape(raw: Any) -> list[int] | None:
    shape = getattr(raw, "shape", None)
    if shape is None:
        shape = getattr(raw, "_shape", None)
    try:
        return [-1 if size is None else int(size) for size in shape.as_list()]  # type: ignore[union-attr]
    except (AttributeError, TypeError, ValueError):
        return None


def _shape_text(shape: list[int] | None) -> str:
    return "?" if shape is None else ",".join("None" if size < 0 else str(size) for size in shape)


def _cut(text: str) -> str:
    text = text.replace("\n", " ")
    return text if len(text) <= _TEXT else text[: _TEXT - 1] + "…"
