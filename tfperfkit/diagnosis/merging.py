"""Reports lost time once, by the finding that explains it.

A finding names in ``absorbs`` the codes of findings that are only its symptoms: a file that is loaded again in each
step also shows as input. In ``absorbs_here`` it names those that are symptoms if they share one of its places: a hot
line of Python on the way to the file. Two findings of one code at one place are one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet

import msgspec

from tfperfkit import calibration
from tfperfkit.diagnosis.places import name_place
from tfperfkit.model import Basis, Finding

#: A finding is not folded into one that explains less than this part of what it costs.
EXPLAINS = calibration.EXPLAINS.value
#: A smaller share would be shown as 0 %.
_MIN_SHOWN = 0.005


def merge(
    findings: Iterable[Finding],
    shares: Mapping[tuple[str, Basis], float] | None = None,
    inside: AbstractSet[str] = frozenset(),
) -> tuple[Finding, ...]:
    """Return the findings without those that another one explains, which are named in its detail.

    ``shares`` of the run, by ``Finding.work`` and basis: if one cause at one place was found both in the training steps
    and in other work, it is reported where it costs more of the run. ``inside``: the works between training steps.
    Findings of iterations of the training loop at their line are about the same time.
    """
    left = _without_doubles(findings, shares or {})
    folded: dict[int, list[Finding]] = {}
    gone: set[int] = set()
    for index, minor in enumerate(left):
        for other, major in enumerate(left):
            if other == index or other in gone or not _explains(major, minor, inside):
                continue
            if _cost(major) >= EXPLAINS * _cost(minor):
                folded.setdefault(other, []).append(minor)
                gone.add(index)
                break
    return tuple(fold_in(finding, folded.get(i, [])) for i, finding in enumerate(left) if i not in gone)


def _explains(major: Finding, minor: Finding, inside: AbstractSet[str]) -> bool:
    places = {(place.file, place.line) for place in major.where}
    here = any((place.file, place.line) in places for place in minor.where)
    if major.work in inside and not minor.work and minor.basis == "turn" and major.severity != "info":
        return _first_place(minor) is not None and _first_place(minor) == _first_place(major)
    if minor.work != major.work:  # what is of the whole run concerns each work in it
        return here and major.basis == "run" and not major.work and minor.code in (*major.absorbs, *major.absorbs_here)
    # A place in common says less than that one is a symptom of the other wherever it stands.
    return minor.code in major.absorbs or (
        here and minor.code in major.absorbs_here and major.code not in minor.absorbs
    )


def _first_place(item: Finding) -> tuple[str, int] | None:
    """Return the file and line of the first place; None if there is none."""
    return (item.where[0].file, item.where[0].line) if item.where else None


def _without_doubles(findings: Iterable[Finding], shares: Mapping[tuple[str, Basis], float]) -> list[Finding]:
    def of_run(finding: Finding) -> float:
        return _cost(finding) * shares.get((finding.work, finding.basis), 1.0)

    known: dict[tuple[object, ...], Finding] = {}
    for finding in findings:
        place = (finding.where[0].file, finding.where[0].line) if finding.where else finding.title
        key = (finding.code, place)
        if key not in known or of_run(finding) > of_run(known[key]):
            known[key] = finding
    return list(known.values())


def _cost(finding: Finding) -> float:
    return max(finding.gain.saved, finding.share_of_step)


def fold_in(finding: Finding, minor: list[Finding]) -> Finding:
    """Return the finding with those that it explains named in its detail."""
    if not minor:
        return finding
    detail = f"Also explains: {'; '.join(dict.fromkeys(map(_name_briefly, minor)))}."
    return msgspec.structs.replace(finding, detail=f"{finding.detail}\n{detail}".strip())


def _name_briefly(item: Finding) -> str:
    """Return ``LIN001 (normalise, 59 % of the step)``: the code, the function or line, the cost."""
    parts = [place.function or name_place(place) for place in item.where[:1]]
    if item.share_of_step >= _MIN_SHOWN:
        parts.append(f"{100 * item.share_of_step:.0f} % of the {item.subject}")
    return f"{item.code} ({', '.join(parts)})" if parts else item.code
