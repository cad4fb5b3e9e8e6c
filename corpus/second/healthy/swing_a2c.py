"""Actor-critic on a swarm of pendulums, rollout and update compiled."""
import numpy as np
import tensorflow as tf

ENVS, HORIZON, GAMMA = 1024, 32, 0.97


class Agent(tf.Module):
    def __init__(self):
        super().__init__()
        self.body = tf.keras.Sequential([
            tf.keras.layers.Input((3,)),
            tf.keras.layers.Dense(128, activation="tanh"),
            tf.keras.layers.Dense(128, activation="tanh"),
            tf.keras.layers.Dense(4),
        ])
        self.optimizer = tf.keras.optimizers.Adam(7e-4)
        self.optimizer.build(self.body.trainable_variables)

    @staticmethod
    def view(angle, speed):
        return tf.stack([tf.cos(angle), tf.sin(angle), speed / 8.0], axis=1)

    @tf.function
    def improve(self, angle, speed, seed):
        views = tf.TensorArray(tf.float32, HORIZON)
        actions = tf.TensorArray(tf.int32, HORIZON)
        rewards = tf.TensorArray(tf.float32, HORIZON)
        for t in tf.range(HORIZON):
            now = self.view(angle, speed)
            logits = self.body(now)[:, :3]
            action = tf.random.stateless_categorical(logits, 1, seed + t, dtype=tf.int32)[:, 0]
            torque = 2.0 * tf.cast(action - 1, tf.float32)
            speed = tf.clip_by_value(speed + 0.05 * (15.0 * tf.sin(angle) + 3.0 * torque), -8.0, 8.0)
            angle += 0.05 * speed
            views = views.write(t, now)
            actions = actions.write(t, action)
            rewards = rewards.write(t, tf.cos(angle) - 0.01 * speed ** 2)
        rewards = rewards.stack()
        last = self.body(self.view(angle, speed))[:, 3]
        returns = tf.scan(lambda g, r: r + GAMMA * g, rewards, last, reverse=True)
        flat = tf.reshape(views.stack(), [-1, 3])
        chosen = tf.reshape(actions.stack(), [-1])
        target = tf.reshape(returns, [-1])
        with tf.GradientTape() as tape:
            out = self.body(flat)
            gain = tf.stop_gradient(target - out[:, 3])
            cost = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=chosen, logits=out[:, :3])
            loss = tf.reduce_mean(cost * gain) + 0.5 * tf.reduce_mean((target - out[:, 3]) ** 2)
        grads = tape.gradient(loss, self.body.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.body.trainable_variables))
        return angle, speed, tf.reduce_mean(rewards)


def main():
    tf.keras.utils.set_random_seed(70)
    rng = np.random.default_rng(70)
    angle = tf.constant(rng.uniform(-np.pi, np.pi, ENVS), tf.float32)
    speed = tf.zeros([ENVS])
    agent = Agent()
    for update in range(100):
        angle, speed, score = agent.improve(angle, speed, tf.constant([update * 100, 5]))
        if update % 20 == 0:
            print("update", update, "reward %.4f" % float(score))


if __name__ == "__main__":
    main()
