import os
import tempfile
import time
from dataclasses import dataclass
from typing import Dict, List, Optional

import numpy as np
import tensorflow as tf

THRESHOLDS = {"cosine": 0.35, "euclidean_l2": 0.84}


class FacialRecognition:
    """Interface of the recognition models, weights live on disk."""

    model_name: str
    input_shape = (64, 64)
    output_shape = 96

    def __init__(self, home: str):
        self.model = load_weights(self.model_name, home)

    def forward(self, img: np.ndarray) -> List[float]:
        return self.model(img, training=False).numpy()[0].tolist()


class SmallFaceClient(FacialRecognition):
    model_name = "SmallFace"


class WideFaceClient(FacialRecognition):
    model_name = "WideFace"


MODELS = {"SmallFace": SmallFaceClient, "WideFace": WideFaceClient}


def network(name: str) -> tf.keras.Model:
    width = {"SmallFace": 12, "WideFace": 20}[name]
    inputs = tf.keras.Input((64, 64, 3))
    x = inputs
    for stage in range(4):
        x = tf.keras.layers.Conv2D(width * (stage + 1), 3, strides=2, padding="same")(x)
        x = tf.keras.layers.BatchNormalization()(x)
        x = tf.keras.layers.PReLU(shared_axes=[1, 2])(x)
    x = tf.keras.layers.GlobalAveragePooling2D()(x)
    x = tf.keras.layers.Dense(96)(x)
    return tf.keras.Model(inputs, x, name=name)


def load_weights(name: str, home: str) -> tf.keras.Model:
    return tf.keras.models.load_model(os.path.join(home, name + ".keras"), compile=False)


def build_model(model_name: str, home: str) -> FacialRecognition:
    if model_name not in MODELS:
        raise ValueError(f"Invalid model_name passed - {model_name}")
    return MODELS[model_name](home)


def detect_face(img: np.ndarray) -> np.ndarray:
    h, w = img.shape[:2]
    side = min(h, w) * 4 // 5
    top, left = (h - side) // 2, (w - side) // 2
    return img[top : top + side, left : left + side]


def represent(img, model_name, home) -> List[float]:
    recogniser = build_model(model_name, home)
    face = tf.image.resize(detect_face(img), recogniser.input_shape)
    return recogniser.forward((face / 127.5 - 1.0)[None])


def find_distance(a, b, metric):
    a, b = np.asarray(a), np.asarray(b)
    if metric == "cosine":
        return 1 - a @ b / (np.linalg.norm(a) * np.linalg.norm(b))
    return np.linalg.norm(a / np.linalg.norm(a) - b / np.linalg.norm(b))


@dataclass
class Request:
    img1: np.ndarray
    img2: np.ndarray
    model_name: str = "SmallFace"
    metric: str = "cosine"


class VerifyService:
    def __init__(self, home: str):
        self.home = home
        self.seen: Dict[str, int] = {}

    def verify(self, req: Request) -> Dict:
        tic = time.time()
        first = represent(req.img1, req.model_name, self.home)
        second = represent(req.img2, req.model_name, self.home)
        distance = float(find_distance(first, second, req.metric))
        self.seen[req.model_name] = self.seen.get(req.model_name, 0) + 1
        return {
            "verified": distance <= THRESHOLDS[req.metric],
            "distance": distance,
            "model": req.model_name,
            "time": time.time() - tic,
        }


def requests(n, seed=31):
    rng = np.random.default_rng(seed)
    base = (rng.random((6, 90, 80, 3)) * 255).astype("float32")
    for i in range(n):
        a, b = rng.integers(0, len(base), 2)
        shade = rng.normal(0, 12, base[b].shape).astype("float32")
        yield Request(
            base[a],
            base[b] + shade,
            "WideFace" if i % 5 == 0 else "SmallFace",
            "euclidean_l2" if i % 3 == 0 else "cosine",
        )


def main(n: int = 36, home: Optional[str] = None):
    tf.keras.utils.set_random_seed(44)
    with tempfile.TemporaryDirectory() as tmp:
        home = home or tmp
        for name in MODELS:
            network(name).save(os.path.join(home, name + ".keras"))
        service = VerifyService(home)
        answers = [service.verify(r) for r in requests(n)]
    print("requests", len(answers), dict(sorted(service.seen.items())))
    print("verified", sum(a["verified"] for a in answers))
    print("mean distance %.4f" % np.mean([a["distance"] for a in answers]))


if __name__ == "__main__":
    main()
