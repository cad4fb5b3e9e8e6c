"""Rules speak of the training step; where they were asked about another work, its word stands in the step's place."""

from __future__ import annotations

import re

import msgspec

from tfperfkit.model import Finding
from tfperfkit.rule import Unit

#: With an article only: "the compiled step", ``step()`` and steps that are counted are what they say.
_PHRASE = re.compile(r"\b(?:(the|a|each|every|per) step|(share of) step|(the training loop))\b", re.IGNORECASE)


def in_words_of(finding: Finding, unit: Unit) -> Finding:
    """The finding with the words for what its account is of: an iteration of a loop, a call."""

    def said(text: str) -> str:
        return _PHRASE.sub(lambda match: _instead(match, unit), text)

    return msgspec.structs.replace(
        finding,
        title=said(finding.title),
        advice=said(finding.advice),
        detail=said(finding.detail),
        evidence=tuple(msgspec.structs.replace(item, name=said(item.name)) for item in finding.evidence),
    )


def _instead(match: re.Match[str], unit: Unit) -> str:
    article, share, loop = match[1], match[2], match[3]
    word = unit.the.removeprefix("the ")
    if loop:
        made = unit.loop
    elif share:
        made = f"{share} {unit.the}"
    elif article.lower() == "the":
        made = unit.the
    elif article.lower() == "a":
        made = unit.a
    elif unit.a.startswith("the "):  # a single call: there is no each
        made = f"in {unit.the}" if article.lower() == "per" else unit.the
    else:
        made = f"{article.lower()} {word}"
    return made[0].upper() + made[1:] if match[0][0].isupper() else made
