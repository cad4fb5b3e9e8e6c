"""Patches of pipelines: map, prefetch, the order of batch and map, the last batch."""

from __future__ import annotations

from pathlib import Path

import pytest
from fixing_builder import finding_at, fixed, patch_of, reason

from tfperfkit.remedy import ChangeStage

CHAIN = """\
import tensorflow as tf

train = (
    tf.data.Dataset.from_tensor_slices(paths)  # names
    .map(load)  # here
    .batch(16)  # few
)
"""


def test_a_map_gets_parallel_calls_and_comments_stay(tmp_path: Path) -> None:
    after = fixed(tmp_path, CHAIN, "INP003")
    assert after == CHAIN.replace(".map(load)", ".map(load, num_parallel_calls=tf.data.AUTOTUNE)")


def test_maps_that_run_as_one_get_parallel_calls_together(tmp_path: Path) -> None:
    """One alone would leave the other sequential. A third that the finding does not name stays as it is."""
    source = "import tensorflow as tf\n\nds = ds.map(read).map(augment).map(scale)\nother = ds.map(read)\n"
    wanted = "ds.map(read, num_parallel_calls=tf.data.AUTOTUNE).map(augment, num_parallel_calls=tf.data.AUTOTUNE)"
    found = finding_at("INP003", (3, ""), (1, "augment"), (1, "read"))
    # The outermost call of the line is the place of a finding that names no function.
    _, plain = patch_of(tmp_path, source, finding_at("INP003", (3, "")))
    assert ".map(scale, num_parallel_calls=tf.data.AUTOTUNE)" in plain
    _, after = patch_of(tmp_path, source.replace(".map(scale)", ""), found)
    assert after == source.replace(".map(scale)", "").replace("ds.map(read).map(augment)", wanted)


@pytest.mark.parametrize(
    "imports, name",
    [
        ("import tensorflow", "tensorflow.data.AUTOTUNE"),
        ("import tensorflow as T", "T.data.AUTOTUNE"),
        ("import tensorflow.compat.v2 as tf", "tf.data.AUTOTUNE"),
        ("from tensorflow import data", "data.AUTOTUNE"),
        ("from tensorflow import data as d, keras", "d.AUTOTUNE"),
        ("from tensorflow.data import AUTOTUNE, Dataset", "AUTOTUNE"),
        ("import numpy as np, tensorflow as tf", "tf.data.AUTOTUNE"),
    ],
)
def test_names_are_as_the_file_imports_them(tmp_path: Path, imports: str, name: str) -> None:
    after = fixed(tmp_path, f"{imports}\nds = ds.map(f)  # here\n", "INP003")
    assert after == f"{imports}\nds = ds.map(f, num_parallel_calls={name})  # here\n"


def test_an_import_inside_of_the_function_counts(tmp_path: Path) -> None:
    source = "def make(ds):\n    import tensorflow as tf\n    return ds.map(lambda x: x)  # here\n"
    assert "lambda x: x, num_parallel_calls=tf.data.AUTOTUNE)" in fixed(tmp_path, source, "INP003")


def test_a_name_that_is_bound_anew_is_not_taken(tmp_path: Path) -> None:
    source = "import tensorflow as tf\n\n\ndef make(ds, tf):\n    return ds.map(f)  # here\n"
    assert "not imported" in reason(tmp_path, source, "INP003")
    assert "not imported" in reason(tmp_path, "ds = ds.map(f)  # here\n", "INP003")


LAYOUTS = [
    ("ds.map(\n    f,  # why\n)", "ds.map(\n    f,  # why\n    num_parallel_calls=tf.data.AUTOTUNE,\n)"),
    ("ds.map(\n    f  # why\n)", "ds.map(\n    f,  # why\n    num_parallel_calls=tf.data.AUTOTUNE\n)"),
    ("ds.map(f, )", "ds.map(f, num_parallel_calls=tf.data.AUTOTUNE, )"),
    (
        "ds.map(\n    f,\n    deterministic=False,\n)",
        "ds.map(\n    f,\n    deterministic=False,\n    num_parallel_calls=tf.data.AUTOTUNE,\n)",
    ),
    ("ds.map( f )", "ds.map( f, num_parallel_calls=tf.data.AUTOTUNE )"),
]


@pytest.mark.parametrize("before, after", LAYOUTS)
def test_the_layout_of_arguments_is_kept(tmp_path: Path, before: str, after: str) -> None:
    head, _, tail = before.partition("\n")
    source = f"import tensorflow as tf\nds = {head}" + (f"  # here\n{tail}\n" if tail else "  # here\n")
    head, _, tail = after.partition("\n")
    wanted = f"import tensorflow as tf\nds = {head}" + (f"  # here\n{tail}\n" if tail else "  # here\n")
    assert fixed(tmp_path, source, "INP003") == wanted


@pytest.mark.parametrize("call", ["map(f, ds)", "ds.map(f, num_parallel_calls=4)", "ds.map(f, 4)", "ds.batch(4)"])
def test_what_is_no_slow_map_is_left_alone(tmp_path: Path, call: str) -> None:
    assert reason(tmp_path, f"import tensorflow as tf\nx = {call}  # here\n", "INP003")


def test_twisted_arguments_are_left_alone(tmp_path: Path) -> None:
    assert "**" in reason(tmp_path, "import tensorflow as tf\nx = ds.map(f, **given)  # here\n", "INP003")


def test_prefetch_takes_a_line_of_its_own_where_stages_do(tmp_path: Path) -> None:
    source = CHAIN.replace("  # here", "").replace("# few", "# here")
    after = fixed(tmp_path, source, "INP004")
    assert after == source.replace("# here\n", "# here\n    .prefetch(tf.data.AUTOTUNE)\n")


@pytest.mark.parametrize(
    "before, after",
    [
        ("ds = ds.batch(4)", "ds = ds.batch(4).prefetch(tf.data.AUTOTUNE)"),
        ("for x in ds.map(f).batch(4): pass", "for x in ds.map(f).batch(4).prefetch(tf.data.AUTOTUNE): pass"),
        ("it = ds.batch(4).as_numpy_iterator()", "it = ds.batch(4).prefetch(tf.data.AUTOTUNE).as_numpy_iterator()"),
        (
            "ds = tf.data.Dataset.zip((a.batch(2), b.batch(2)))",
            "ds = tf.data.Dataset.zip((a.batch(2), b.batch(2))).prefetch(tf.data.AUTOTUNE)",
        ),
    ],
)
def test_prefetch_stands_behind_the_last_stage(tmp_path: Path, before: str, after: str) -> None:
    source = f"import tensorflow as tf\n{before}  # here\n"
    assert fixed(tmp_path, source, "INP004") == f"import tensorflow as tf\n{after}  # here\n"


def test_two_pipelines_on_a_line_are_not_told_apart(tmp_path: Path) -> None:
    assert "several" in reason(tmp_path, "import tensorflow as tf\nx = (a.batch(1), b.batch(2))  # here\n", "INP004")


SAFE = """\
import tensorflow as tf


def scale(image, label):
    \"\"\"To 0..1.\"\"\"
    image = tf.cast(image, tf.float32) / 255.0
    return image * image - 0.5 * image, label


ds = ds.shuffle(9).map(scale, num_parallel_calls=4).batch(32, drop_remainder=True)  # here
"""


def test_batch_goes_before_a_map_of_single_elements(tmp_path: Path) -> None:
    after = fixed(tmp_path, SAFE, "INP007")
    assert ".shuffle(9).batch(32, drop_remainder=True).map(scale, num_parallel_calls=4)  # here" in after


def test_stages_take_their_lines_along(tmp_path: Path) -> None:
    source = "import tensorflow as tf\n\nds = (\n    ds\n    .map(lambda x: x / 2)  # here\n    .batch(8)  # many\n)\n"
    after = fixed(tmp_path, source, "INP007")
    bare = " ".join(after.replace("# here", "").replace("# many", "").split())
    assert bare == "import tensorflow as tf ds = ( ds .batch(8) .map(lambda x: x / 2) )"
    assert "# here" in after and "# many" in after


@pytest.mark.parametrize(
    "body",
    [
        "return image - mean, label",  # the array's own shape is not known
        "return image - label, label",  # two arguments: broadcast over the new dimension
        "return tf.reduce_mean(image), label",
        "return image[0], label",
        "return tf.image.random_flip_left_right(image), label",
        "return image @ image, label",
    ],
)
def test_other_maps_are_applied_to_each_element_of_a_batch(tmp_path: Path, body: str) -> None:
    source = f"import tensorflow as tf\n\n\ndef f(image, label):\n    {body}\n\n\nds = ds.map(f).batch(8)  # here\n"
    whole = "ds.batch(8).map(lambda *batch: tf.vectorized_map(lambda each: f(*each), batch))"
    assert fixed(tmp_path, source, "INP007") == source.replace("ds.map(f).batch(8)", whole)


def test_stages_of_two_statements_are_swapped(tmp_path: Path) -> None:
    source = "import tensorflow as tf\n\nds = ds.map(lambda x: x / 2, 4)  # here\nds = ds.batch(8)\nfor x in ds: pass\n"
    assert fixed(tmp_path, source, "INP007") == source.replace("map(lambda x: x / 2, 4)", "batch(8)").replace(
        "batch(8)\nfor", "map(lambda x: x / 2, 4)\nfor"
    )


@pytest.mark.parametrize(
    "lines, why",
    [
        ("    return tf.io.read_file(x)\n\n\nds = ds.map(f).batch(8)  # here", "one element at a time"),
        ("    return x + y\n\n\nds = ds.window(3).map(f).batch(8)  # here", "windows"),
        ("    return x + y\n\n\nds = ds.map(f)  # here\nn = len(ds)\nds = ds.batch(8)", "used between"),
        ("    return x + y\n\n\nds = ds.map(f)  # here\nsmall = ds.batch(8)\nn = len(ds)", "used after"),
        ("    return x + y\n\n\nds = ds.map(f).take(3).batch(8)  # here", "does not directly follow"),
        ("    global n\n    n = x + 1\n    return n\n\n\nds = ds.map(f).batch(8)  # here", "not convert"),
        ("    return x + y\n\n\nds = ds.map(g).batch(8)  # here", "not seen"),
        ("    return (x + y) if x > 3 else x\n\n\nds = ds.map(f).batch(8)  # here", "would not convert"),
    ],
)
def test_what_takes_no_batches_keeps_its_place(tmp_path: Path, lines: str, why: str) -> None:
    source = f"import tensorflow as tf\n\nds = tf.data.Dataset.range(9)\n\n\ndef f(x):\n{lines}\n"
    assert why in reason(tmp_path, source, "INP007")


def test_the_last_batch_of_what_the_loop_goes_through_is_dropped(tmp_path: Path) -> None:
    source = "import keras\n\nds = ds.shuffle(9).batch(32)  # small\nfor n, x in enumerate(ds):\n    step(x)  # here\n"
    assert fixed(tmp_path, source, "RET002") == source.replace("batch(32)", "batch(32, drop_remainder=True)")
    source = "ds = ds.batch(32)\nmodel.fit(ds, epochs=3)  # here\n"
    assert fixed(tmp_path, source, "CMP001") == source.replace("batch(32)", "batch(32, drop_remainder=True)")
    source = "a = a.batch(1)\na = a.batch(2)\nmodel.fit(a)  # here\n"
    assert "not to be seen" in reason(tmp_path, source, "CMP001")
    source = "ds = ds.padded_batch(8)\nmodel.fit(ds)  # here\n"
    assert "differ in their lengths" in reason(tmp_path, source, "CMP001")


@pytest.mark.parametrize("call", ["map(load)", "map(load, num_parallel_calls=4)"])
def test_a_cache_stands_behind_the_map_and_comments_stay(tmp_path: Path, call: str) -> None:
    source = CHAIN.replace("map(load)", call)
    assert fixed(tmp_path, source, "INP006") == source.replace("# here\n", "# here\n    .cache()\n")


def test_a_cache_in_one_line_and_through_names(tmp_path: Path) -> None:
    source = """\
import tensorflow as tf

files = tf.data.Dataset.from_tensor_slices(paths)
files = files.filter(keep)
train = files.map(load).shuffle(100).batch(4)  # here
"""
    assert fixed(tmp_path, source, "INP006") == source.replace("map(load)", "map(load).cache()")


def test_a_cache_after_a_flat_map(tmp_path: Path) -> None:
    source = """\
import tensorflow as tf

rows = tf.data.Dataset.from_tensor_slices(records).map(parse)
rows = rows.flat_map(cut)  # here
rows = rows.shuffle(100).batch(4)
"""
    assert fixed(tmp_path, source, "INP006") == source.replace("flat_map(cut)", "flat_map(cut).cache()")


def test_of_several_maps_the_one_that_is_named(tmp_path: Path) -> None:
    source = "import tensorflow as tf\nds = tf.data.Dataset.range(9).map(read).map(scale).batch(4)\n"
    _, after = patch_of(tmp_path, source, finding_at("INP006", (2, ""), (9, "scale")))
    assert after == source.replace("map(scale)", "map(scale).cache()")
    patch, after = patch_of(tmp_path, source, finding_at("INP006", (2, "")))
    assert (after, patch.steps) == (source, ()) and "several maps" in patch.reason


@pytest.mark.parametrize(
    "chain, why",
    [
        ("Dataset.range(9).repeat().shuffle(9).map(f)", "a shuffle stands before it"),
        ("Dataset.range(9).shuffle(9).batch(3).map(f)", "other stages than maps"),
        ("Dataset.range(9).repeat().map(f)", "a repeat stands before it"),
        ("Dataset.list_files(names).map(f)", "list_files, which shuffles, stands before it"),
        ("Dataset.range(9).map(f).cache()", "a cache stands behind it"),
    ],
)
def test_a_cache_that_would_keep_one_order_or_never_end_is_no_patch(tmp_path: Path, chain: str, why: str) -> None:
    assert why in reason(tmp_path, f"import tensorflow as tf\nds = tf.data.{chain}  # here\n", "INP006")


def test_a_map_after_a_shuffle_moves_before_it_and_is_cached(tmp_path: Path) -> None:
    head = "import tensorflow as tf\nds = tf.data.Dataset.range(9)\n"
    after = fixed(tmp_path, f"{head}ds = ds.shuffle(9)\nds = ds.map(f)  # here\n", "INP006")
    assert after == f"{head}ds = ds.map(f).cache()\nds = ds.shuffle(9)  # here\n"
    chain = "import tensorflow as tf\nds = tf.data.Dataset.range(9).shuffle(9).map(f).map(g).batch(2)\n"
    _, after = patch_of(tmp_path, chain, finding_at("INP006", (2, ""), (9, "g")))
    assert after == chain.replace("shuffle(9).map(f).map(g)", "map(f).map(g).cache().shuffle(9)")


ORDER = """import tensorflow as tf


def f(x, label):
    x = x / 2
    return x, label


ds = tf.data.Dataset.range(9)"""


@pytest.mark.parametrize(
    "before, after",
    [
        (".map(f).filter(lambda x, n: n < 3)", ".filter(lambda x, n: n < 3).map(f)"),
        (".map(f).filter(lambda x, label: x < 3)", None),
        (".map(f).filter(lambda x, label: label < 3)", ".filter(lambda x, label: label < 3).map(f)"),
        (".map(f, 4).shuffle(9)", ".shuffle(9).map(f, 4)"),
        (".map(f).skip(9)", ".skip(9).map(f)"),
        (".map(f).batch(3).skip(9)", None),
    ],
)
def test_a_late_stage_moves_before_the_map(tmp_path: Path, before: str, after: str | None) -> None:
    source = f"{ORDER}{before}\n"
    found = finding_at("INP008", (9, ""), (9, ""), remedy=ChangeStage("order"))
    patch, made = patch_of(tmp_path, source, found)
    assert made == (f"{ORDER}{after}\n" if after else source), patch.reason
    assert bool(patch.reason) == (after is None)


def test_a_cache_moves_after_the_work(tmp_path: Path) -> None:
    source = f"{ORDER}.cache()\nother = ds.map(f)\nother = other.batch(2)\n"
    found = finding_at("INP008", (9, ""), (10, "f"), remedy=ChangeStage("order"))
    assert patch_of(tmp_path, source, found)[1] == (f"{ORDER}.map(f)\nother = ds.cache()\nother = other.batch(2)\n")
    used = source + "print(len(ds))\n"
    assert "ds is used after" in patch_of(tmp_path, used, found)[0].reason


def test_a_cache_does_not_move_after_a_shuffle(tmp_path: Path) -> None:
    """It would keep one order for all epochs. The map moves before the cache instead."""
    found = finding_at("INP008", (9, ""), (10, "f"), remedy=ChangeStage("order"))
    source = f"{ORDER}.cache().shuffle(9)\nds = ds.map(f).batch(2)\n"
    assert patch_of(tmp_path, source, found)[1] == f"{ORDER}.map(f).cache()\nds = ds.shuffle(9).batch(2)\n"
    two = source.replace(".cache()", ".cache().map(g)")
    patch, after = patch_of(tmp_path, two, found)
    assert after == two and "keep one order" in patch.reason


@pytest.mark.parametrize("code, stage", [("INP008", "take(n)"), ("INP007", "batch(n)")])
def test_a_stage_does_not_move_before_its_argument(tmp_path: Path, code: str, stage: str) -> None:
    source = f"{ORDER}.map(f)\nn = 3\nds = ds.{stage}\n"
    remedy = ChangeStage("order" if code == "INP008" else "batch_first")
    patch, after = patch_of(tmp_path, source, finding_at(code, (11, ""), (9, ""), remedy=remedy))
    assert after == source and "n gets its value" in patch.reason


def test_elements_of_a_generator_are_not_batched_before_the_map(tmp_path: Path) -> None:
    source = "import tensorflow as tf\nds = tf.data.Dataset.from_generator(g).map(tf.reduce_sum).batch(4)\n"
    assert patch_of(tmp_path, source, finding_at("INP007", (2, ""), remedy=ChangeStage("batch_first")))[1] == source


def test_where_a_pipeline_begins_may_not_be_seen(tmp_path: Path) -> None:
    assert "not seen" in reason(tmp_path, "def make(ds):\n    return ds.map(f)  # here\n", "INP006")
    listed = "import tensorflow as tf\nds = tf.data.Dataset.list_files(names, shuffle=False).map(f)  # here\n"
    assert fixed(tmp_path, listed, "INP006") == listed.replace("map(f)", "map(f).cache()")
