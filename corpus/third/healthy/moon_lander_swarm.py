"""Policy gradient with a thousand landers at once; the world is TensorFlow too, and one call is one update."""
import tensorflow as tf

LANDERS, HORIZON = 1024, 60


class Policy(tf.Module):
    def __init__(self, width=128):
        super().__init__()
        init = tf.keras.initializers.GlorotUniform(seed=1)
        self.a = tf.Variable(init([3, width]))
        self.b = tf.Variable(init([width, width]))
        self.c = tf.Variable(init([width, 2]))
        self.optimizer = tf.keras.optimizers.Adam(1e-3)

    def logits(self, state):
        return tf.tanh(tf.tanh(state @ self.a) @ self.b) @ self.c


@tf.function(autograph=False)
def fly(height, speed, fuel, burn):
    burn = tf.where(fuel > 0.0, burn, tf.zeros_like(burn))
    speed = speed - 0.05 + 0.12 * burn
    height = tf.maximum(height + speed, 0.0)
    return height, speed, fuel - burn


@tf.function
def update(policy, start):
    height, speed, fuel = start, tf.zeros([LANDERS]), tf.fill([LANDERS], 20.0)
    states = tf.TensorArray(tf.float32, HORIZON)
    burns = tf.TensorArray(tf.float32, HORIZON)
    for t in tf.range(HORIZON):
        state = tf.stack([height, speed, fuel * 0.1], 1)
        burn = tf.cast(tf.random.categorical(policy.logits(state), 1)[:, 0], tf.float32)
        states, burns = states.write(t, state), burns.write(t, burn)
        height, speed, fuel = fly(height, speed, fuel, burn)
    reward = -tf.abs(speed) - 0.1 * height
    edge = (reward - tf.reduce_mean(reward)) / (tf.math.reduce_std(reward) + 1e-6)
    with tf.GradientTape() as tape:
        logits = policy.logits(tf.reshape(states.stack(), [HORIZON * LANDERS, 3]))
        taken = tf.cast(tf.reshape(burns.stack(), [-1]), tf.int32)
        cost = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=taken, logits=logits)
        loss = tf.reduce_mean(tf.reshape(cost, [HORIZON, LANDERS]) * edge[None])
    weights = policy.trainable_variables
    policy.optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
    return tf.reduce_mean(reward)


if __name__ == "__main__":
    tf.random.set_seed(3)
    policy = Policy()
    for number in range(60):
        reward = update(policy, tf.random.uniform([LANDERS], 1.0, 3.0))
        if number % 20 == 0:
            print(f"update {number}: {float(reward):.3f}")
