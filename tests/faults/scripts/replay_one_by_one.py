import random

import numpy as np
from tensorflow.keras import Input, Sequential
from tensorflow.keras.layers import Dense
from tensorflow.keras.optimizers import Adam

GAMMA = 0.9


class Agent:
    def __init__(self, n_states, n_actions):
        self.memory = []
        self.model = Sequential(
            [
                Input((n_states,)),
                Dense(24, activation="relu"),
                Dense(24, activation="relu"),
                Dense(n_actions),
            ]
        )
        self.model.compile(loss="mse", optimizer=Adam(learning_rate=0.01))

    def remember(self, *transition):
        self.memory.append(transition)

    def replay(self, size):
        batch = random.sample(self.memory, size)
        for state, action, reward, following, done in batch:
            target = self.model.predict(state, verbose=0)  # FAULT
            target[0][action] = reward
            if not done:
                target[0][action] += GAMMA * np.amax(self.model.predict(following, verbose=0)[0])  # FAULT
            history = self.model.fit(state, target, epochs=1, verbose=0)  # FAULT
        return history.history["loss"][-1]


agent = Agent(6, 3)
rng = np.random.default_rng(0)
state = rng.normal(size=(1, 6))
for t in range(60):
    action = int(rng.integers(3))
    following = 0.9 * state + rng.normal(size=(1, 6)) * 0.1
    agent.remember(state, action, float(following[0, action]), following, t % 20 == 19)
    state = following
for update in range(6):
    print("update", update, "loss", agent.replay(8))  # FAULT

# /// fault
# style = "rl"
# kind = "time"
# cause = "Each transition of the replayed batch is predicted and fitted by itself"
# codes = ["EAG004", "EAG006"]
# families = ["eager"]
# source = "GitHub, tensorflow/tensorflow #35124 'Poor performance of model.fit and/or model.predict'; many DQN tutorials"
# ///
