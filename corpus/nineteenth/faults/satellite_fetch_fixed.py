"""Streams map tiles from a tile server stand-in through a cloud detector."""
import threading
import time
import zlib

import numpy as np
import tensorflow as tf


class TileServer:
    """Answers like the remote store: a fixed latency, then compressed bytes."""

    def __init__(self, latency, size=64):
        self.latency = latency
        self.size = size
        self.lock = threading.Lock()
        self.served = 0

    def get(self, x, y):
        time.sleep(self.latency)
        rng = np.random.default_rng(1000 * x + y)
        coarse = rng.random((self.size // 8, self.size // 8, 3))
        tile = np.kron(coarse, np.ones((8, 8, 1)))
        with self.lock:
            self.served += 1
        return zlib.compress((tile * 255).astype(np.uint8).tobytes())


class TileSource:
    def __init__(self, server):
        self.server = server

    def _download(self, xy):
        raw = self.server.get(int(xy[0]), int(xy[1]))
        flat = np.frombuffer(zlib.decompress(raw), np.uint8)
        return flat.reshape(self.server.size, self.server.size, 3)

    def load(self, xy):
        tile = tf.numpy_function(self._download, [xy], tf.uint8)
        tile.set_shape((self.server.size, self.server.size, 3))
        return xy, tf.image.convert_image_dtype(tile, tf.float32)

    def dataset(self, cells, batch_size):
        ds = tf.data.Dataset.from_tensor_slices(cells)
        ds = ds.map(self.load, num_parallel_calls=16)
        return ds.batch(batch_size)


class CloudDetector(tf.Module):
    def __init__(self):
        super().__init__()
        self.kernel = tf.Variable(tf.random.stateless_normal([5, 5, 3, 16], [1, 2]) * 0.2)
        self.mix = tf.Variable(tf.random.stateless_normal([16, 1], [3, 4]))

    @tf.function(reduce_retracing=True)
    def __call__(self, tiles):
        x = tf.nn.relu(tf.nn.conv2d(tiles - 0.5, self.kernel, 2, "SAME"))
        return tf.sigmoid(tf.reduce_mean(x, [1, 2]) @ self.mix)[:, 0]


class Mosaic:
    def __init__(self, width, height):
        self.cover = np.full((height, width), np.nan)

    def put(self, cells, values):
        self.cover[cells[:, 1], cells[:, 0]] = values

    def summary(self):
        rows = self.cover.mean(axis=1)
        return self.cover.mean(), rows.min(), rows.max()


def main(width=24, height=10):
    server = TileServer(latency=0.03)
    cells = np.stack(np.meshgrid(range(width), range(height)), -1).reshape(-1, 2)
    detector, mosaic = CloudDetector(), Mosaic(width, height)
    for xy, tiles in TileSource(server).dataset(cells, 16):
        mosaic.put(xy.numpy(), detector(tiles).numpy())
    print("tiles", server.served)
    print("cloud mean %.4f lowest row %.4f highest row %.4f" % mosaic.summary())


if __name__ == "__main__":
    main()
