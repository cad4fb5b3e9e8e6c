# Fit a sum of damped oscillations to the step response of each of our sensors.
# (gradient descent through the model, because the noise is not Gaussian and we want a Huber loss)
import math
import time
import numpy as np
import tensorflow as tf

SENSORS = 70
SAMPLES = 400
ITERATIONS = 100
MODES = 4


def responses(seed=17):
    rng = np.random.default_rng(seed)
    t = np.linspace(0, 4, SAMPLES)
    rows = []
    for _ in range(SENSORS):
        y = np.zeros_like(t)
        for k in range(MODES):
            y += rng.uniform(0.3, 1) * np.exp(-rng.uniform(0.4, 1.5) * t) * np.cos((2 + 3 * k + rng.uniform(-.5, .5)) * t)
        y += 0.02 * rng.standard_t(2, SAMPLES)
        rows.append(y)
    return t.astype("float32"), np.array(rows, "float32")


def start_values():
    return [np.full(MODES, 0.5, "float32"),
            np.full(MODES, math.log(0.8), "float32"),
            np.array([2 + 3 * k for k in range(MODES)], "float32"),
            np.zeros(MODES, "float32"),
            np.zeros(1, "float32")]


def predict(params, t):
    amp, logdecay, freq, phase, offset = params
    waves = tf.exp(-tf.exp(logdecay)[:, None] * t) * tf.cos(freq[:, None] * t + phase[:, None])
    return tf.reduce_sum(amp[:, None] * waves, axis=0) + offset


def huber(r, d=0.05):
    a = tf.abs(r)
    return tf.reduce_mean(tf.where(a < d, 0.5 * r * r, d * (a - 0.5 * d)))


def make_fitter(t):
    params = [tf.Variable(v) for v in start_values()]
    opt = tf.keras.optimizers.Adam(0.02, beta_2=0.99)
    opt.build(params)
    state = [v.value for v in opt.variables if "learning_rate" not in v.path]

    @tf.function
    def iterate(target):
        with tf.GradientTape() as tape:
            loss = huber(predict(params, t) - target)
            loss += 1e-4 * tf.add_n([tf.reduce_sum(p * p) for p in params])
        opt.apply_gradients(zip(tape.gradient(loss, params), params))
        return loss

    def fit_sensor(y):
        for p, v in zip(params, start_values()):
            p.assign(v)
        for s in state:
            s.assign(tf.zeros_like(s))
        for _ in range(ITERATIONS):
            loss = iterate(y)
        return float(loss), [p.numpy() for p in params]

    return fit_sensor


def main():
    t, rows = responses()
    t = tf.constant(t)
    t0 = time.time()
    losses, freqs = [], []
    fit_sensor = make_fitter(t)
    for i, y in enumerate(rows):
        loss, params = fit_sensor(tf.constant(y))
        losses.append(loss)
        freqs.append(params[2])
        if (i + 1) % 10 == 0:
            print(f"{i + 1}/{SENSORS} sensors, last loss {loss:.5f}, {time.time() - t0:.1f}s")
    print("median loss", round(float(np.median(losses)), 6))
    print("mean frequencies", np.mean(freqs, axis=0).round(4))


if __name__ == "__main__":
    main()
