import numpy as np
import tensorflow as tf


class Cluster:
    def __init__(self, n, seed):
        rng = np.random.RandomState(seed)
        r = rng.randn(n, 3)
        self.mass = tf.constant(rng.uniform(0.5, 1.5, n) / n, tf.float32)
        self.pos = tf.constant(r, tf.float32)
        spin = np.cross(r, [0.0, 0.0, 1.0])
        self.vel = tf.constant(0.4 * spin + 0.05 * rng.randn(n, 3), tf.float32)


def acceleration(pos, mass, eps=0.1):
    d = pos[tf.newaxis] - pos[:, tf.newaxis]
    inv = tf.pow(tf.reduce_sum(d * d, -1) + eps ** 2, -1.5)
    return tf.einsum("ijk,ij,j->ik", d, inv, mass)


@tf.function
def integrate(pos, vel, mass, dt, steps):
    track = tf.concat([pos, vel], axis=1)[tf.newaxis]
    acc = acceleration(pos, mass)
    for _ in tf.range(steps):
        tf.autograph.experimental.set_loop_options(
            shape_invariants=[(track, tf.TensorShape([None, pos.shape[0], 6]))])
        vel += 0.5 * dt * acc
        pos += dt * vel
        acc = acceleration(pos, mass)
        vel += 0.5 * dt * acc
        track = tf.concat([track, tf.concat([pos, vel], axis=1)[tf.newaxis]], axis=0)
    return track


def orbit_statistics(track):
    radius = tf.norm(track[..., :3], axis=-1)
    centre = tf.reduce_mean(track[..., :3], axis=1)
    return tf.reduce_mean(radius, axis=1).numpy(), tf.norm(centre, axis=1).numpy()


def main():
    for seed in (1,):
        cluster = Cluster(96, seed)
        track = integrate(cluster.pos, cluster.vel, cluster.mass, tf.constant(0.001), tf.constant(6800))
        radius, drift = orbit_statistics(track)
        print("run", seed, "track", track.shape)
        print("  mean radius %.3f -> %.3f  largest drift %.3f" % (radius[0], radius[-1], drift.max()))


if __name__ == "__main__":
    main()
