# Segment big aerial pictures tile by tile (water / not water).
# The net comes from a colleague; here it gets fixed random weights so the
# script is self-contained. I only want the masks, no training.
import time
import numpy as np
import tensorflow as tf

# got "cannot compute Mul as input #1 was expected to be a float tensor but is a
# double tensor" in the normalisation, this cured it
tf.keras.backend.set_floatx("float64")

TILE = 128
N_SCENES = 5
SCENE = 768
L = tf.keras.layers


def block(x, f):
    x = L.Conv2D(f, 3, padding="same", use_bias=False)(x)
    x = L.BatchNormalization()(x)
    x = L.ReLU()(x)
    x = L.Conv2D(f, 3, padding="same", use_bias=False)(x)
    x = L.BatchNormalization()(x)
    return L.ReLU()(x)


def small_unet():
    inp = L.Input((TILE, TILE, 3))
    c1 = block(inp, 24)
    c2 = block(L.MaxPool2D()(c1), 48)
    c3 = block(L.MaxPool2D()(c2), 96)
    u2 = block(L.Concatenate()([L.UpSampling2D()(c3), c2]), 48)
    u1 = block(L.Concatenate()([L.UpSampling2D()(u2), c1]), 24)
    out = L.Conv2D(1, 1, activation="sigmoid")(u1)
    return tf.keras.Model(inp, out)


def fixed_weights(net, seed=77):
    rng = np.random.default_rng(seed)
    net.set_weights([
        rng.normal(0, np.sqrt(2 / np.prod(w.shape[:-1])), w.shape) if w.ndim == 4 else w
        for w in net.get_weights()])


def fake_scene(k):
    rng = np.random.default_rng(k)
    coarse = rng.random((12, 12, 3))
    up = np.kron(coarse, np.ones((SCENE // 12, SCENE // 12, 1)))
    return np.clip(up + rng.normal(0, 0.08, up.shape), 0, 1)


def to_tiles(scene):
    n = SCENE // TILE
    t = scene.reshape(n, TILE, n, TILE, 3).swapaxes(1, 2)
    return t.reshape(-1, TILE, TILE, 3)


def from_tiles(t):
    n = SCENE // TILE
    t = t.reshape(n, n, TILE, TILE).swapaxes(1, 2)
    return t.reshape(SCENE, SCENE)


MEAN = np.array([0.485, 0.456, 0.406])
STD = np.array([0.229, 0.224, 0.225])


def normalise(scene):
    return (scene - MEAN) / STD


net = small_unet()
fixed_weights(net)
print("parameters:", net.count_params())

total = 0.0
for k in range(N_SCENES):
    t0 = time.time()
    scene = normalise(fake_scene(k))
    prob = from_tiles(net.predict(to_tiles(scene), batch_size=12, verbose=0))
    mask = prob > np.median(prob)
    # simple clean-up statistics
    edges = np.sum(mask[1:] != mask[:-1]) + np.sum(mask[:, 1:] != mask[:, :-1])
    total += prob.mean()
    print(f"scene {k}: mean prob {prob.mean():.5f}, boundary {edges}, "
          f"{time.time() - t0:.1f} s", flush=True)
print("overall", round(total / N_SCENES, 4))
