"""Defect inspection worker: collects camera frames and scores them in batches."""
import os
import queue
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf

MAX_BATCH = 16
FRAME = (128, 128, 3)


def export_model(path):
    tf.keras.utils.set_random_seed(2)
    model = tf.keras.Sequential([
        tf.keras.Input(FRAME),
        tf.keras.layers.Rescaling(1 / 255.0),
        tf.keras.layers.Conv2D(16, 5, strides=4, activation="relu"),
        tf.keras.layers.Conv2D(32, 3, strides=2, activation="relu"),
        tf.keras.layers.Conv2D(48, 3, strides=2, activation="relu"),
        tf.keras.layers.GlobalMaxPooling2D(),
        tf.keras.layers.Dense(3, activation="softmax"),
    ])
    model.export(path, verbose=False)


class Camera:
    def __init__(self, seed):
        self.rng = np.random.RandomState(seed)
        self.background = self.rng.randint(90, 160, FRAME).astype(np.float32)

    def frame(self):
        image = self.background.copy()
        y, x = self.rng.randint(0, 100, 2)
        image[y:y + 20, x:x + 20] += self.rng.randint(-60, 60)
        return np.clip(image, 0, 255)


class Worker:
    def __init__(self, path):
        self.model = tf.saved_model.load(path)
        self.pending = queue.Queue()

    def submit(self, key, frame):
        self.pending.put((key, frame))

    def next_batch(self):
        keys, frames = [], []
        while len(frames) < MAX_BATCH and not self.pending.empty():
            key, frame = self.pending.get()
            keys.append(key)
            frames.append(frame)
        return keys, frames

    def run_once(self):
        keys, frames = self.next_batch()
        inputs = tf.convert_to_tensor(np.stack(frames), dtype=tf.float32)
        scores = self.model.serve(inputs).numpy()
        return dict(zip(keys, scores))


def main():
    with tempfile.TemporaryDirectory() as tmp:
        path = os.path.join(tmp, "inspect")
        export_model(path)
        worker = Worker(path)
    cameras = [Camera(i) for i in range(4)]
    counts = np.zeros(3, int)
    total = 0.0
    for tick in range(80):
        for c, camera in enumerate(cameras):
            worker.submit((tick, c), camera.frame())
        if (tick + 1) % 4 == 0:
            results = worker.run_once()
            counts += np.bincount([int(s.argmax()) for s in results.values()], minlength=3)
            total += float(sum(s.max() for s in results.values()))
    print("frames", counts.sum(), "classes", counts, "confidence %.4f" % total)


if __name__ == "__main__":
    main()
