# # Autoencoder of gene expression
# notebook turned into a script

# In[1]:
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

tf.random.set_seed(5)

# In[2]: expression matrix, samples x genes
rng = np.random.default_rng(5)
factors = rng.normal(size=(3000, 12))
loadings = rng.normal(size=(12, 1600))
expression = np.log1p(np.exp(factors @ loadings + rng.normal(size=(3000, 1600))))
expression = (expression - expression.mean(0)) / expression.std(0)
print(expression.shape, expression.dtype)

# In[3]: keras complained about float64 input and float32 weights
expression = expression.astype("float32")

# In[4]:
inputs = layers.Input((1600,))
x = layers.Dense(768, activation="selu")(inputs)
x = layers.Dense(256, activation="selu")(x)
code = layers.Dense(16, name="code")(x)
x = layers.Dense(256, activation="selu")(code)
x = layers.Dense(768, activation="selu")(x)
outputs = layers.Dense(1600)(x)
model = keras.Model(inputs, outputs)
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="mse")

# In[5]:
history = model.fit(expression, expression, epochs=5, batch_size=256, verbose=2)

# In[6]:
print(round(float(history.history["loss"][-1]), 3))
