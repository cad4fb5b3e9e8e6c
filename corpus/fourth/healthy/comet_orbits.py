"""Follow 60,000 comets for some centuries with a compiled Runge-Kutta integration (no training)."""
import numpy as np
import tensorflow as tf

COMETS, STEPS = 60_000, 700
MASSES = tf.constant([1.0, 9.5e-4, 2.9e-4])


def field(position, velocity, t):
    angle = tf.stack([0.0 * t, 0.53 * t, 0.21 * t])
    radius = tf.constant([0.0, 5.2, 9.6])
    bodies = tf.stack([radius * tf.cos(angle), radius * tf.sin(angle)], axis=1)
    pull = tf.zeros_like(position)
    for i in range(3):
        gap = bodies[i] - position
        pull += MASSES[i] * gap * tf.math.rsqrt(tf.reduce_sum(gap * gap, 1, keepdims=True) + 1e-3) ** 3
    return velocity, pull


@tf.function
def integrate(position, velocity, dt):
    for n in tf.range(STEPS):
        t = tf.cast(n, tf.float32) * dt
        a1, b1 = field(position, velocity, t)
        a2, b2 = field(position + 0.5 * dt * a1, velocity + 0.5 * dt * b1, t + 0.5 * dt)
        a3, b3 = field(position + 0.5 * dt * a2, velocity + 0.5 * dt * b2, t + 0.5 * dt)
        a4, b4 = field(position + dt * a3, velocity + dt * b3, t + dt)
        position += dt / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
        velocity += dt / 6 * (b1 + 2 * b2 + 2 * b3 + b4)
    return position, velocity


rng = np.random.default_rng(55)
angle = rng.uniform(0, 2 * np.pi, COMETS)
distance = rng.uniform(2, 20, COMETS)
position = tf.constant(np.stack([distance * np.cos(angle), distance * np.sin(angle)], 1).astype("float32"))
speed = np.sqrt(1 / distance)
velocity = tf.constant(np.stack([-speed * np.sin(angle), speed * np.cos(angle)], 1).astype("float32"))
position, velocity = integrate(position, velocity, tf.constant(0.05))
print("farthest", round(float(tf.reduce_max(tf.norm(position, axis=1))), 2))
