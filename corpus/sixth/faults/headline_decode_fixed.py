"""Greedy decoding of headlines from articles with a small encoder-decoder Transformer."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

VOCAB, ARTICLE, HEADLINE, DIM = 4000, 400, 24, 128


def encoder_block(x):
    a = layers.MultiHeadAttention(4, DIM // 4)(x, x)
    x = layers.LayerNormalization()(x + a)
    f = layers.Dense(4 * DIM, activation="relu")(x)
    return layers.LayerNormalization()(x + layers.Dense(DIM)(f))


def build():
    source = layers.Input((ARTICLE,), dtype="int32")
    x = layers.Embedding(VOCAB, DIM)(source)
    for _ in range(4):
        x = encoder_block(x)
    encoder = tf.keras.Model(source, x, name="encoder")

    prefix = layers.Input((HEADLINE,), dtype="int32")
    memory = layers.Input((ARTICLE, DIM))
    y = layers.Embedding(VOCAB, DIM)(prefix)
    y = layers.LayerNormalization()(y + layers.MultiHeadAttention(4, DIM // 4)(y, y, use_causal_mask=True))
    y = layers.LayerNormalization()(y + layers.MultiHeadAttention(4, DIM // 4)(y, memory))
    decoder = tf.keras.Model([prefix, memory], layers.Dense(VOCAB)(y), name="decoder")
    return encoder, decoder


encoder, decoder = build()


@tf.function
def encode(article):
    return encoder(article, training=False)


@tf.function
def next_token(memory, prefix, position):
    logits = decoder([prefix, memory], training=False)
    return tf.argmax(logits[:, position], axis=-1, output_type=tf.int32)


def headline(article):
    prefix = np.zeros((len(article), HEADLINE), "int32")
    prefix[:, 0] = 1
    memory = encode(article)
    for position in range(HEADLINE - 1):
        token = next_token(memory, tf.constant(prefix), tf.constant(position))
        prefix[:, position + 1] = token.numpy()
    return prefix


articles = np.random.default_rng(0).integers(3, VOCAB, (48, ARTICLE)).astype("int32")
for start in range(0, len(articles), 4):
    print(headline(tf.constant(articles[start : start + 4]))[0][:8])
