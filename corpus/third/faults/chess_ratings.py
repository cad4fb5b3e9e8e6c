"""Estimate playing strength of club players from the results of their games."""
import time

import numpy as np
import tensorflow as tf

PLAYERS = 64
TRAITS = 6
GAMES = 4096
ROUNDS = 200


class Player(tf.Module):
    """What is known of one member of the club."""

    def __init__(self, start, name):
        super().__init__(name=name)
        self.traits = tf.Variable(start, name="traits")


class Club(tf.Module):
    def __init__(self, seed):
        super().__init__(name="club")
        rng = np.random.default_rng(seed)
        start = rng.normal(scale=0.1, size=(PLAYERS, TRAITS)).astype("float32")
        self.players = [Player(start[i], f"player_{i}") for i in range(PLAYERS)]
        self.form = tf.Variable(tf.ones([TRAITS]), name="form")

    def table(self):
        return tf.stack([player.traits for player in self.players])

    def odds(self, white, black):
        table = self.table()
        gap = tf.gather(table, white) - tf.gather(table, black)
        return tf.linalg.matvec(gap, self.form)


def season(seed):
    rng = np.random.default_rng(seed)
    strength = rng.normal(size=PLAYERS)
    white, black = rng.integers(0, PLAYERS, (2, ROUNDS, GAMES)).astype("int32")
    chance = 1.0 / (1.0 + np.exp(strength[black] - strength[white]))
    won = (rng.random((ROUNDS, GAMES)) < chance).astype("float32")
    return strength, white, black, won


club = Club(2)
optimizer = tf.keras.optimizers.Adam(0.02)


@tf.function
def learn(white, black, won):
    with tf.GradientTape() as tape:
        odds = club.odds(white, black)
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=won, logits=odds))
    variables = club.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss


def main():
    truth, white, black, won = season(8)
    began = time.perf_counter()
    for number in range(ROUNDS):
        loss = learn(tf.constant(white[number]), tf.constant(black[number]), tf.constant(won[number]))
        if number % 50 == 0:
            print(f"round {number}: loss {loss:.4f}")
    found = tf.linalg.matvec(club.table(), club.form).numpy()
    print(f"correlation {np.corrcoef(found, truth)[0, 1]:.3f} after {time.perf_counter() - began:.1f} s")


if __name__ == "__main__":
    main()
