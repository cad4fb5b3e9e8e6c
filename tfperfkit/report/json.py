"""The report as one JSON document, which other tools read: its names are a promise (``model.REPORT_SCHEMA``)."""

from __future__ import annotations

import math
import re
from typing import Any

import msgspec

from tfperfkit.errors import TfperfError
from tfperfkit.model import REPORT_SCHEMA, ProbeOutcome, Report
from tfperfkit.records import stated_gains

#: Fields of the report that only what people look at needs.
FOR_PEOPLE = ("shown", "words", "album")
#: Its fields that hold findings.
_OF_FINDINGS = ("findings", "headroom")
#: Deeper than this a probe's data is refused: readers in other languages stop at a hundred or so.
_DEPTH = 60
#: Delete, C1 controls, line separators, direction marks, tags and other characters without a shape are legal in JSON
#: but not harmless on a terminal. In UTF-8, these bytes are nothing else; JSON's grammar itself is ASCII, so they stand
#: inside strings.
_UNSAFE = re.compile(
    rb"\x7f|\xc2[\x80-\x9f\xad]|\xd8\x9c|\xe1\xa0\x8e|\xe2\x80[\x8b-\x8f\xa8-\xae]|\xe2\x81[\xa0-\xaf]"
    rb"|\xef\xbb\xbf|\xef\xbf[\xb9-\xbb]|\xf3\xa0[\x80\x81][\x80-\xbf]"
)


def encode(report: Report) -> bytes:
    """Return the report as indented UTF-8 JSON, keys in the order of the records, with a newline at the end.

    Always valid JSON that any reader takes: NaN and infinities become null, control and direction characters are
    escaped, a lone surrogate becomes the text ``\\udc80``. A probe whose data cannot be written loses its data,
    not the report: its outcome becomes ``cut`` with the reason.
    """
    probes = tuple(map(_writable, report.probes))
    document = msgspec.to_builtins(msgspec.structs.replace(report, probes=probes, album=None), enc_hook=_foreign)
    for name in FOR_PEOPLE:
        document.pop(name, None)
    for section in _OF_FINDINGS:
        stated_gains.state(document[section])
    for written, finding in zip(document["findings"], report.findings, strict=True):
        written["note"] = finding.is_note
    return _document(_clean(document))


def encode_any(value: Any) -> bytes:
    """Records of ours as a document of the same kind: valid for any reader, harmless on a terminal."""
    return _document(_clean(stated_gains.state(msgspec.to_builtins(value, enc_hook=_foreign))))


def _document(value: Any) -> bytes:
    text = msgspec.json.format(msgspec.json.encode(value), indent=2)
    return _UNSAFE.sub(_escaped, text) + b"\n"


def decode(document: bytes) -> Report:
    """Return the report in a document of ``encode``. Numbers that were NaN or infinite are NaN.

    Raises ``TfperfError`` if it is no such document or has another schema.
    """
    try:
        raw = msgspec.json.decode(document)
        schema = raw.get("schema") if isinstance(raw, dict) else None
        if schema != REPORT_SCHEMA:
            raise TfperfError(f"this is no report of schema {REPORT_SCHEMA} (its schema is {schema!r:.40})")
        return msgspec.convert(_with_nan(raw), Report, strict=False)
    except (msgspec.MsgspecError, UnicodeDecodeError, AttributeError, TypeError, RecursionError) as error:
        raise TfperfError(f"this is no tfperf report: {error}") from error


def _writable(probe: ProbeOutcome) -> ProbeOutcome:
    try:
        # str_keys: a probe may count by number; JSON knows only names.
        data = _clean(msgspec.to_builtins(probe.data, enc_hook=_foreign, str_keys=True))
    except Exception as error:  # foreign data: whatever goes wrong in it is a row of the report
        problem = f"its data cannot be written as JSON: {error}"
        return msgspec.structs.replace(
            probe,
            data={},
            status="cut" if probe.status == "ok" else probe.status,
            reason="; ".join(filter(None, [probe.reason, problem])),
        )
    return msgspec.structs.replace(probe, data=data if isinstance(data, dict) else {"value": data})


def _foreign(value: Any) -> Any:
    """Arrays and scalars of NumPy, without importing it; the words of anything else."""
    for method in ("tolist", "item"):
        if callable(getattr(value, method, None)):
            return getattr(value, method)()
    return str(value)


def _clean(value: Any, depth: int = 0) -> Any:
    """Builtins that any JSON reader takes. Raises ``ValueError`` if they are nested too deep."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        # Beyond 64 bits msgspec and most readers give up; a float keeps the size.
        return value if -(2**63) <= value < 2**64 else _clean(_as_float(value))
    if depth > _DEPTH:
        raise ValueError(f"nested deeper than {_DEPTH} levels")
    if isinstance(value, dict):
        return {_clean(str(key)): _clean(item, depth + 1) for key, item in value.items()}
    return [_clean(item, depth + 1) for item in value]


def _as_float(value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _escaped(match: re.Match[bytes]) -> bytes:
    units = match.group().decode("utf-8").encode("utf-16-be")
    return b"".join(b"\\u%02x%02x" % (units[i], units[i + 1]) for i in range(0, len(units), 2))


#: Places of numbers that may have become null.
_NUMBERS = (("steps", "breakdown_ms"), ("overhead", "per_probe"))


def _with_nan(raw: dict[str, Any]) -> dict[str, Any]:
    for section, key in _NUMBERS:
        values = raw.get(section, {}).get(key)
        if isinstance(values, dict):
            raw[section][key] = {name: math.nan if value is None else value for name, value in values.items()}
    if raw.get("run", {}).get("wall_s", 0.0) is None:
        raw["run"]["wall_s"] = math.nan
    for finding in raw.get("findings", ()):
        if finding.get("share_of_step", 0.0) is None:
            finding["share_of_step"] = math.nan
        for item in finding.get("evidence", ()):
            if item.get("value", 0.0) is None:
                item["value"] = math.nan
        if None in (finding.get("saves_s") or ()):
            finding["saves_s"] = None
    for section in _OF_FINDINGS:
        stated_gains.read(raw.get(section))
    return raw
