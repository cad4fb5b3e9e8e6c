"""Score syllable transcripts of bird calls: acoustic net, best-path decoding, error rate."""
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

SYLLABLES = 32
BLANK = 0
CALLS = 240
FRAMES = 260
MELS = 40


def make_calls(seed=9):
    rng = np.random.default_rng(seed)
    templates = rng.standard_normal((SYLLABLES, MELS)).astype("float32")
    feats = np.empty((CALLS, FRAMES, MELS), "float32")
    texts = []
    for c in range(CALLS):
        text, t = [], 0
        while t < FRAMES:
            s = int(rng.integers(1, SYLLABLES))
            n, gap = int(rng.integers(5, 14)), int(rng.integers(1, 5))
            feats[c, t:t + n] = templates[s]
            feats[c, t + n:t + n + gap] = templates[BLANK]
            text.append(s)
            t += n + gap
        feats[c] += 0.6 * rng.standard_normal((FRAMES, MELS)).astype("float32")
        texts.append(text)
    return templates, feats, texts


def acoustic_net(templates):
    inp = tf.keras.Input((FRAMES, MELS))
    smooth = layers.AveragePooling1D(3, strides=1, padding="same")(inp)
    out = layers.Dense(SYLLABLES, name="emit")(smooth)
    net = tf.keras.Model(inp, out)
    net.get_layer("emit").set_weights([templates.T, -0.5 * (templates ** 2).sum(1)])
    return net


def best_path(logits):
    ids = tf.argmax(logits, axis=-1)
    score = tf.reduce_max(tf.nn.log_softmax(logits), axis=-1)
    transcripts, confidences = [], []
    for b in range(ids.shape[0]):
        previous = BLANK
        text, conf = [], []
        for t in range(ids.shape[1]):
            k = ids[b, t]
            if k != previous and k != BLANK:
                text.append(int(k))
                conf.append(float(score[b, t]))
            previous = k
        transcripts.append(text)
        confidences.append(np.exp(np.mean(conf)) if conf else 0.0)
    return transcripts, confidences


def edit_distance(a, b):
    row = np.arange(len(b) + 1)
    b = np.asarray(b)
    for i, x in enumerate(a, 1):
        sub = row[:-1] + (b != x)
        new = np.empty_like(row)
        new[0] = i
        new[1:] = np.minimum(sub, row[1:] + 1)
        new = np.minimum.accumulate(new - np.arange(len(new))) + np.arange(len(new))
        row = new
    return int(row[-1])


def main():
    templates, feats, texts = make_calls()
    net = acoustic_net(templates)
    wrong = total = 0
    confidence = []
    for lo in range(0, CALLS, 20):
        logits = net(feats[lo:lo + 20], training=False)
        hyps, conf = best_path(logits)
        confidence += conf
        for hyp, ref in zip(hyps, texts[lo:lo + 20]):
            wrong += edit_distance(ref, hyp)
            total += len(ref)
    print(f"syllable error rate {wrong / total:.4f} over {total} syllables, "
          f"mean confidence {np.mean(confidence):.4f}")


if __name__ == "__main__":
    main()
