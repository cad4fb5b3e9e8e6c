"""REINFORCE on a small landing game."""
import numpy as np
import tensorflow as tf

EPISODES = 32
HORIZON = 50


class Lander:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.height, self.speed, self.clock = 8.0 + self.rng.normal(), 0.0, 0
        return self.view()

    def view(self):
        return np.array([self.height / 10, self.speed, self.clock / HORIZON], "float32")

    def act(self, thrust):
        self.speed += 0.12 * thrust - 0.05
        self.height += self.speed
        self.clock += 1
        reward = -abs(self.height) * 0.05 - abs(self.speed) * 0.2
        return self.view(), reward, self.clock >= HORIZON


tf.keras.utils.set_random_seed(33)
policy = tf.keras.Sequential([
    tf.keras.layers.Input((3,)),
    tf.keras.layers.Dense(32, activation="tanh"),
    tf.keras.layers.Dense(2),
])
optimizer = tf.keras.optimizers.Adam(5e-3)
optimizer.build(policy.trainable_variables)
rng = np.random.default_rng(33)


@tf.function(input_signature=[tf.TensorSpec([1, 3], tf.float32)])
def action_probabilities(view):
    return tf.nn.softmax(policy(view))


@tf.function(reduce_retracing=True)
def update(views, actions, returns):
    with tf.GradientTape() as tape:
        logp = -tf.nn.sparse_softmax_cross_entropy_with_logits(labels=actions, logits=policy(views))
        loss = -tf.reduce_mean(logp * returns)
    grads = tape.gradient(loss, policy.trainable_variables)
    optimizer.apply_gradients(zip(grads, policy.trainable_variables))
    return loss


def discounted(rewards, gamma=0.98):
    rewards = tf.constant(rewards, tf.float32)
    returns = []
    for t in range(len(rewards)):
        total = tf.constant(0.0)
        for k in range(t, len(rewards)):
            total = total + tf.pow(gamma, float(k - t)) * rewards[k]
        returns.append(total)
    returns = tf.stack(returns)
    return (returns - tf.reduce_mean(returns)) / (tf.math.reduce_std(returns) + 1e-6)


def episode(game):
    views, actions, rewards = [], [], []
    view, done = game.reset(), False
    while not done:
        p = action_probabilities(tf.constant(view[None])).numpy()[0]
        action = int(rng.random() < p[1])
        views.append(view)
        actions.append(action)
        view, reward, done = game.act(action)
        rewards.append(reward)
    return np.stack(views), np.array(actions, "int32"), rewards


game = Lander(33)
scores = []
for number in range(EPISODES):
    views, actions, rewards = episode(game)
    loss = update(tf.constant(views), tf.constant(actions), discounted(rewards))
    scores.append(sum(rewards))
    if number % 20 == 0:
        print("episode", number, "score %.2f" % np.mean(scores[-20:]))
print("mean of last ten %.3f" % np.mean(scores[-10:]))
