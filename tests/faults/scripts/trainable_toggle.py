import numpy as np
from tensorflow.keras import Input, Model, Sequential, layers

LATENT, BATCH = 10, 32
real = np.random.default_rng(1).normal(2.0, 0.3, (1000, 20)).astype("float32")

generator = Sequential([Input((LATENT,)), layers.Dense(32, activation="relu"), layers.Dense(20)])
discriminator = Sequential([Input((20,)), layers.Dense(32, activation="relu"), layers.Dense(1, activation="sigmoid")])
z = Input((LATENT,))
gan = Model(z, discriminator(generator(z)))
discriminator.compile("adam", "binary_crossentropy")
discriminator.trainable = False
gan.compile("adam", "binary_crossentropy")

for step in range(18):
    noise = np.random.normal(size=(BATCH, LATENT)).astype("float32")
    fake = np.array(generator(noise))
    chosen = real[np.random.randint(0, 1000, BATCH)]
    discriminator.trainable = True
    discriminator.compile("adam", "binary_crossentropy")  # FAULT
    x = np.concatenate([chosen, fake])
    y = np.concatenate([np.ones((BATCH, 1)), np.zeros((BATCH, 1))]).astype("float32")
    d_loss = discriminator.train_on_batch(x, y)  # FAULT
    discriminator.trainable = False
    gan.compile("adam", "binary_crossentropy")  # FAULT
    g_loss = gan.train_on_batch(noise, np.ones((BATCH, 1), "float32"))  # FAULT
    if step % 6 == 0:
        print(step, d_loss, g_loss)
print("done", d_loss, g_loss)

# /// fault
# style = "gan"
# kind = "time"
# cause = "The models are compiled again for every batch to freeze and thaw the discriminator"
# codes = ["RET014", "RET008"]
# families = ["retrace"]
# source = "Stack Overflow questions on discriminator.trainable and compile in Keras GANs; class 'confusion with the computation graph' of arXiv 2112.01771"
# note = "18 steps only: each costs about a second"
# renamed = true
# ///
