"""The rules of family step on made-up evidence: each fires on a planted fault, silent on its healthy twin."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from eager_builder import leaf, op, seen, site, sites, traced
from evidence_builder import FILE, make_evidence, make_samples, make_steps, one
from tfperfkit_rules.measures.kinds import kind_of
from tfperfkit_rules.step import fit_calls, python_time, side_work

from tfperfkit.model import Finding, SourceSpan, Work
from tfperfkit.records.samples import Frame
from tfperfkit.records.steps import StepTable

SOURCE = """\
def encode(text):
    cleaned = ""
    for ch in text:
        if ch in KEEP:
            cleaned += ch
    return cleaned

for start in range(100):
    ids = encode(texts[start])
    loss = train_step(ids)
    print(float(loss))
    writer.flush()
"""


def below(line: int) -> tuple[Frame, ...]:
    """The frames of a sample in ``encode``, called at line 9."""
    return (Frame(FILE, 1, "<module>", 9), Frame(FILE, 1, "encode", line))


def python(*stacks: tuple[int, tuple[Frame, ...]], graph: int = 50, **fields: Any) -> Any:
    samples = make_samples([*((n, "python", frames) for n, frames in stacks), (graph, "graph", leaf(10))])
    share = sum(n for n, _ in stacks) / samples.count
    return make_evidence(
        parts_ms={"python": 10 * share, "graph": 10 * (1 - share)},
        source=SOURCE,
        samples=samples,
        records=sites(site(1, "call", 10, loops=(8,))),
        **fields,
    )


@pytest.mark.parametrize(("of_run", "said"), [(0.39, "info"), (0.41, "low")])
def test_of_a_work_outside_of_the_steps_what_takes_little_of_the_run_is_a_remark(of_run: float, said: str) -> None:
    given = python((50, below(5)))
    given.work = Work(kind="loop", where=SourceSpan(FILE, 8), seconds=4.0, share_of_run=of_run, iterations=40)
    found = one(python_time.hot_python(given))
    assert (found.code, found.share_of_step, found.severity) == ("LIN001", 0.5, said)


def test_work_spread_over_the_lines_of_a_loop_is_reported_by_the_loop() -> None:
    finding = one(python_time.hot_python(python((18, below(4)), (17, below(5)), (15, below(3)))))
    assert finding.where[0] == SourceSpan(FILE, 3, "encode")
    assert SourceSpan(FILE, 9) in finding.where
    assert finding.share_of_step == 0.5
    assert finding.gain.bounds and 1.2 < finding.gain.bounds[0] < 2 < finding.gain.bounds[1] < 2.5


@pytest.mark.parametrize(("method", "told"), [("Stats.on_train_batch_end", True), ("on_epoch_end", False)])
def test_what_a_callback_does_for_every_batch_may_be_done_more_seldom(method: str, told: bool) -> None:
    frames = (*below(5)[:1], Frame(FILE, 1, method, 9), below(5)[1])
    assert ("on_epoch_end" in one(python_time.hot_python(python((50, frames)))).advice) == told


def test_a_single_line_is_reported_by_itself() -> None:
    finding = one(python_time.hot_python(python((48, below(5)), (2, below(3)))))
    assert finding.where[0] == SourceSpan(FILE, 5, "encode")
    assert "on one line of encode" in finding.title


def test_a_helper_that_the_hot_loop_calls_is_reported_with_the_loop() -> None:
    source = (
        "def overlap(a, b):\n    return np.minimum(a, b).sum()\n\ndef label(boxes):\n    for anchor in anchors:\n"
        "        area = np.prod(anchor)\n        best = overlap(anchor, boxes)\n        if np.any(best):\n"
        "            pass\n\nfor batch in data:\n    step(label(batch))\n"
    )
    outer, inside = Frame(FILE, 1, "<module>", 12), (Frame(FILE, 4, "label", 7), Frame(FILE, 1, "overlap", 2))
    stacks = [(16, Frame(FILE, 4, "label", 6)), (14, Frame(FILE, 4, "label", 8))]
    samples = make_samples(
        [
            *((count, "python", (outer, frame)) for count, frame in stacks),
            (12, "python", (outer, *inside)),
            (58, "graph", (outer,)),
        ]
    )
    given = make_evidence(parts_ms={"python": 4.2, "graph": 5.8}, samples=samples, source=source)
    finding = one(python_time.hot_python(given))
    assert finding.where[0] == SourceSpan(FILE, 5, "label") and round(finding.share_of_step, 2) == 0.42
    assert "whole arrays" in finding.advice


def test_what_little_python_there_is_is_left_in_peace() -> None:
    assert not list(python_time.hot_python(python((5, below(5)), graph=95)))
    assert not list(python_time.hot_python(python((3, below(5)), graph=20)))  # too few samples


def test_letting_go_of_tensors_at_the_call_of_the_step_is_no_work() -> None:
    assert not list(python_time.hot_python(python((50, leaf(10)))))


def hot_line(line: str, *called: str) -> Finding:
    """The finding for a line of the step, with the functions of libraries that ran below it."""
    samples = make_samples([(60, "python", (Frame(FILE, 1, "<module>", 2, None, called),)), (40, "graph", leaf(3))])
    source = f"for i in r:\n    {line}\n    step(x)\n"
    parts = {"python": 6.0, "graph": 4.0}
    (finding,) = python_time.hot_python(make_evidence(parts_ms=parts, samples=samples, source=source))
    return finding


@pytest.mark.parametrize(
    ("line", "called", "word"),
    [
        ("net = copy.deepcopy(net)", (), "Copy only what changes"),
        ("x = json.loads(row)", (), "parse it once"),
        ("x = re.sub(a, b, c)", ("re:sub",), "TextVectorization"),
        ("x = text.lower()", (), "into numbers once"),
        ("x = random.gauss(0, 1)", (), "many at a time"),
        ("x = hashlib.sha1(y).hexdigest()", (), "Hash once"),
        ("x = keras.utils.load_img(p)", ("keras.src.utils.image_utils:load_img",), "tf.image.resize"),
        ("x = np.load(p)", ("numpy.lib.npyio:load",), "Read the file once"),
        ("x = tf.train.Example(features=f).SerializeToString()", (), "as bytes"),
        ("data = requests.get(url).json()", ("requests.api:get", "requests.api:request"), "etch ahead"),
        ("row = table.iloc[i]", ("pandas.core.indexing:__getitem__",), "to_numpy"),
        ("row = rows.apply(normalise)", ("pandas.core.frame:apply", "pandas.core.apply:apply"), "to_numpy"),
        ("row = df.apply(normalise)", (), "whole arrays"),  # not pandas', whatever it is called
        ("df = env.step(pandas)", (), "whole arrays"),
        ("cart = game.step(1)", ("gymnasium.wrappers.common:step",), "environments"),
        ("im = Image.open(path).resize((64, 64))", ("PIL.Image:resize",), "tf.image.resize"),
        ("np.random.choice(n, 32, p=p)", (), "sum tree"),
        ("x = np.exp(x)", (), "prefetch"),
        ("total += a", (), "whole arrays"),
        ("total += np", ("numpy._core.fromnumeric:sum",), "prefetch"),
        ("json_of(copy)", (), "whole arrays"),
    ],
)
def test_the_remedy_follows_what_ran(line: str, called: tuple[str, ...], word: str) -> None:
    assert word in hot_line(line, *called).advice


def test_validation_within_fit_is_no_evaluation_of_the_loops() -> None:
    """The line called ``fit``; that Keras evaluates in it is Keras' doing, as often as the user asked."""
    for first, told in (("fit", []), ("evaluate", ["STP001"])):
        names = tuple(f"keras.src.backend.tensorflow.trainer:{name}" for name in (first, "evaluate"))
        table = make_steps(60)
        frame = (Frame(FILE, 1, "<module>", 2, None, names),)
        spied = seen(table, [(30, "dispatch", frame), (70, "graph", frame)], "evaluate")
        source = f"for i in r:\n    net.{first}(x)\n"
        given = make_evidence(parts_ms={"dispatch": 3.0, "graph": 7.0}, steps=table, source=source, **spied._asdict())
        assert [finding.code for finding in side_work.hot_path(given)] == told


@pytest.mark.parametrize(
    ("source", "told"), [("for i in r:\n    net.evaluate(x)\n", True), ("\nnet.evaluate(x)\n", False)]
)
def test_what_a_script_does_once_between_two_trainings_is_no_work_of_the_loop(source: str, told: bool) -> None:
    names = ("keras.src.backend.tensorflow.trainer:evaluate",)
    table = make_steps(60)
    spied = seen(table, [(30, "dispatch", (Frame(FILE, 1, "<module>", 2, None, names),))], "evaluate")
    given = make_evidence(parts_ms={"dispatch": 3.0, "graph": 7.0}, steps=table, source=source, **spied._asdict())
    assert bool(list(side_work.hot_path(given))) == told


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("open(p, 'w')", "writing"),
        ("open(p, mode='ab')", "writing"),
        ("open(p).read()", "reading"),
        ("open(p, 'rb')", "reading"),
    ],
)
def test_a_file_that_is_opened_to_be_written_is_not_read(line: str, word: str) -> None:
    evidence = make_evidence(source=f"for p in paths:\n    {line}\n")
    assert word in kind_of(evidence, Frame(FILE, 1, "<module>", 2, None, ())).words


@pytest.mark.parametrize(
    ("line", "called", "joins"),
    [
        ("x = np.stack([np.pad(row, (0, n - len(row))) for row in rows])", (), True),
        ("x = np.vstack(rows)", ("numpy._core.shape_base:vstack",), True),
        ("x = fill(rows)", ("numpy.lib._arraypad_impl:pad",), True),
        ("x = np.append(x, row)", (), True),
        ("x = np.linalg.norm(row)", ("numpy.linalg._linalg:norm",), False),
        ("rows.append(np.sin(row))", (), False),
        ("x = np.unpackbits(row)", (), False),
    ],
)
def test_padding_and_joining_arrays_has_a_remedy_of_its_own(line: str, called: tuple[str, ...], joins: bool) -> None:
    evidence = make_evidence(source=f"for rows in data:\n    {line}\n")
    found = kind_of(evidence, Frame(FILE, 1, "<module>", 2, None, called))
    assert (found.words == "padding and joining arrays") == joins
    assert not joins or "padded_batch" in found.advice


def test_what_ran_is_named_by_its_package() -> None:
    assert "NumPy on one line" in hot_line("x = f(x)", "numpy._core.fromnumeric:sum").title
    assert "Pandas" in hot_line("x = f(x)", "pandas.core.frame:apply").title
    assert "whole columns" in hot_line("x = f(x)", "pandas.core.frame:apply").advice
    assert "Python on one line" in hot_line("numpy_pandas = f(x)").title
    assert "Copying (copy.deepcopy)" in hot_line("x = f(x)", "copy:deepcopy").title
    assert "Python on one line" in hot_line("copy = deepcopy(x)").title  # the user's own, whatever it is called


@pytest.mark.parametrize(("library", "told"), [("scipy.optimize._minimize:minimize", 0), ("numpy:vectorize", 1)])
def test_a_library_that_calls_the_steps_is_no_python_of_the_persons(library: str, told: int) -> None:
    driver = Frame(FILE, 1, "<module>", 4, None, (library,))
    step = Frame(FILE, 1, "objective", 2, None, ("tensorflow.python.eager:__call__",))
    samples = make_samples([(40, "python", (driver,)), (60, "graph", (driver, step))])
    source = "def objective(x):\n    return train_step(x)\n\nfound = minimize(objective, start)\n"
    given = make_evidence(parts_ms={"python": 4.0, "graph": 6.0}, source=source, samples=samples)
    assert len(list(python_time.hot_python(given))) == told


def test_prints_and_files_of_each_step_are_reported_at_their_lines() -> None:
    table = make_steps(60)
    spied = seen(table, [(20, "host_sync", leaf(11)), (20, "python", leaf(12)), (60, "graph", leaf(10))])
    given = make_evidence(
        parts_ms={"python": 4.0, "graph": 6.0},
        steps=table,
        source=SOURCE,
        **spied._asdict(),
        records=sites(site(1, "call", 10, loops=(8,))),
    )
    found = {finding.where[0].line: finding for finding in side_work.hot_path(given)}
    assert set(found) == {11, 12}
    assert found[11].title.startswith("Printing") and found[11].where[1] == SourceSpan(FILE, 8)
    assert not list(python_time.hot_python(given))


FIT = "net.compile(optimizer='sgd', loss='mse')\nnet.fit(x, y, batch_size=32, epochs=2)\n"
TINY = (op("MatMul", 4, 0.03, "graph"), op("Mul", 40, 0.04, "graph"))


def tiny_fit(*, ops: Any = TINY, graph_ms: float = 0.42, each: int = 1, count: int = 3000) -> Any:
    table = make_steps(count, 0.5 + graph_ms)
    if each > 1:
        table = msgspec.structs.replace(
            table, steps=tuple(msgspec.structs.replace(step, count=each) for step in table.steps)
        )
    return make_evidence(
        parts_ms={"dispatch": 0.47, "input": 0.03, "graph": graph_ms},
        steps=table,
        source=FIT,
        data={"tfprof": traced({"python": 0.5, "graph": graph_ms}, ops)},
        records=sites(site(1, "batch", 2)),
    )


def test_tiny_steps_of_fit_should_run_many_to_a_call() -> None:
    finding = one(fit_calls.one_call_a_step(tiny_fit()))
    assert [place.line for place in finding.where] == [1, 2]
    assert "net.compile(..., steps_per_execution=" in finding.advice
    assert finding.gain.bounds and finding.gain.bounds[0] < 4.5 < finding.gain.bounds[1]  # measured: 4.5


def test_steps_that_compute_or_run_together_already_are_left_in_peace() -> None:
    long = (op("MatMul", 4, 2.9, "graph"), op("Mul", 40, 0.04, "graph"))
    assert not list(fit_calls.one_call_a_step(tiny_fit(ops=long, graph_ms=3.0)))
    assert not list(fit_calls.one_call_a_step(tiny_fit(each=50)))
    assert not list(fit_calls.one_call_a_step(tiny_fit(count=300)))


def test_a_loop_beside_fit_is_not_called_by_fit() -> None:
    """Go through the dataset before the training."""
    given = tiny_fit()
    of_loop = given.narrowed(
        work=Work(kind="loop", where=SourceSpan(FILE, 1), seconds=3.0, share_of_run=0.1, iterations=3000),
        steps=given.steps,
        account=given.account,
        samples=given.samples,
        log=given.log,
    )
    assert not list(fit_calls.one_call_a_step(of_loop))


def test_the_innermost_line_that_takes_the_time_comes_first() -> None:
    source = (
        "def tokenise(text):\n    return re.findall('[a-z]+', text)\n\ndef encode(texts):\n    rows = []\n"
        "    for text in texts:\n        rows.append(tokenise(text))\n    return rows\n\nfor batch in data:\n"
        "    step(encode(batch))\n"
    )
    outer = (Frame(FILE, 1, "<module>", 11), Frame(FILE, 4, "encode", 7))
    samples = make_samples(
        [
            (40, "python", (*outer, Frame(FILE, 1, "tokenise", 2, None, ("re:findall",)))),
            (12, "python", outer),
            (48, "graph", (outer[0],)),
        ]
    )
    given = make_evidence(parts_ms={"python": 5.2, "graph": 4.8}, samples=samples, source=source)
    finding = one(python_time.hot_python(given))
    assert finding.where[0] == SourceSpan(FILE, 2, "tokenise")
    assert "Matching regular expressions (re.findall) on one line of tokenise" in finding.title


def test_the_loop_that_is_to_be_vectorised_is_named() -> None:
    source = (
        "def blur(image):\n    out = np.zeros_like(image)\n    for i in range(26):\n        for j in range(26):\n"
        "            out[i, j] = image[i:i+3, j:j+3].mean()\n    return out\n\nfor image in images:\n    blur(image)\n"
    )
    frames = (Frame(FILE, 1, "<module>", 9), Frame(FILE, 1, "blur", 5, None, ("numpy._core._methods:_mean",)))
    samples = make_samples([(90, "python", frames), (10, "graph", (frames[0],))])
    given = make_evidence(parts_ms={"python": 9.0, "graph": 1.0}, samples=samples, source=source)
    finding = one(python_time.hot_python(given))
    assert finding.where[0] == SourceSpan(FILE, 5, "blur")
    assert "whole arrays" in finding.advice and "the loop in line 3" in finding.advice


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("cv2.putText(picture, text, at, font, 1, color)", "drawing on images"),
        ("ImageDraw.Draw(picture).text(at, text)", "drawing on images"),
        ("cv2.resize(picture, size)", "reading and converting images"),
    ],
)
def test_to_draw_on_a_picture_is_not_to_read_it(line: str, words: str) -> None:
    evidence = make_evidence(source=f"import cv2; from PIL import ImageDraw\n{line}\n")
    assert kind_of(evidence, Frame(FILE, 1, "<module>", 2, None, ())).words == words


def test_what_no_loop_repeats_is_not_to_be_done_before_one() -> None:
    samples = make_samples([(100, "python", (Frame(FILE, 1, "<module>", 2, None, ("pandas.core.reshape:pivot",)),))])
    source = "import pandas as pd\ntable = pd.pivot(rows)\n"
    given = make_evidence(parts_ms={"python": 10.0}, samples=samples, source=source, steps=StepTable())
    (finding,) = python_time.hot_python(given)
    assert "df.to_numpy()" in finding.advice and "loop" not in finding.advice
    assert "before the loop" in hot_line("x = f(x)", "pandas.core.reshape:pivot").advice
