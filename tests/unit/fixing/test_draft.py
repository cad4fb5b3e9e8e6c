"""Drafts: the user's own lines where no patch can be made, from recorded runs and made source."""

from __future__ import annotations

import io

from fixing_builder import FILE, at, finding_at
from recorded_runs import study_recorded

from tfperfkit.explain.pages import examples
from tfperfkit.fixing.draft import make_draft
from tfperfkit.fixing.files import Files
from tfperfkit.fixing.patches import Patches
from tfperfkit.fixing.render import show
from tfperfkit.report.agents import identified

SOURCE = """\
def load(paths):
    for path in paths:
        image = read(path)
        found.append(
            classify(image)  # here
        )
    return found
"""


def test_lines_are_those_of_the_whole_loop() -> None:
    finding = finding_at("EAG008", (at(SOURCE)[0], "load"))
    draft = make_draft(finding, lambda file: SOURCE.splitlines() if file == FILE else (), examples)
    assert draft is not None and draft.place == f"{FILE}:1"
    assert draft.before == tuple(SOURCE.splitlines())
    assert draft.example and not any(line.startswith("import ") for line in draft.example)


def test_a_long_function_is_left_out() -> None:
    long = "def f():\n" + "    a()\n" * 30 + SOURCE.replace("\n", "\n    ").replace("def load", "    def load")
    draft = make_draft(finding_at("EAG008", (at(long)[0], "")), lambda file: long.splitlines(), examples)
    assert draft is not None and draft.before == tuple(SOURCE.splitlines())


def test_without_source_there_is_none() -> None:
    assert make_draft(finding_at("EAG008", (3, "")), lambda file: (), examples) is None


def test_a_recorded_run_gets_drafts_instead_of_nothing() -> None:
    report, evidence = study_recorded("pydataset_noise")
    files = Files({file: evidence.source(file) for file in evidence.files()}, report.run.folder)
    patches = Patches(files, evidence)
    made = [patches.make_patch(identity, finding) for identity, finding in identified(report.findings)]
    without = [patch for patch in made if patch.fixer is None and patch.finding.where]
    assert without
    drafts = {patch.identity: make_draft(patch.finding, evidence.source, examples) for patch in without}
    out = io.StringIO()
    show(made, files, report, out, {name: draft for name, draft in drafts.items() if draft})
    text = out.getvalue()
    assert "no mechanical fix is known" not in text
    for draft in filter(None, drafts.values()):
        assert draft.before[0].strip() in text and draft.decide.split()[0] in text
    assert "draft: not a patch" in text
