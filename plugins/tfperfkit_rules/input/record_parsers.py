"""Functions of TensorFlow that parse one serialised record, and what parses a batch of them in one call."""

from __future__ import annotations

from typing import NamedTuple

from tfperfkit_probes.input.model import Pipeline, Stage

from tfperfkit.rule import Evidence
from tfperfkit_rules.measures.source_text import enclosing


class Parser(NamedTuple):
    """``single`` parses a record, ``batches`` a batch of them; one function may do both. ``result``: what is to be
    known of a batch's."""

    single: str
    batches: str
    result: str = "what comes after it gets one more dimension in front"

    def batched(self, size: int) -> str:
        """What a function that calls it then gets, as the rest of a sentence."""
        instead = f": {self.batches} in place of {self.single}" if self.single != self.batches else ""
        return f"{size} records at a time{instead}; {self.result}."


_PARSERS = (
    Parser("tf.io.parse_single_example", "tf.io.parse_example"),
    Parser("tf.io.parse_single_sequence_example", "tf.io.parse_sequence_example"),
    Parser("tf.io.decode_csv", "tf.io.decode_csv"),
    Parser("tf.io.decode_raw", "tf.io.decode_raw"),
    Parser("tf.strings.split", "tf.strings.split", "its result is ragged then: .to_tensor()"),
)
#: What decodes one string at a time.
_SINGLE = ("decode_image", "decode_jpeg", "decode_png", "decode_gif", "decode_bmp", "decode_webp", "decode_wav")


def parser_of(evidence: Evidence, pipeline: Pipeline, stage: Stage) -> Parser | None:
    """The parser that a map calls on single strings. None where it takes something else, or decodes a picture or a
    sound too: these are decoded one by one."""
    index = pipeline.stages.index(stage)
    source = next((item for item in pipeline.stages[index + 1 :] if item.element), None)
    if source is None or source.element != "string[]" or stage.mapped is None:
        return None
    syntax = evidence.syntax(stage.mapped.file)
    function = enclosing(evidence, stage.mapped.file, stage.mapped.line)
    first, last = (function.line, function.last) if function is not None else (stage.mapped.line, stage.mapped.line)
    if syntax is None:
        return None
    names = [syntax.name(call.func) for call in syntax.calls if first <= call.lineno <= last]
    if any(name.rpartition(".")[2] in _SINGLE for name in names):
        return None
    return next((item for item in _PARSERS if item.single.replace("tf.", "tensorflow.", 1) in names), None)
