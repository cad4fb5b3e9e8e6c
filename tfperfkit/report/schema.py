"""The JSON Schema of the JSON report, from the model: ``python -m tfperfkit.report.schema`` prints it."""

from __future__ import annotations

import inspect
import sys
from typing import Any

import msgspec

from tfperfkit.model import REPORT_SCHEMA, Finding, OnceFixed, Report
from tfperfkit.records.stated_gains import Stated, StatedOnce
from tfperfkit.report.json import FOR_PEOPLE

#: Fields of a finding that a rule may leave out; a report has them always.
_WRITTEN = ("severity", "where")
_DRAFT = "https://json-schema.org/draft/2020-12/schema"


def json_schema() -> dict[str, Any]:
    """Return the schema of every document of ``report.json.encode``.

    A number that is not finite is null in it; fields may be added without a new version.
    """
    types = [Report, Stated, StatedOnce]
    (reference, *_), definitions = msgspec.json.schema_components(types, ref_template="#/$defs/{name}")
    for record, stated in ((Finding, Stated), (OnceFixed, StatedOnce)):
        _state(definitions[record.__name__], definitions[stated.__name__])
    whole: dict[str, Any] = definitions["Report"]
    for name in FOR_PEOPLE:
        del whole["properties"][name]
    del definitions["Finding"]["properties"]["remedy"]
    definitions["Finding"]["properties"]["note"] = {"type": "boolean"}
    whole["properties"]["schema"] = {"const": REPORT_SCHEMA}
    used: dict[str, Any] = {}
    _reach(definitions, "Report", used)
    return {
        "$schema": _DRAFT,
        "title": f"tfperf report, version {REPORT_SCHEMA}",
        **reference,
        "$defs": {name: _published(used[name]) for name in sorted(used)},
    }


def _state(record: dict[str, Any], stated: dict[str, Any]) -> None:
    """Replaces the field ``gain`` of a record by the fields that state it in a report."""
    del record["properties"]["gain"]
    record["properties"] |= stated["properties"]
    always = {*record["required"], *stated["required"], *_WRITTEN}
    record["required"] = [name for name in record["properties"] if name in always]
    record["description"] = "\n\n".join(inspect.cleandoc(each["description"]) for each in (record, stated))


def _reach(definitions: dict[str, Any], name: str, used: dict[str, Any]) -> None:
    if name in used:
        return
    used[name] = definitions[name]
    for other in _references(definitions[name]):
        _reach(definitions, other, used)


def _references(value: Any) -> list[str]:
    if isinstance(value, dict):
        found = [str(value["$ref"]).rpartition("/")[2]] if "$ref" in value else []
        return found + [name for item in value.values() for name in _references(item)]
    return [name for item in value for name in _references(item)] if isinstance(value, list) else []


def _published(value: Any) -> Any:
    if isinstance(value, list):
        return [_published(item) for item in value]
    if not isinstance(value, dict):
        return value
    made = {key: _published(item) for key, item in value.items() if key != "default"}
    if isinstance(made.get("description"), str):
        made["description"] = inspect.cleandoc(made["description"])  # as Python 3.13 keeps docstrings
    if made.get("type") == "number":
        made["type"] = ["number", "null"]
    return made


def text() -> str:
    """As it is published."""
    return msgspec.json.format(msgspec.json.encode(json_schema()), indent=2).decode() + "\n"


if __name__ == "__main__":
    sys.stdout.write(text())
