"""Advantage actor-critic for a multi-item inventory problem (TF1 graph and session)."""
import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()

N_ITEMS, MAX_ORDER = 4, 8
STATE_DIM = 3 * N_ITEMS


class Inventory:
    def __init__(self, seed):
        self.rng = np.random.RandomState(seed)

    def reset(self):
        self.stock = np.full(N_ITEMS, 5.0)
        self.pipeline = np.zeros(N_ITEMS)
        self.demand = np.zeros(N_ITEMS)
        return self.observe()

    def observe(self):
        return np.concatenate([self.stock, self.pipeline, self.demand]) / 10.0

    def step(self, orders):
        self.stock = np.minimum(self.stock + self.pipeline, 20.0)
        self.pipeline = orders.astype(float)
        self.demand = self.rng.poisson(3.0 + np.arange(N_ITEMS) * 0.5)
        sales = np.minimum(self.stock, self.demand)
        self.stock = self.stock - sales
        reward = sales.sum() - 0.1 * self.stock.sum() - 0.5 * (self.demand - sales).sum()
        return self.observe(), reward / 10.0


class ActorCritic:
    def __init__(self, lr=1e-3):
        self.state = tf.placeholder(tf.float32, [None, STATE_DIM])
        self.action = tf.placeholder(tf.int32, [None, N_ITEMS])
        self.returns = tf.placeholder(tf.float32, [None])
        h = self.dense(self.state, STATE_DIM, 64, "h1", tf.nn.tanh)
        h = self.dense(h, 64, 64, "h2", tf.nn.tanh)
        logits = self.dense(h, 64, N_ITEMS * (MAX_ORDER + 1), "pi")
        self.logits = tf.reshape(logits, [-1, N_ITEMS, MAX_ORDER + 1])
        self.probs = tf.nn.softmax(self.logits)
        self.value = self.dense(h, 64, 1, "v")[:, 0]
        log_prob = -tf.nn.sparse_softmax_cross_entropy_with_logits(labels=self.action, logits=self.logits)
        advantage = self.returns - self.value
        entropy = -tf.reduce_sum(self.probs * tf.log(self.probs + 1e-8), axis=[1, 2])
        self.loss = (-tf.reduce_mean(tf.reduce_sum(log_prob, axis=1) * tf.stop_gradient(advantage))
                     + 0.5 * tf.reduce_mean(tf.square(advantage)) - 0.01 * tf.reduce_mean(entropy))
        self.train_op = tf.train.AdamOptimizer(lr).minimize(self.loss)

    @staticmethod
    def dense(x, n_in, n_out, name, activation=None):
        with tf.variable_scope(name):
            w = tf.get_variable("w", [n_in, n_out], initializer=tf.glorot_uniform_initializer(seed=17))
            b = tf.get_variable("b", [n_out], initializer=tf.zeros_initializer())
        y = tf.matmul(x, w) + b
        return activation(y) if activation else y


class Agent:
    def __init__(self, sess, net, seed):
        self.sess, self.net = sess, net
        self.rng = np.random.RandomState(seed)

    def act(self, state):
        probs, value = self.sess.run([self.net.probs[0], self.net.value[0]],
                                     feed_dict={self.net.state: state[None]})
        cdf = np.cumsum(probs, axis=1)
        u = self.rng.rand(N_ITEMS, 1) * cdf[:, -1:]
        return (cdf < u).sum(axis=1), value

    def train(self, states, actions, returns):
        loss, _ = self.sess.run([self.net.loss, self.net.train_op],
                                feed_dict={self.net.state: states, self.net.action: actions,
                                           self.net.returns: returns})
        return loss


def main(updates=10, horizon=16, gamma=0.97):
    tf.set_random_seed(1)
    env, net = Inventory(seed=2), ActorCritic()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        agent = Agent(sess, net, seed=3)
        state, totals = env.reset(), []
        for update in range(updates):
            states, actions, rewards = [], [], []
            for _ in range(horizon):
                action, _ = agent.act(state)
                states.append(state)
                actions.append(action)
                state, reward = env.step(action)
                rewards.append(reward)
            _, running = agent.act(state)
            returns = np.zeros(horizon)
            for i in reversed(range(horizon)):
                running = rewards[i] + gamma * running
                returns[i] = running
            loss = agent.train(np.array(states), np.array(actions), returns)
            totals.append(np.sum(rewards))
        print("mean return first 5: %.4f  last 5: %.4f  loss %.4f" % (
            np.mean(totals[:5]), np.mean(totals[-5:]), loss))


if __name__ == "__main__":
    main()
