"""Stiffness map of a learned combustion mechanism: eigenvalues of the source-term Jacobian per state."""
import numpy as np
import tensorflow as tf

SPECIES, BATCH = 14, 96
tf.keras.utils.set_random_seed(31)


def build_mechanism():
    inputs = tf.keras.Input((SPECIES,))
    x = tf.keras.layers.Dense(96, activation="tanh")(inputs)
    for _ in range(2):
        y = tf.keras.layers.Dense(96, activation="swish")(x)
        x = tf.keras.layers.Add()([x, y])
    return tf.keras.Model(inputs, tf.keras.layers.Dense(SPECIES)(x))


mechanism = build_mechanism()


def source_term(state):
    temperature, composition = state[:, :1], state[:, 1:]
    rates = mechanism(state)
    arrhenius = tf.exp(-2.0 / (0.3 + tf.nn.softplus(temperature)))
    produced = arrhenius * rates[:, 1:] - 0.1 * composition
    heat = tf.reduce_sum(rates[:, 1:] * composition, axis=1, keepdims=True)
    return tf.concat([arrhenius * heat, produced], axis=1)


@tf.function
def linearize(state):
    with tf.GradientTape() as tape:
        tape.watch(state)
        omega = source_term(state)
    jacobian = tape.batch_jacobian(omega, state)
    return omega, jacobian


def states(n, seed):
    rng = np.random.default_rng(seed)
    temperature = rng.uniform(-1.0, 2.0, size=(n, 1))
    composition = rng.dirichlet(np.ones(SPECIES - 1), size=n)
    return np.concatenate([temperature, composition], axis=1).astype("float32")


def main(n=4800):
    data = tf.data.Dataset.from_tensor_slices(states(n, seed=2)).batch(BATCH, drop_remainder=True)
    slow, fast, norms = [], [], []
    for state in data:
        omega, jacobian = linearize(state)
        eig = np.linalg.eigvals(jacobian.numpy())
        fast.append(np.abs(eig.real).max(axis=1))
        slow.append(np.sort(np.abs(eig.real), axis=1)[:, 1])
        norms.append(np.linalg.norm(omega.numpy(), axis=1))
    ratio = np.concatenate(fast) / np.maximum(np.concatenate(slow), 1e-6)
    print("states %d  median stiffness %.3f  fastest rate %.4f  |omega| %.5f" % (
        len(ratio), np.median(ratio), np.concatenate(fast).max(), np.concatenate(norms).mean()))


if __name__ == "__main__":
    main()
