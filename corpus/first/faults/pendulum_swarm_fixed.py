"""Integrate a swarm of damped double-well oscillators with RK4."""
import tensorflow as tf

DAMP = 0.12
DT = 0.01


def force(pos, vel, t):
    return pos - pos ** 3 - DAMP * vel + 0.05 * tf.cos(1.2 * t)


def rk4(pos, vel, t):
    k1p, k1v = vel, force(pos, vel, t)
    k2p, k2v = vel + 0.5 * DT * k1v, force(pos + 0.5 * DT * k1p, vel + 0.5 * DT * k1v, t + 0.5 * DT)
    k3p, k3v = vel + 0.5 * DT * k2v, force(pos + 0.5 * DT * k2p, vel + 0.5 * DT * k2v, t + 0.5 * DT)
    k4p, k4v = vel + DT * k3v, force(pos + DT * k3p, vel + DT * k3v, t + DT)
    pos = pos + DT / 6.0 * (k1p + 2.0 * k2p + 2.0 * k3p + k4p)
    vel = vel + DT / 6.0 * (k1v + 2.0 * k2v + 2.0 * k3v + k4v)
    return pos, vel


@tf.function
def simulate(pos, vel, steps):
    t = tf.constant(0.0)
    energy = tf.constant(0.0)
    for _ in tf.range(steps):
        pos, vel = rk4(pos, vel, t)
        t = t + DT
        energy += tf.reduce_mean(0.5 * vel ** 2 - 0.5 * pos ** 2 + 0.25 * pos ** 4)
    return pos, vel, energy / tf.cast(steps, tf.float32)


def main(steps=2200, particles=200):
    tf.random.set_seed(2)
    pos = tf.random.normal([particles])
    vel = tf.random.normal([particles])
    pos, vel, energy = simulate(pos, vel, tf.constant(steps))
    right = tf.reduce_mean(tf.cast(pos > 0, tf.float32))
    print("mean energy %.4f, share in right well %.3f" % (float(energy), float(right)))


main()
