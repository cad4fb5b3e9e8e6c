"""The types of the numbers in tensors: their names, their sizes in bytes, and how they are printed."""

from __future__ import annotations

#: DataType of types.proto.
DTYPES = {
    1: "float32",
    2: "float64",
    3: "int32",
    4: "uint8",
    5: "int16",
    6: "int8",
    7: "string",
    8: "complex64",
    9: "int64",
    10: "bool",
    11: "qint8",
    12: "quint8",
    13: "qint32",
    14: "bfloat16",
    17: "uint16",
    18: "complex128",
    19: "float16",
    20: "resource",
    21: "variant",
    22: "uint32",
    23: "uint64",
    24: "float8_e5m2",
    25: "float8_e4m3fn",
    29: "int4",
    30: "uint4",
}
#: Bytes of a number.
SIZES = {
    "float32": 4,
    "float64": 8,
    "int32": 4,
    "uint8": 1,
    "int16": 2,
    "int8": 1,
    "complex64": 8,
    "int64": 8,
    "bool": 1,
    "bfloat16": 2,
    "uint16": 2,
    "complex128": 16,
    "float16": 2,
    "uint32": 4,
    "uint64": 8,
}
#: How a dtype is printed.
SHORT = {
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
