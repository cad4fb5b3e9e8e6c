"""A dataset of an HDF5 file that is read row by row, read into memory once. A candidate: the source does not show how
large it is."""

from __future__ import annotations

import libcst as cst

from tfperfkit.fixing.case import Case, Fixer
from tfperfkit.fixing.edit import Edit, NoFix
from tfperfkit.fixing.module import Module, dotted, walk


def read_whole(case: Case) -> list[Edit]:
    """At the first place that takes rows of a name or attribute which holds a dataset of an opened file."""
    for module, span in case.places():
        files = {
            dotted(target)
            for target, value in _list_bindings(module)
            if isinstance(value, cst.Call) and module.imported(value.func) == "h5py.File"
        }
        for statement in module.lines_at(span.line):
            read = {dotted(node.value) for node in walk(statement) if isinstance(node, cst.Subscript)}
            for target, value in _list_bindings(module):
                if (
                    isinstance(value, cst.Subscript)
                    and dotted(target) in read
                    and dotted(value.value) in files - {None}
                ):
                    case.assumed.append(f"{module.tree.code_for_node(value)} fits in memory, and nothing changes it")
                    return [Edit(module.file, value, _take_all)]
    raise NoFix("no rows of an HDF5 dataset with a name of its own are read at its places")


def _list_bindings(module: Module) -> list[tuple[cst.BaseExpression, cst.BaseExpression]]:
    """Return the names and attributes of a file with what they are set to."""
    found = [
        (item.target, node.value) for node in module.nodes if isinstance(node, cst.Assign) for item in node.targets
    ]
    opened = [(node.asname.name, node.item) for node in module.nodes if isinstance(node, cst.WithItem) and node.asname]
    return [*found, *opened]


def _take_all(node: cst.BaseExpression) -> cst.Subscript:
    return cst.Subscript(node, [cst.SubscriptElement(cst.Slice(lower=None, upper=None))])


FIXER = Fixer("reads the dataset into memory once", read_whole, "all of the dataset is in memory")
