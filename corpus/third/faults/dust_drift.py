"""Dust that drifts over a plain: particles are dropped into cells, cells push the particles."""
import argparse
from typing import NamedTuple

import tensorflow as tf

SIDE = 160


class Dust(NamedTuple):
    place: tf.Tensor
    speed: tf.Tensor
    mass: tf.Tensor


def scattered(count, seed):
    draw = tf.random.Generator.from_seed(seed)
    return Dust(
        place=draw.uniform([count, 2], 0.0, SIDE - 1.0),
        speed=draw.normal([count, 2]) * 0.3,
        mass=draw.uniform([count], 0.5, 1.5),
    )


def deposit(dust):
    """How much mass lies in each cell."""
    cells = tf.cast(dust.place, tf.int32)
    ground = tf.zeros([SIDE, SIDE])
    for i in tf.range(tf.shape(cells)[0]):
        ground = tf.tensor_scatter_nd_add(ground, cells[i][None], dust.mass[i][None])
    return ground


def push(ground, dust):
    wide = tf.nn.avg_pool2d(ground[None, :, :, None], 5, 1, "SAME")[0, :, :, 0]
    down = tf.roll(wide, -1, 0) - tf.roll(wide, 1, 0)
    right = tf.roll(wide, -1, 1) - tf.roll(wide, 1, 1)
    force = tf.gather_nd(tf.stack([down, right], -1), tf.cast(dust.place, tf.int32))
    return -0.05 * force


@tf.function
def advance(dust):
    ground = deposit(dust)
    speed = 0.98 * dust.speed + push(ground, dust)
    place = tf.clip_by_value(dust.place + speed, 0.0, SIDE - 1.0)
    return Dust(place, speed, dust.mass), tf.reduce_max(ground)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--particles", type=int, default=3000)
    parser.add_argument("--hours", type=int, default=100)
    opts = parser.parse_args()
    dust = scattered(opts.particles, 42)
    for hour in range(opts.hours):
        dust, deepest = advance(dust)
        if hour % 25 == 0:
            print(f"hour {hour}: deepest {float(deepest):.2f}")
    print("mean place", tf.reduce_mean(dust.place, 0).numpy())


if __name__ == "__main__":
    main()
