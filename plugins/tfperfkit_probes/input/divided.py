"""How pipelines are divided among the workers of a training: what a strategy was given, and what it does to it."""

from __future__ import annotations

from collections.abc import Sequence

from tfperfkit.model import SourceSpan
from tfperfkit.records.pipelines import MadeDataset
from tfperfkit_probes.input.model import Divided
from tfperfkit_probes.input.nodes import kind_of
from tfperfkit_probes.input.structure import chain

#: Datasets before which a strategy can divide the files.
_READERS = ("TFRecord", "TextLine", "FixedLengthRecord", "SSTable", "RecordIO", "ArrayRecord")


def divided(datasets: Sequence[MadeDataset]) -> tuple[Divided, ...]:
    """The pipelines that a strategy divides, those of one line once."""
    known = {made.number: made for made in datasets}
    found = []
    for made in datasets:
        if kind_of(made.cls) != "AutoShard":
            continue
        below = [link.dataset for link in chain(known, made.number)]
        shards = [item.origin for item in below if kind_of(item.cls) == "Shard" and item.origin.by == "user"]
        found.append(
            Divided(
                policy=str(made.about.parameters.get("policy") or ""),
                reads_files=any(kind_of(item.cls).startswith(_READERS) for item in below),
                by_hand=SourceSpan(shards[0].file, shards[0].line, shards[0].function) if shards else None,
                file=made.origin.file,
                line=made.origin.line,
            )
        )
    return tuple(dict.fromkeys(found))


def random_order(datasets: Sequence[MadeDataset]) -> bool:
    """Whether examples come in an order that another process would not have."""
    return any(kind_of(made.cls) == "Shuffle" and not made.about.seed for made in datasets)
