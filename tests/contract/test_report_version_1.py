"""The JSON report's version 1 stays what it was: fields may come, none goes, none becomes another thing.

``version_1/report_fields.json`` was written once, by ``python tests/contract/test_report_version_1.py``. A field that
has to go or to change asks for a new version of the schema, see ``docs/api.md``. Fields that came since are added by
the same command, which takes nothing away.
"""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from tfperfkit.model import REPORT_SCHEMA
from tfperfkit.report.schema import json_schema

KEPT = Path(__file__).with_name("version_1") / "report_fields.json"


def shape(value: dict[str, Any]) -> str:
    """Return the parts of a value that a reader may rely on; the words of an enumeration are left open."""
    if "$ref" in value:
        return str(value["$ref"]).rpartition("/")[2]
    if "anyOf" in value:
        return " | ".join(sorted(map(shape, value["anyOf"])))
    if "const" in value or "enum" in value:
        return "word"
    kind = value.get("type", "anything")
    if "prefixItems" in value:
        return f"[{', '.join(map(shape, value['prefixItems']))}]"
    if isinstance(value.get("items"), dict):
        return f"[{shape(value['items'])}, ...]"
    if isinstance(value.get("additionalProperties"), dict):
        return f"{{{shape(value['additionalProperties'])}}}"
    return " | ".join(sorted(kind)) if isinstance(kind, list) else str(kind)


def fields(schema: dict[str, Any]) -> dict[str, str]:
    """``{"Finding.code": "string, always"}``"""
    found = {}
    for name, record in schema["$defs"].items():
        for field, value in record.get("properties", {}).items():
            found[f"{name}.{field}"] = shape(value) + (", always" if field in record.get("required", ()) else "")
    return found


def broken(schema: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """Find changes on which a program for version 1 would fail: (before, now)."""
    now = fields(schema)
    kept: dict[str, str] = json.loads(KEPT.read_text(encoding="utf-8"))
    return {
        name: (was, now.get(name, "gone"))
        for name, was in kept.items()
        if now.get(name, "gone") not in (was, f"{was}, always")
    }


@pytest.mark.skipif(REPORT_SCHEMA != 1, reason="another version has fields of its own")
def test_no_field_of_version_1_goes_or_changes() -> None:
    assert broken(json_schema()) == {}


def test_a_field_that_goes_or_changes_is_seen() -> None:
    schema = json_schema()
    del schema["$defs"]["Finding"]["properties"]["advice"]
    other = copy.deepcopy(json_schema())
    other["$defs"]["Finding"]["properties"]["title"] = {"type": "integer"}
    other["$defs"]["Finding"]["required"].remove("code")
    assert set(broken(schema)) == {"Finding.advice"} and set(broken(other)) == {"Finding.title", "Finding.code"}


if __name__ == "__main__":
    known = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    KEPT.write_text(json.dumps({**fields(json_schema()), **known}, indent=1, sort_keys=True) + "\n", encoding="utf-8")
