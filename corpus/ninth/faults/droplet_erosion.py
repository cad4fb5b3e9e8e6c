"""Hydraulic erosion of a fractal terrain with batches of water droplets."""
import numpy as np
import tensorflow as tf

SIZE = 2048
DROPLETS = 400
GENERATIONS = 12
LIFETIME = 110

NEIGHBOURS = tf.constant([[0, 1], [1, 0], [0, -1], [-1, 0], [1, 1], [1, -1], [-1, 1], [-1, -1]], tf.int32)


def fractal_terrain(size, seed=5):
    rng = np.random.default_rng(seed)
    land = np.zeros((size, size), "float32")
    for octave in range(2, 8):
        n = 2 ** octave
        coarse = rng.standard_normal((n, n)).astype("float32")
        up = np.kron(coarse, np.ones((size // n, size // n), "float32"))
        land += up / n
    land = tf.nn.avg_pool2d(land[None, ..., None], 17, 1, "SAME")
    return land[0, ..., 0]


class Terrain(tf.Module):
    def __init__(self, heights, erosion=0.25, deposition=0.3, capacity=4.0):
        super().__init__()
        self.height = tf.Variable(heights, trainable=False)
        self.erosion = erosion
        self.deposition = deposition
        self.capacity = capacity

    def change(self, cells, amount):
        self.height.assign(tf.tensor_scatter_nd_add(self.height, cells, amount))

    @tf.function
    def rain(self, cells):
        sediment = tf.zeros([DROPLETS])
        moved = tf.constant(0.0)
        for _ in tf.range(LIFETIME):
            around = tf.clip_by_value(cells[:, None, :] + NEIGHBOURS[None], 0, SIZE - 1)
            here = tf.gather_nd(self.height, cells)
            there = tf.gather_nd(self.height, around)
            best = tf.argmin(there, axis=1, output_type=tf.int32)
            target = tf.gather(around, best, batch_dims=1)
            drop = here - tf.reduce_min(there, axis=1)
            room = tf.maximum(drop, 0.0) * self.capacity - sediment
            take = tf.where(room > 0.0,
                            tf.minimum(room * self.erosion, tf.maximum(drop, 0.0) * 0.5),
                            room * self.deposition)
            self.change(cells, -take)
            sediment += take
            moved += tf.reduce_sum(tf.abs(take))
            cells = tf.where((drop > 0.0)[:, None], target, cells)
        self.change(cells, sediment)
        return moved


def main():
    terrain = Terrain(fractal_terrain(SIZE))
    before = float(tf.reduce_sum(terrain.height))
    rng = np.random.default_rng(8)
    for g in range(GENERATIONS):
        start = tf.constant(rng.integers(0, SIZE, (DROPLETS, 2)), tf.int32)
        moved = terrain.rain(start)
        print(f"generation {g:2d} material moved {float(moved):9.3f}")
    after = float(tf.reduce_sum(terrain.height))
    print(f"mass balance {after - before:+.4f}, "
          f"relief {float(tf.math.reduce_std(terrain.height)):.5f}")


if __name__ == "__main__":
    main()
