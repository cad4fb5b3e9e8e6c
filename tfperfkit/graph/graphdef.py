"""GraphDef declared at run time, so that reading one needs no TensorFlow.

Names and field numbers are those of ``tensorflow/core/framework/{graph,node_def,attr_value,tensor,function}.proto``;
only what is read here is declared. The messages live in a descriptor pool of their own (see ``xplane.schema``).
"""

from __future__ import annotations

from functools import cache
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_PACKAGE = "tfperfkit.graph"
_F = descriptor_pb2.FieldDescriptorProto
_INT, _INT32, _BYTES, _FLOAT, _DOUBLE, _BOOL = (
    _F.TYPE_INT64,
    _F.TYPE_INT32,
    _F.TYPE_BYTES,
    _F.TYPE_FLOAT,
    _F.TYPE_DOUBLE,
    _F.TYPE_BOOL,
)

#: message -> (name, number, type or message's name, repeated). A map is on the wire what it is here.
_MESSAGES: dict[str, tuple[tuple[str, int, Any, bool], ...]] = {
    "GraphDef": (("node", 1, "NodeDef", True), ("library", 2, "Library", False)),
    "Library": (("function", 1, "FunctionDef", True),),
    "FunctionDef": (("signature", 1, "OpDef", False), ("node_def", 3, "NodeDef", True)),
    "OpDef": (("name", 1, _BYTES, False),),
    "NodeDef": (
        ("name", 1, _BYTES, False),
        ("op", 2, _BYTES, False),
        ("input", 3, _BYTES, True),
        ("device", 4, _BYTES, False),
        ("attr", 5, "AttrEntry", True),
    ),
    "AttrEntry": (("key", 1, _BYTES, False), ("value", 2, "AttrValue", False)),
    "AttrValue": (
        ("list", 1, "ListValue", False),
        ("s", 2, _BYTES, False),
        ("i", 3, _INT, False),
        ("f", 4, _FLOAT, False),
        ("b", 5, _BOOL, False),
        ("type", 6, _INT32, False),
        ("shape", 7, "TensorShape", False),
        ("tensor", 8, "Tensor", False),
        ("placeholder", 9, _BYTES, False),
        ("func", 10, "NameAttrList", False),
    ),
    "ListValue": (
        ("s", 2, _BYTES, True),
        ("i", 3, _INT, True),
        ("f", 4, _FLOAT, True),
        ("b", 5, _BOOL, True),
        ("type", 6, _INT32, True),
        ("shape", 7, "TensorShape", True),
        ("tensor", 8, "Tensor", True),
        ("func", 9, "NameAttrList", True),
    ),
    "NameAttrList": (("name", 1, _BYTES, False),),
    "TensorShape": (("dim", 2, "Dim", True), ("unknown_rank", 3, _BOOL, False)),
    "Dim": (("size", 1, _INT, False),),
    "Tensor": (
        ("dtype", 1, _INT32, False),
        ("shape", 2, "TensorShape", False),
        ("content", 4, _BYTES, False),
        ("float_val", 5, _FLOAT, True),
        ("double_val", 6, _DOUBLE, True),
        ("int_val", 7, _INT32, True),
        ("string_val", 8, _BYTES, True),
        ("int64_val", 10, _INT, True),
        ("bool_val", 11, _BOOL, True),
    ),
}


@cache
def message_class(name: str) -> Any:
    """Return the class of a message, e.g. ``message_class("GraphDef")``; raises KeyError for an unknown name."""
    descriptor = _pool().FindMessageTypeByName(f"{_PACKAGE}.{name}")
    if hasattr(message_factory, "GetMessageClass"):
        return message_factory.GetMessageClass(descriptor)
    return message_factory.MessageFactory(_pool()).GetPrototype(descriptor)  # protobuf before 4.22


@cache
def _pool() -> Any:
    file = descriptor_pb2.FileDescriptorProto(name="tfperfkit/graph.proto", package=_PACKAGE, syntax="proto3")
    for message_name, fields in _MESSAGES.items():
        message = file.message_type.add(name=message_name)
        for name, number, kind, repeated in fields:
            field = message.field.add(
                name=name, number=number, label=_F.LABEL_REPEATED if repeated else _F.LABEL_OPTIONAL
            )
            if isinstance(kind, str):
                field.type, field.type_name = _F.TYPE_MESSAGE, f".{_PACKAGE}.{kind}"
            else:
                field.type = kind
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    return pool
