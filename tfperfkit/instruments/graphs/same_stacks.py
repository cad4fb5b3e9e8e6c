"""Operations that share a stack, so that it is looked at once."""

from __future__ import annotations

from typing import Any

from tfperfkit.instruments.graphs.building import Added


def same_stacks(names: list[str], kinds: list[str], scopes: dict[str, Any], added: list[Added]) -> list[int]:
    """For each operation the one whose stack it shares; -1 where none is needed.

    What a gradient function added goes to its forward operation. All that one call of a stock layer or of an
    optimizer builds has the same stack, as far as the user's own frames go.
    """
    same = list(range(len(names)))
    for item in added:
        for index in range(item.begin, min(item.end, len(same))):
            same[index] = -1
    single = {scope for scope, owner in scopes.items() if _is_stock(owner)}
    owners: dict[str, str] = {}  # name scope -> the stock layer's scope around it, "" for none
    first: dict[str, int] = {}
    for index, name in enumerate(names):
        if same[index] < 0:
            continue
        if kinds[index] in ("Const", "Placeholder"):
            same[index] = -1
            continue
        scope = name.rpartition("/")[0]
        owner = owners.get(scope)
        if owner is None:
            owner = scope
            while owner and owner not in single:
                owner = owner.rpartition("/")[0]
            owners[scope] = owner
        if owner:
            same[index] = first.setdefault(owner, index)
    return same


def _is_stock(owner: Any) -> bool:
    """Whether no code of the user's runs within: a layer of Keras' own without layers in it, an optimizer whose
    schedule and whose weights' constraints are Keras' own too."""
    constraints = (getattr(weight, "constraint", None) for weight in getattr(owner, "_trainable_variables", None) or ())
    inside = (getattr(owner, "activation", None), getattr(owner, "_learning_rate", None), *constraints)
    own = (owner, *(item for item in inside if item is not None))
    modules = [getattr(item, "__module__", None) or "" for item in own]
    return all(module.startswith(("keras.", "tensorflow.")) for module in modules) and not getattr(
        owner, "_layers", None
    )
