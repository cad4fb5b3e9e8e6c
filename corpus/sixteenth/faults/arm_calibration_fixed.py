"""Kinematic calibration of a planar 4-link arm by Levenberg-Marquardt from noisy tip positions."""
import numpy as np
import tensorflow as tf

LINKS = 4
POSES = 40
STARTS = 45
ITERS = 60
TRUE_LEN = np.array([0.9, 0.7, 0.5, 0.3])
TRUE_OFF = np.array([0.08, -0.05, 0.11, 0.02])


def tip_position(lengths, offsets, joints):
    angles = tf.cumsum(joints + offsets, axis=1)
    x = tf.reduce_sum(lengths * tf.cos(angles), axis=1)
    y = tf.reduce_sum(lengths * tf.sin(angles), axis=1)
    return tf.stack([x, y], axis=1)


class Calibrator:
    def __init__(self, joints, observed):
        self.joints = tf.constant(joints)
        self.observed = tf.constant(observed)

    def residuals(self, theta):
        lengths, offsets = theta[:LINKS], theta[LINKS:]
        pred = tip_position(lengths, offsets, self.joints)
        return tf.reshape(pred - self.observed, [-1])

    def linearise(self, theta):
        with tf.GradientTape() as tape:
            tape.watch(theta)
            r = self.residuals(theta)
        jac = tape.jacobian(r, theta)
        return r, jac

    @tf.function
    def cost(self, theta):
        return tf.reduce_sum(self.residuals(theta) ** 2)

    @tf.function
    def propose(self, theta, damping):
        r, jac = self.linearise(theta)
        jtj = tf.matmul(jac, jac, transpose_a=True)
        lhs = jtj + damping * tf.linalg.diag(tf.linalg.diag_part(jtj) + 1e-9)
        rhs = tf.linalg.matvec(jac, r, transpose_a=True)
        trial = theta - tf.linalg.solve(lhs, rhs[:, None])[:, 0]
        return trial, self.cost(trial)

    def solve(self, theta):
        damping = tf.constant(1e-2, tf.float64)
        current = self.cost(theta)
        for _ in range(ITERS):
            trial, trial_cost = self.propose(theta, damping)
            if trial_cost < current:
                theta, current, damping = trial, trial_cost, damping * 0.3
            else:
                damping = damping * 4.0
        return theta, current


def main():
    rng = np.random.default_rng(11)
    joints = rng.uniform(-1.5, 1.5, (POSES, LINKS))
    clean = tip_position(TRUE_LEN, TRUE_OFF, joints).numpy()
    calib = Calibrator(joints, clean + 1e-3 * rng.standard_normal(clean.shape))
    found = []
    for _ in range(STARTS):
        guess = np.concatenate([TRUE_LEN * rng.uniform(0.7, 1.3, LINKS), rng.normal(0, 0.2, LINKS)])
        theta, cost = calib.solve(tf.constant(guess))
        found.append((float(cost), theta.numpy()))
    found.sort(key=lambda p: p[0])
    print("best cost", found[0][0], " worst", found[-1][0])
    print("lengths", np.round(found[0][1][:LINKS], 4))
    print("offsets", np.round(found[0][1][LINKS:], 4))


if __name__ == "__main__":
    main()
