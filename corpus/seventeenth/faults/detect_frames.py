"""Run a YOLO-style detector over a batch of frames and list the boxes found."""
import argparse
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

ANCHORS = {8: (10, 13, 16, 30, 33, 23), 16: (30, 61, 62, 45, 59, 119), 32: (116, 90, 156, 198, 373, 326)}
N_CLASSES = 60
SIZE = 192
HEAD_STD = 12.0


class BoundBox:
    def __init__(self, xmin, ymin, xmax, ymax, objness, classes):
        self.xmin, self.ymin, self.xmax, self.ymax = xmin, ymin, xmax, ymax
        self.objness = objness
        self.classes = classes


def build_detector():
    tf.keras.utils.set_random_seed(11)
    x = inp = layers.Input((SIZE, SIZE, 3))
    outputs = []
    for i, width in enumerate((8, 16, 24, 32, 48)):
        x = layers.Conv2D(width, 3, strides=2, padding="same", activation="relu")(x)
        if i >= 2:
            head = layers.Conv2D(3 * (5 + N_CLASSES), 1, kernel_initializer=tf.keras.initializers.RandomNormal(stddev=HEAD_STD))
            outputs.append(head(x))
    return tf.keras.Model(inp, outputs)


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def decode_netout(netout, anchors, obj_thresh):
    grid_h, grid_w = netout.shape[:2]
    netout = netout.reshape((grid_h, grid_w, 3, -1)).copy()
    boxes = []
    netout[..., :2] = sigmoid(netout[..., :2])
    netout[..., 4] = sigmoid(netout[..., 4] - 3.0)
    netout[..., 5:] = netout[..., 4][..., np.newaxis] * sigmoid(netout[..., 5:])
    netout[..., 5:] *= netout[..., 5:] > obj_thresh
    for i in range(grid_h * grid_w):
        row, col = divmod(i, grid_w)
        for b in range(3):
            objectness = netout[row][col][b][4]
            if objectness.all() <= obj_thresh:
                continue
            x, y, w, h = netout[row][col][b][:4]
            x = (col + x) / grid_w
            y = (row + y) / grid_h
            w = anchors[2 * b] * np.exp(np.clip(w, -4, 1)) / SIZE
            h = anchors[2 * b + 1] * np.exp(np.clip(h, -4, 1)) / SIZE
            classes = netout[row][col][b][5:]
            boxes.append(BoundBox(x - w / 2, y - h / 2, x + w / 2, y + h / 2, objectness, classes))
    return boxes


def interval_overlap(a1, a2, b1, b2):
    return max(0.0, min(a2, b2) - max(a1, b1))


def bbox_iou(a, b):
    inter = interval_overlap(a.xmin, a.xmax, b.xmin, b.xmax) * interval_overlap(a.ymin, a.ymax, b.ymin, b.ymax)
    area_a = (a.xmax - a.xmin) * (a.ymax - a.ymin)
    area_b = (b.xmax - b.xmin) * (b.ymax - b.ymin)
    return inter / (area_a + area_b - inter)


def do_nms(boxes, nms_thresh):
    for c in range(N_CLASSES):
        order = np.argsort([-box.classes[c] for box in boxes])
        for i, index_i in enumerate(order):
            if boxes[index_i].classes[c] == 0:
                continue
            for index_j in order[i + 1:]:
                if boxes[index_j].classes[c] == 0:
                    break
                if bbox_iou(boxes[index_i], boxes[index_j]) >= nms_thresh:
                    boxes[index_j].classes[c] = 0


def detect(model, frame, obj_thresh, nms_thresh):
    boxes = []
    for netout, anchors in zip(model(frame[None], training=False), ANCHORS.values()):
        boxes += decode_netout(netout.numpy()[0], anchors, obj_thresh)
    if boxes:
        do_nms(boxes, nms_thresh)
    return [(c, box.classes[c]) for box in boxes for c in range(N_CLASSES) if box.classes[c] > 0]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--frames", type=int, default=40)
    parser.add_argument("--obj-thresh", type=float, default=0.6)
    parser.add_argument("--nms-thresh", type=float, default=0.45)
    args = parser.parse_args()

    model = build_detector()
    frames = np.random.default_rng(5).random((args.frames, SIZE, SIZE, 3)).astype("float32")
    found = [detect(model, frame, args.obj_thresh, args.nms_thresh) for frame in frames]
    counts = [len(f) for f in found]
    print(f"frames {len(counts)}  detections {sum(counts)}  score sum {sum(s for f in found for _, s in f):.3f}")


if __name__ == "__main__":
    main()
