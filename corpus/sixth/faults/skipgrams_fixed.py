"""word2vec with negative sampling, after the TensorFlow tutorial, on a made-up corpus."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

VOCAB, NUM_NS, SEED = 3000, 4, 42


def make_corpus(sentences=420, length=18):
    rng = np.random.default_rng(SEED)
    return np.minimum(rng.zipf(1.3, (sentences, length)), VOCAB - 1)


def generate_training_data(sequences, window_size, num_ns, vocab_size, seed):
    pairs = []
    for sequence in sequences:
        positive_skip_grams, _ = tf.keras.preprocessing.sequence.skipgrams(
            sequence, vocabulary_size=vocab_size, window_size=window_size, negative_samples=0
        )
        pairs.extend(positive_skip_grams)
    pairs = np.array(pairs)
    rng = np.random.default_rng(seed)
    log_uniform = np.exp(rng.random((len(pairs), num_ns)) * np.log(vocab_size + 1)).astype("int64") - 1
    contexts = np.concatenate([pairs[:, 1:], log_uniform], axis=1)
    labels = np.zeros_like(contexts)
    labels[:, 0] = 1
    return pairs[:, 0], contexts, labels


class Word2Vec(tf.keras.Model):
    def __init__(self, vocab_size, embedding_dim):
        super().__init__()
        self.target_embedding = layers.Embedding(vocab_size, embedding_dim)
        self.context_embedding = layers.Embedding(vocab_size, embedding_dim)

    def call(self, pair):
        target, context = pair
        word_emb = self.target_embedding(target)
        context_emb = self.context_embedding(context)
        return tf.einsum("be,bce->bc", word_emb, context_emb)


targets, contexts, labels = generate_training_data(make_corpus(), 2, NUM_NS, VOCAB, SEED)
dataset = tf.data.Dataset.from_tensor_slices(((targets, contexts), labels))
dataset = dataset.shuffle(10000).batch(1024, drop_remainder=True).cache().prefetch(tf.data.AUTOTUNE)
word2vec = Word2Vec(VOCAB, 64)
word2vec.compile(optimizer="adam", loss=tf.keras.losses.CategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
word2vec.fit(dataset, epochs=8, verbose=2)
