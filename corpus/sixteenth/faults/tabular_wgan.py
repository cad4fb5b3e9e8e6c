# Synthesise sensor records with a Wasserstein GAN (gradient penalty).
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(11)

N, D, Z = 8192, 24, 16
BATCH = 128
N_CRITIC = 3
GEN_STEPS = 120
LAMBDA = 10.0

rng = np.random.default_rng(11)
mix = rng.normal(size=(6, D)).astype("float32")
records = np.tanh(rng.normal(size=(N, 6)).astype("float32") @ mix)
records += 0.05 * rng.normal(size=records.shape).astype("float32")

data = (
    tf.data.Dataset.from_tensor_slices(records)
    .shuffle(N, seed=1)
    .repeat()
    .batch(BATCH, drop_remainder=True)
    .batch(N_CRITIC)
    .prefetch(tf.data.AUTOTUNE)
)


def block(x, units):
    x = keras.layers.Dense(units)(x)
    x = keras.layers.LayerNormalization()(x)
    return keras.layers.LeakyReLU(negative_slope=0.2)(x)


z_in = keras.Input((Z,))
h = block(block(z_in, 96), 96)
generator = keras.Model(z_in, keras.layers.Dense(D, activation="tanh")(h))

x_in = keras.Input((D,))
h = block(block(x_in, 96), 96)
critic = keras.Model(x_in, keras.layers.Dense(1)(h))

g_opt = keras.optimizers.Adam(2e-4, beta_1=0.5, beta_2=0.9)
c_opt = keras.optimizers.Adam(2e-4, beta_1=0.5, beta_2=0.9)


def gradient_penalty(real, fake):
    alpha = tf.random.uniform((BATCH, 1))
    between = real + alpha * (fake - real)
    with tf.GradientTape() as tape:
        tape.watch(between)
        score = critic(between, training=True)
    grad = tape.gradient(score, between)
    norm = tf.sqrt(tf.reduce_sum(tf.square(grad), axis=1) + 1e-12)
    return tf.reduce_mean(tf.square(norm - 1.0))


def critic_step(real):
    noise = tf.random.normal((BATCH, Z))
    fake = generator(noise, training=True)
    with tf.GradientTape() as tape:
        gap = tf.reduce_mean(critic(fake, training=True)) - tf.reduce_mean(
            critic(real, training=True))
        loss = gap + LAMBDA * gradient_penalty(real, fake)
    grads = tape.gradient(loss, critic.trainable_variables)
    c_opt.apply_gradients(zip(grads, critic.trainable_variables))
    return gap


def generator_step():
    noise = tf.random.normal((BATCH, Z))
    with tf.GradientTape() as tape:
        loss = -tf.reduce_mean(critic(generator(noise, training=True), training=True))
    grads = tape.gradient(loss, generator.trainable_variables)
    g_opt.apply_gradients(zip(grads, generator.trainable_variables))
    return loss


def train_round(reals):
    gap = 0.0
    for i in range(N_CRITIC):
        gap = critic_step(reals[i])
    return gap, generator_step()


for step, reals in enumerate(data.take(GEN_STEPS), 1):
    gap, g_loss = train_round(reals)
    if step % 30 == 0:
        print(f"step {step:4d}  distance {-float(gap):.4f}  generator {float(g_loss):.4f}")

sample = generator.predict(np.random.normal(size=(2048, Z)).astype("float32"), batch_size=512, verbose=0)
print("mean abs column error %.4f" % np.abs(sample.mean(0) - records.mean(0)).mean())
