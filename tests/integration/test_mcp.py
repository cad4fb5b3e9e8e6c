"""A client of the Model Context Protocol, the SDK's own, talks to ``tfperf mcp`` about a stored run, over stdio."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from run_builder import AGENT
from tfperf_runner import Tfperf

from tfperfkit.agents.tools import PATCH_LIMIT
from tfperfkit.report.agents import LIMIT
from tfperfkit.storage.run_directory import Manifest, RunDirectory

TOOLS = ("run", "findings", "explain", "fix", "prove", "try", "compare", "check")
SOURCE = ["import numpy as np\n", "for i in range(9):\n", "    x = np.load('data.npy')\n"]
PROBE = '''
"""A probe that finds what the test says, and prints on the way."""
from contextlib import nullcontext
from tfperfkit.gain import Range
from tfperfkit.model import Finding, Measurement, ProbeResult, SourceSpan
from tfperfkit.probe import Cost

class Said:
    api, name, cost, claims = 1, "said", Cost.FREE, frozenset()
    def record(self, recording, /):
        return nullcontext()
    def analyze(self, capture, /):
        print("noise on standard output")
        return ProbeResult(findings=tuple(
            Finding(code=code, family="input", title="data.npy is loaded again\\n[FAKE]", severity="high",
                    share_of_step=0.5, gain=Range(1.5, 2.0, 2.5),
                    where=(SourceSpan("train.py", 3 + number, "main"),),
                    evidence=(Measurement("opens per step", 1.0, "count", "run"),), advice="Load it once. " * 20)
            for number, code in enumerate(["INP002"] * 12)))
'''


@pytest.fixture(autouse=True, scope="module")
def _sdk() -> None:
    """Imported as the tests run, not as they are collected: every worker collects them, one runs them."""
    pytest.importorskip("mcp.server.mcpserver")


@pytest.fixture
def stored(tmp_path: Path) -> Tfperf:
    """Two runs in a runs folder, whose only probe is somebody else's."""
    tfperf = Tfperf(tmp_path)
    site = tmp_path / "site"
    (site / "said-1.dist-info").mkdir(parents=True)
    (site / "said.py").write_text(PROBE)
    (site / "said-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: said\nVersion: 1\n")
    (site / "said-1.dist-info" / "entry_points.txt").write_text("[tfperfkit.probes]\nsaid = said:Said\n")
    tfperf.environment |= {"PYTHONPATH": str(site)}
    for name in ("train-1", "train-2"):
        manifest = Manifest(
            tfperfkit_run=1, argv=["train.py"], cwd=str(tmp_path), python=sys.executable, probes=["said"], started_ns=1
        )
        run = RunDirectory.create(tfperf.runs / name, manifest)
        run.write_json("agent.json", AGENT)
        (run.path / "sources.jsonl").write_bytes(msgspec.json.encode(["train.py", SOURCE]) + b"\n")
    return tfperf


def ask(tfperf: Tfperf, *calls: tuple[str, dict[str, Any]]) -> list[tuple[bool, str]]:
    """One session: of each call, whether it is an error, and its text."""
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters

    server = StdioServerParameters(
        command=tfperf.python, args=["-m", "tfperfkit", "mcp"], cwd=tfperf.folder, env=tfperf.environment
    )

    async def session() -> list[tuple[bool, str]]:
        async with Client(server) as client:
            listed = (await client.list_tools()).tools
            assert tuple(tool.name for tool in listed) == TOOLS
            assert all(tool.description for tool in listed)
            results = [await client.call_tool(name, arguments) for name, arguments in calls]
        return [(bool(result.is_error), _text(result.content)) for result in results]

    return asyncio.run(asyncio.wait_for(session(), 120))


def _text(content: Sequence[Any]) -> str:
    (block,) = content
    return str(block.text)


def test_a_session_about_a_stored_run(stored: Tfperf) -> None:
    found, one, second, page, compared, again = ask(
        stored,
        ("findings", {"run": "train-1"}),
        ("explain", {"id": "INP002", "run": "train-1"}),
        ("explain", {"id": "inp002-2", "run": "train-1"}),
        ("explain", {"id": "RET001", "run": "train-1"}),
        ("compare", {"run_a": "train-1", "run_b": "train-2"}),
        ("findings", {"run": "train-1"}),
    )
    assert not any(error for error, _ in (found, one, second, page, compared, again))
    assert len(found[1].encode()) < LIMIT
    assert "[INP002] high" in found[1] and "more findings are left out" in found[1]
    assert re.search(r"predicted 2\.00x \(1\.\d\dx to \d\.\d\dx\)", found[1]) and "opens per step 1 (run)" in found[1]
    assert "\n[FAKE]" not in found[1] and "noise on standard output" not in found[1]
    assert "  >     3     x = np.load('data.npy')" in one[1]
    assert "# INP002 · A file is reloaded on every step" in one[1] and "do: Load it once." in one[1]
    assert second[1].startswith("[INP002-2] high")
    assert page[1].startswith("This run has no finding RET001; it has INP002, ") and "# RET001 ·" in page[1]
    assert "as JSON: " in compared[1]
    assert again[1].splitlines()[:5] == found[1].splitlines()[:5]


def test_a_draft_and_a_skill_that_names_the_tools(stored: Tfperf) -> None:
    ((failed, text),) = ask(stored, ("fix", {"id": "INP002", "run": "train-1"}))
    assert not failed and len(text.encode()) < PATCH_LIMIT
    assert "draft: not a patch" in text and "x = np.load('data.npy')" in text
    skill = (Path(__file__).parents[2] / "skills" / "tfperf" / "SKILL.md").read_text()
    assert set(re.findall(r"`(\w+)\(", skill)) <= set(TOOLS)
    assert {"run", "findings", "fix", "prove", "explain"} <= set(re.findall(r"`(\w+)\(", skill))


def test_mistakes_are_errors_of_the_tool_and_the_server_lives_on(stored: Tfperf) -> None:
    answers = ask(
        stored,
        ("findings", {"run": "nothing"}),
        ("findings", {"run": "--help"}),
        ("findings", {"folder": "no/such/folder"}),
        ("explain", {"id": "NOTHING", "run": "train-1"}),
        ("run", {"script": "nothing.py"}),
        ("fix", {"id": "NOTHING", "run": "train-1"}),
        ("prove", {"id": "--apply", "run": "train-1"}),
        ("run", {"script": ""}),
        ("run", {"script": "train.py", "arguments": ["a\0b"]}),
        ("try", {"what": "RET001", "run": "train-1"}),
        ("try", {"what": "no-experiment", "run": "train-1"}),
        ("check", {"script": "nothing.py"}),
        ("compare", {"run_a": "train-1", "run_b": "nothing"}),
    )
    for error, text in answers:
        assert error and len(text) < 500 and "Traceback" not in text, text
    assert "no such run: nothing" in answers[0][1]
    assert "INP002" in answers[3][1]
    assert "this run has no finding NOTHING" in answers[5][1] and "'--apply' is no name" in answers[6][1]
    assert "that run has no finding 'RET001'" in answers[9][1]


def test_a_script_is_run_and_its_output_is_kept_out(stored: Tfperf) -> None:
    """The script imports no TensorFlow, so nothing is measured; what it prints and how it ends is what counts here."""
    stored.script("import sys\nprint('{\"jsonrpc\": 1}', flush=True)\nsys.exit(int(sys.argv[1]))\n")
    stored.script("import time\nprint('begun', flush=True)\ntime.sleep(100)\n", "slow.py")
    failed, slow = ask(
        stored,
        ("run", {"script": "train.py", "arguments": ["3"]}),
        ("run", {"script": "slow.py", "max_seconds": 3}),
    )
    assert not failed[0] and "exit status 3" in failed[1] and '{"jsonrpc": 1}' in failed[1]
    folder = Path(next(line for line in failed[1].splitlines() if line.startswith("run: ")).removeprefix("run: "))
    assert folder.parent == stored.runs and (folder / "run.json").is_file()
    assert not slow[0] and "interrupted after 3 s as asked" in slow[1]


def test_it_ends_with_its_input(stored: Tfperf) -> None:
    for text in ("", "this is no message\n"):
        done = stored("mcp", stdin=subprocess.DEVNULL) if not text else _fed(stored, text)
        assert done.returncode == 0 and "Traceback" not in done.stderr


def test_it_ends_in_silence_with_a_client_that_was_killed(stored: Tfperf) -> None:
    """Nobody reads the answer."""
    process = stored.start("mcp", stdin=subprocess.PIPE)
    assert process.stdin and process.stdout and process.stderr
    process.stdout.close()
    told = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a client", "version": "1"}}
    asked = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": told}
    process.stdin.write(msgspec.json.encode(asked).decode() + "\n")
    process.stdin.close()
    said = process.stderr.read()
    assert process.wait(100) == 0 and said == ""


def _fed(tfperf: Tfperf, text: str) -> subprocess.CompletedProcess[str]:
    process = tfperf.start("mcp", stdin=subprocess.PIPE)
    out, err = process.communicate(text, timeout=200)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def test_without_the_sdk_it_says_what_to_install(stored: Tfperf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "cold", True)  # a fork may have imported the real one
    (stored.folder / "site" / "mcp").mkdir()
    (stored.folder / "site" / "mcp" / "__init__.py").write_text("")  # an older one: it has no such server
    assert "pip install 'tfperfkit[agents]'" in stored.refuses("mcp")
    (stored.folder / "site" / "mcp" / "__init__.py").write_text("raise ModuleNotFoundError('x', name='mcp')")
    assert "pip install 'tfperfkit[agents]'" in stored.refuses("mcp")
