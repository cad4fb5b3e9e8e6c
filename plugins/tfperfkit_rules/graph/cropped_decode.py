"""GRF037: a whole JPEG image is decoded, and one small crop of it is used."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from tfperfkit_probes.ops.model import Brief

from tfperfkit.calibration import Chosen, Measured, Threshold
from tfperfkit.graph import optable
from tfperfkit.graph.model import Node
from tfperfkit.graph.sizes import RESHAPES
from tfperfkit.graph.view import FOLLOWED, View
from tfperfkit.model import Finding
from tfperfkit.pricing.machines import TWO_BUSY_CORES
from tfperfkit.remedy import ReplaceOps
from tfperfkit.rule import Evidence
from tfperfkit_rules.graph.cause import Cause
from tfperfkit_rules.graph.pricing import Part, count
from tfperfkit_rules.graph.rule import GraphRule
from tfperfkit_rules.measures import graph_time

DECODED_PIXEL_MAX_MS = Threshold(
    5e-5,
    "ms",
    "maximum time to decode a pixel of a JPEG image: an image that takes longer has more pixels",
    Measured(
        "noise 1.4e-5, a smooth picture 0.7e-5, 375 x 500 pixels 0.4e-5; three times the slowest, for a busy machine",
        TWO_BUSY_CORES,
        3,
    ),
)
CROPPED_USED_MAX = Threshold(
    0.25,
    "share",
    "maximum share of the decoded pixels that is used",
    Chosen("half of each side: crops of small images, as for augmentation, use more"),
)
CROPPED_LEFT = Threshold(
    0.25,
    "share",
    "share of the time of decoding that remains if only a small crop is decoded",
    Measured(
        "96 x 96 of 1500 x 2200 pixels at the top, in the middle, at the bottom: 0.03, 0.25, 0.47 of noise and 0.03, "
        "0.14, 0.42 of a smooth picture",
        TWO_BUSY_CORES,
        6,
    ),
)
#: They give each pixel of an image another form.
_KEEPS = RESHAPES | {"Cast"}
_CROPS = optable.names(kind="slice", differentiates=False)


class CroppedImage(Cause, frozen=True, kw_only=True):
    """``pixels`` of the decoded image are used."""

    pixels: int


class CroppedDecode(GraphRule[CroppedImage]):
    """Recognised by the slices of known size that the decoded image goes into, and nothing else. The trace tells how
    large the image is: so many pixels take at least so long."""

    code = "GRF037"
    remedy = ReplaceOps("crop")
    title = "Whole JPEG image decoded for a small crop"

    def find(self, view: View) -> Iterator[CroppedImage]:
        """Yield the images of which only slices are used."""
        for node in view.forward:
            crops = _find_crops(view, node) if node.type == "DecodeJpeg" else None
            pixels = [_count_pixels(view, each) for each in crops or ()]
            if pixels and all(pixels):
                yield CroppedImage(
                    where=node.place,
                    places=[each.place for each in crops or () if each.place is not None],
                    operations=[node.name],
                    left=CROPPED_LEFT.value,
                    pixels=sum(pixels),
                )

    def candidates(self, evidence: Evidence) -> Iterator[tuple[Brief, CroppedImage]]:
        """Yield the images that take far longer to decode than their crops would."""
        for function, cause in super().candidates(evidence):
            took_ms = _measure_decoding(evidence, cause)
            if cause.pixels * DECODED_PIXEL_MAX_MS.value < CROPPED_USED_MAX.value * took_ms:
                yield function, cause

    def report(self, evidence: Evidence, part: Part[CroppedImage]) -> Finding:
        """Advise to decode the crop alone, or to decode once for all crops."""
        cause = part.cause
        return self.finding(
            evidence,
            part,
            "Whole JPEG image decoded for a small crop",
            "Decode only the crop: tf.image.decode_and_crop_jpeg(contents, [y, x, height, width], channels=3). "
            "tf.io.extract_jpeg_shape(contents) gives the image's size without decoding. Or, if several crops are of "
            "one image: decode it once, and cut all its crops (flat_map over the images).",
            f"The script uses {cause.pixels:,} pixels of each image, and decodes the whole image. Values of the crop "
            "may differ by 1 or 2 of 255.",
            count("pixels used of an image", cause.pixels),
            msgspec.structs.replace(
                count("time to decode an image", 0, "ms"), value=_measure_decoding(evidence, cause), window="tfprof"
            ),
        )


def _find_crops(view: View, image: Node) -> list[Node] | None:
    """Return the slices of an image; None if anything else uses it, or all of it is a result."""
    found: list[Node] = []
    waiting = [image]
    for _ in range(FOLLOWED):
        if not waiting:
            return found
        node = waiting.pop()
        uses = view.uses(node)
        if node.name in view.results or not uses:
            return None
        for use in uses:
            if use.node.type in _CROPS and use.number == 0:
                found.append(use.node)
            elif use.node.type in _KEEPS and use.number == 0:
                waiting.append(use.node)
            else:
                return None
    return None


def _count_pixels(view: View, crop: Node) -> int:
    """Return the pixels of a crop; 0 if its height or width is not known, or it is a row or a channel."""
    *_, height, width, _ = (0, 0, 0, *(view.graph.type_of(crop.name).shape or ()))
    return height * width if height > 1 and width > 1 else 0


def _measure_decoding(evidence: Evidence, cause: CroppedImage) -> float:
    """ms to decode an image, in the trace; 0 if it was not seen."""
    rows = [
        row for row in graph_time.rows(evidence) if row.type == "DecodeJpeg" and row.name.endswith(cause.operations[0])
    ]
    runs = sum(row.count for row in rows)
    return sum(row.self_ms for row in rows) / runs if runs else 0.0
