"""In-process inference service: callers submit signals, one worker batches them."""
import argparse
import os
import queue
import threading

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

WINDOW = 1024


class Request:
    def __init__(self, features):
        self.features = features
        self.done = threading.Event()
        self.result = None


class InferenceService:
    def __init__(self, model, max_batch=16, poll_interval=0.05):
        self.model = model
        self.max_batch = max_batch
        self.poll_interval = poll_interval
        self.queue = queue.Queue()
        self.batches = 0
        self._running = True
        self._infer = tf.function(lambda x: model(x, training=False), input_signature=[
            tf.TensorSpec([None, WINDOW // 2 + 1], tf.float32)])
        self._infer(tf.zeros([1, WINDOW // 2 + 1]))
        self._thread = threading.Thread(target=self._loop, daemon=True)

    def start(self):
        self._thread.start()

    def stop(self):
        self._running = False
        self._thread.join()

    def classify(self, features):
        request = Request(features)
        self.queue.put(request)
        request.done.wait()
        return request.result

    def _take_pending(self):
        try:
            pending = [self.queue.get(timeout=self.poll_interval)]
        except queue.Empty:
            return []
        while len(pending) < self.max_batch:
            try:
                pending.append(self.queue.get_nowait())
            except queue.Empty:
                break
        return pending

    def _loop(self):
        while self._running:
            pending = self._take_pending()
            if pending:
                self._run(pending)

    def _run(self, pending):
        probs = self._infer(tf.constant(np.stack([r.features for r in pending]))).numpy()
        self.batches += 1
        for request, p in zip(pending, probs):
            request.result = int(p.argmax())
            request.done.set()


def featurise(signal):
    spectrum = np.abs(np.fft.rfft(signal * np.hanning(len(signal))))
    logs = np.log1p(spectrum)
    return ((logs - logs.mean()) / logs.std()).astype("float32")


def client(service, seed, n_requests, counts, lock):
    rng = np.random.default_rng(seed)
    t = np.arange(WINDOW)
    for _ in range(n_requests):
        signal = np.sin(t * rng.uniform(0.05, 1.5)) + rng.normal(0, 0.3, WINDOW)
        label = service.classify(featurise(signal))
        with lock:
            counts[label] += 1


def build_model():
    tf.keras.utils.set_random_seed(4)
    return tf.keras.Sequential([
        layers.Input((WINDOW // 2 + 1,)),
        layers.Dense(512, activation="relu"),
        layers.Dense(512, activation="relu"),
        layers.Dense(12, activation="softmax"),
    ])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--clients", type=int, default=6)
    parser.add_argument("--requests", type=int, default=180)
    args = parser.parse_args()

    service = InferenceService(build_model())
    service.start()
    counts, lock = np.zeros(12, int), threading.Lock()
    threads = [threading.Thread(target=client, args=(service, i, args.requests, counts, lock))
               for i in range(args.clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    service.stop()
    print("answered", counts.sum(), "labels", counts.tolist())


if __name__ == "__main__":
    main()
