"""The messages of a profiler trace (``.xplane.pb``), declared at run time: reading one needs no TensorFlow.

Names and field numbers are those of ``tsl/profiler/protobuf/xplane.proto`` (github.com/openxla/xla). The messages
live in a descriptor pool of their own, so they can't clash with TensorFlow's registration of the same messages in
the same process. Text fields are declared ``bytes``, which is the same on the wire: a name that is not UTF-8 then
does not cost the whole trace.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_PACKAGE = "tfperfkit.xplane"
_FieldType = descriptor_pb2.FieldDescriptorProto
_INT64, _UINT64 = _FieldType.TYPE_INT64, _FieldType.TYPE_UINT64
_DOUBLE, _BYTES, _MESSAGE = _FieldType.TYPE_DOUBLE, _FieldType.TYPE_BYTES, _FieldType.TYPE_MESSAGE


class _Field(NamedTuple):
    name: str
    number: int
    kind: Any = _INT64
    repeated: bool = False
    message: str = ""
    oneof: bool = False


#: Each map is declared as what it is on the wire: repeated entries of key and value.
_MESSAGES: dict[str, tuple[_Field, ...]] = {
    "XSpace": (
        _Field("planes", 1, _MESSAGE, True, "XPlane"),
        _Field("errors", 2, _BYTES, True),
        _Field("warnings", 3, _BYTES, True),
        _Field("hostnames", 4, _BYTES, True),
    ),
    "XPlane": (
        _Field("id", 1),
        _Field("name", 2, _BYTES),
        _Field("lines", 3, _MESSAGE, True, "XLine"),
        _Field("event_metadata", 4, _MESSAGE, True, "EventEntry"),
        _Field("stat_metadata", 5, _MESSAGE, True, "StatEntry"),
        _Field("stats", 6, _MESSAGE, True, "XStat"),
    ),
    "EventEntry": (_Field("key", 1), _Field("value", 2, _MESSAGE, False, "XEventMetadata")),
    "StatEntry": (_Field("key", 1), _Field("value", 2, _MESSAGE, False, "XStatMetadata")),
    "XLine": (
        _Field("id", 1),
        _Field("display_id", 10),
        _Field("name", 2, _BYTES),
        _Field("display_name", 11, _BYTES),
        _Field("timestamp_ns", 3),
        _Field("duration_ps", 9),
        _Field("events", 4, _MESSAGE, True, "XEvent"),
    ),
    "XEvent": (
        _Field("metadata_id", 1),
        _Field("offset_ps", 2),
        _Field("num_occurrences", 5),
        _Field("duration_ps", 3),
        _Field("stats", 4, _MESSAGE, True, "XStat"),
    ),
    "XStat": (
        _Field("metadata_id", 1),
        _Field("double_value", 2, _DOUBLE, oneof=True),
        _Field("uint64_value", 3, _UINT64, oneof=True),
        _Field("int64_value", 4, oneof=True),
        _Field("str_value", 5, _BYTES, oneof=True),
        _Field("bytes_value", 6, _BYTES, oneof=True),
        _Field("ref_value", 7, _UINT64, oneof=True),
    ),
    "XEventMetadata": (
        _Field("id", 1),
        _Field("name", 2, _BYTES),
        _Field("metadata", 3, _BYTES),
        _Field("display_name", 4, _BYTES),
        _Field("stats", 5, _MESSAGE, True, "XStat"),
        _Field("child_id", 6, _INT64, True),
    ),
    "XStatMetadata": (_Field("id", 1), _Field("name", 2, _BYTES), _Field("description", 3, _BYTES)),
    # xla/service/hlo.proto and xla/xla_data.proto, as kept in the plane "/host:metadata": what tells an instruction's
    # source and its cost
    "HloProto": (_Field("hlo_module", 1, _MESSAGE, False, "HloModule"),),
    "HloModule": (
        _Field("name", 1, _BYTES),
        _Field("computations", 3, _MESSAGE, True, "HloComputation"),
        _Field("id", 5),
        _Field("entry_computation_id", 6),
    ),
    "HloComputation": (
        _Field("name", 1, _BYTES),
        _Field("instructions", 2, _MESSAGE, True, "HloInstruction"),
        _Field("id", 5),
        _Field("root_id", 6),
    ),
    "HloInstruction": (
        _Field("name", 1, _BYTES),
        _Field("opcode", 2, _BYTES),
        _Field("shape", 3, _MESSAGE, False, "HloShape"),
        _Field("metadata", 7, _MESSAGE, False, "HloOpMetadata"),
        _Field("parameter_number", 9),
        _Field("dot_dimension_numbers", 30, _MESSAGE, False, "HloDotDimensions"),
        _Field("convolution_dimension_numbers", 16, _MESSAGE, False, "HloConvolutionDimensions"),
        _Field("id", 35),
        _Field("operand_ids", 36, _INT64, True),
        _Field("called_computation_ids", 38, _INT64, True),
    ),
    "HloOpMetadata": (
        _Field("op_type", 1, _BYTES),
        _Field("op_name", 2, _BYTES),
        _Field("source_file", 3, _BYTES),
        _Field("source_line", 4),
    ),
    "HloShape": (
        _Field("element_type", 2),
        _Field("dimensions", 3, _INT64, True),
        _Field("tuple_shapes", 4, _MESSAGE, True, "HloShape"),
    ),
    "HloDotDimensions": (_Field("lhs_contracting_dimensions", 1, _INT64, True),),
    "HloConvolutionDimensions": (_Field("kernel_output_feature_dimension", 4),),
    # tsl/profiler/protobuf/profiler_options.proto, as kept in the plane "Task Environment"
    "ProfileOptions": (
        _Field("host_tracer_level", 2),
        _Field("device_tracer_level", 3),
        _Field("python_tracer_level", 4),
    ),
}


@cache
def message_class(name: str) -> Any:
    """Return the class of a message, e.g. ``message_class("XPlane")``; raises KeyError for an unknown name."""
    if name not in _MESSAGES:
        raise KeyError(name)
    descriptor = _pool().FindMessageTypeByName(f"{_PACKAGE}.{name}")
    if hasattr(message_factory, "GetMessageClass"):
        return message_factory.GetMessageClass(descriptor)
    return message_factory.MessageFactory(_pool()).GetPrototype(descriptor)  # protobuf before 4.22


@cache
def _pool() -> Any:
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(_file().SerializeToString())
    return pool


def _file() -> Any:
    file = descriptor_pb2.FileDescriptorProto(name="tfperfkit/xplane.proto", package=_PACKAGE, syntax="proto3")
    for message_name, fields in _MESSAGES.items():
        message = file.message_type.add(name=message_name)
        if any(field.oneof for field in fields):
            message.oneof_decl.add(name="value")
        for field in fields:
            declared = message.field.add(
                name=field.name,
                number=field.number,
                type=field.kind,
                label=_FieldType.LABEL_REPEATED if field.repeated else _FieldType.LABEL_OPTIONAL,
            )
            if field.message:
                declared.type_name = f".{_PACKAGE}.{field.message}"
            if field.oneof:
                declared.oneof_index = 0
    return file
