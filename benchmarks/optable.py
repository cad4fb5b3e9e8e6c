"""python -m benchmarks.optable: writes tfperfkit/graph/registry.tsv from the registries of all supported TensorFlows.

Each version is installed into a virtual environment of its own. ``--folder`` keeps the environments and reuses them.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

VERSIONS = ("2.16", "2.17", "2.18", "2.19", "2.20", "2.21")
TARGET = Path(__file__).parent.parent / "tfperfkit" / "graph" / "registry.tsv"
HEAD = """\
# What TensorFlow's registry says of its operations. python -m benchmarks.optable writes it; edit reviewed.tsv instead.
# Flags: s is_stateful, c is_commutative, a is_aggregate. Functions: the attributes that name functions.
operation\tsince\tuntil\tflags\tfunctions\tinputs\toutputs
"""
#: Runs under each version's Python, and prints [name, flags, functions, inputs, outputs] of each operation.
_LIST = """
import json
from tensorflow.core.framework import op_def_pb2, types_pb2
from tensorflow.python.client import pywrap_tf_session as session

def shown(arg):
    kind = arg.type_attr or (arg.type_list_attr and arg.type_list_attr + "[]")
    kind = kind or types_pb2.DataType.Name(arg.type)[3:].lower()
    return (arg.number_attr + "*" if arg.number_attr else "") + kind

ops = op_def_pb2.OpList.FromString(session.TF_GetBuffer(session.TF_GetAllOpList()))
print(json.dumps([[
    op.name,
    "s" * op.is_stateful + "c" * op.is_commutative + "a" * op.is_aggregate,
    [attr.name for attr in op.attr if attr.type in ("func", "list(func)")],
    [shown(arg) for arg in op.input_arg],
    [shown(arg) for arg in op.output_arg],
] for op in ops.op]))
"""

_Row = tuple[str, str, str, str]  # flags, functions, inputs, outputs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, help="keep the virtual environments here")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        write({version: registry(python_of(version, folder)) for version in VERSIONS})


def python_of(version: str, folder: Path) -> Path:
    """The Python of an environment with this version of TensorFlow; makes it if it isn't there."""
    python = folder / f"v{version}" / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", python.parent.parent], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", f"tensorflow-cpu=={version}.*"], check=True)
    return python


def registry(python: Path) -> dict[str, _Row]:
    """The operations that this Python's TensorFlow registers."""
    quiet = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run([python, "-c", _LIST], check=True, capture_output=True, text=True, env=quiet)
    return {name: (flags, *map(" ".join, lists)) for name, flags, *lists in json.loads(done.stdout.splitlines()[-1])}


def write(registries: dict[str, dict[str, _Row]], target: Path = TARGET) -> None:
    """Writes the table. The last version that has an operation describes it; it is stateful if it is in any version."""
    names = sorted({name for each in registries.values() for name in each})
    with target.open("w") as file:
        file.write(HEAD)
        for name in names:
            having = [version for version, each in registries.items() if name in each]
            flags, *rest = registries[having[-1]][name]
            if "s" not in flags and any("s" in registries[version][name][0] for version in having):
                flags = f"s{flags}"
            file.write("\t".join(cell or "-" for cell in (name, having[0], having[-1], flags, *rest)) + "\n")


if __name__ == "__main__":
    main()
