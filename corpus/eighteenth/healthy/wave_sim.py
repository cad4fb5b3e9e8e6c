"""Time stepping of a damped wave equation on a grid with a moving source."""
import argparse
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf


class WaveField:
    def __init__(self, size, speed, dt, damping):
        self.size = size
        self.dt = dt
        self.damping = damping
        grid = np.linspace(-1, 1, size, dtype=np.float32)
        self.gx, self.gy = (tf.constant(g) for g in np.meshgrid(grid, grid, indexing="ij"))
        medium = np.where(np.abs(self.gx.numpy()) < 0.3, 0.6 * speed, speed)
        self.c2 = tf.constant((medium * dt * size / 2.0) ** 2, tf.float32)

    def laplacian(self, u):
        p = tf.pad(u, [[1, 1], [1, 1]])
        return p[2:, 1:-1] + p[:-2, 1:-1] + p[1:-1, 2:] + p[1:-1, :-2] - 4.0 * u

    def source(self, t):
        cx, cy = 0.5 * tf.cos(t), 0.5 * tf.sin(t)
        radius = tf.square(self.gx - cx) + tf.square(self.gy - cy)
        return tf.exp(-radius * 800.0) * tf.sin(25.0 * t)

    @tf.function(
        input_signature=[
            tf.TensorSpec([None, None], tf.float32),
            tf.TensorSpec([None, None], tf.float32),
            tf.TensorSpec([], tf.int32),
            tf.TensorSpec([], tf.int32),
        ]
    )
    def advance(self, u, u_prev, first, steps):
        energy = tf.TensorArray(tf.float32, size=steps)
        for i in tf.range(steps):
            t = self.dt * tf.cast(first + i, tf.float32)
            pushed = 2.0 * u - u_prev + self.c2 * self.laplacian(u)
            pushed -= self.damping * (u - u_prev)
            pushed += self.dt * self.dt * 400.0 * self.source(t)
            energy = energy.write(i, tf.reduce_mean(tf.square(pushed)))
            u_prev = u
            u = pushed
        return u, u_prev, energy.stack()


class Recorder:
    def __init__(self):
        self.frames = []
        self.energy = []

    def add(self, u, energy):
        self.frames.append(u.numpy()[::8, ::8].copy())
        self.energy.extend(energy.numpy().tolist())

    def summary(self):
        frames = np.stack(self.frames)
        return frames.shape, float(np.abs(frames).max()), float(np.mean(self.energy))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, default=384)
    parser.add_argument("--frames", type=int, default=70)
    parser.add_argument("--steps-per-frame", type=int, default=40)
    args = parser.parse_args()

    field = WaveField(args.size, speed=1.0, dt=0.002, damping=0.002)
    u = tf.zeros([args.size, args.size])
    u_prev = tf.zeros_like(u)
    recorder = Recorder()
    for frame in range(args.frames):
        first = tf.constant(frame * args.steps_per_frame)
        u, u_prev, energy = field.advance(u, u_prev, first, tf.constant(args.steps_per_frame))
        recorder.add(u, energy)
    shape, peak, mean = recorder.summary()
    print("frames", shape, "peak", round(peak, 5), "energy", round(mean, 7))


if __name__ == "__main__":
    main()
