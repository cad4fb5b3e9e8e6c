"""Speaker embeddings with a softmax head, then enrolment/retrieval evaluation (EER and rank-1)."""
import argparse
import time

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers


def utterances(n_speakers, per_speaker, frames, mels, rng):
    timbre = rng.normal(0, 1, (n_speakers, 1, 1, mels))
    rate = rng.uniform(0.5, 3, (n_speakers, 1, 1, 1))
    t = np.arange(frames)[None, None, :, None]
    x = timbre + 0.5 * np.sin(t * rate * 0.3) + rng.normal(0, 1.5, (n_speakers, per_speaker, frames, mels))
    return x.astype("float32")


def embedder(frames, mels, dim, n_speakers):
    inp = keras.Input((frames, mels))
    x = layers.Conv1D(48, 5, strides=2, activation="relu")(inp)
    x = layers.Conv1D(48, 3, activation="relu")(x)
    x = layers.GlobalAveragePooling1D()(x)
    emb = layers.Dense(dim, name="embedding")(x)
    out = layers.Dense(n_speakers)(layers.ReLU()(emb))
    return keras.Model(inp, out), keras.Model(inp, emb)


def score_trials(embeddings, speakers):
    """Cosine score of every pair of utterances (upper triangle)."""
    normed = tf.math.l2_normalize(embeddings, axis=1)
    i, j = np.triu_indices(len(speakers), k=1)
    scores = tf.matmul(normed, normed, transpose_b=True).numpy()[i, j]
    return scores, speakers[i] == speakers[j]


def equal_error_rate(scores, same):
    order = np.argsort(scores)
    same = same[order]
    fnr = np.cumsum(same) / same.sum()
    fpr = 1 - np.cumsum(~same) / (~same).sum()
    k = np.argmin(np.abs(fnr - fpr))
    return (fnr[k] + fpr[k]) / 2, scores[order][k]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--speakers", type=int, default=40)
    ap.add_argument("--per-speaker", type=int, default=24)
    ap.add_argument("--eval-speakers", type=int, default=30)
    ap.add_argument("--eval-per-speaker", type=int, default=7)
    ap.add_argument("--frames", type=int, default=64)
    ap.add_argument("--mels", type=int, default=24)
    ap.add_argument("--epochs", type=int, default=4)
    args = ap.parse_args()
    keras.utils.set_random_seed(44)
    rng = np.random.default_rng(44)
    x = utterances(args.speakers, args.per_speaker, args.frames, args.mels, rng)
    y = np.repeat(np.arange(args.speakers), args.per_speaker)
    model, extractor = embedder(args.frames, args.mels, 64, args.speakers)
    model.compile(optimizer=keras.optimizers.Adam(2e-3), metrics=["accuracy"],
                  loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    x = x.reshape(-1, args.frames, args.mels)
    hist = model.fit(x, y, batch_size=32, epochs=args.epochs, verbose=0)
    print("train accuracy", [round(a, 3) for a in hist.history["accuracy"]])

    ev = utterances(args.eval_speakers, args.eval_per_speaker, args.frames, args.mels, rng)
    emb = extractor.predict(ev.reshape(-1, args.frames, args.mels), batch_size=256, verbose=0)
    speakers = np.repeat(np.arange(args.eval_speakers), args.eval_per_speaker)
    t0 = time.time()
    scores, same = score_trials(tf.constant(emb), speakers)
    eer, threshold = equal_error_rate(scores, same)
    print(f"{len(scores)} trials in {time.time() - t0:.1f}s: EER {100 * eer:.2f}% at {threshold:.3f}")


if __name__ == "__main__":
    main()
