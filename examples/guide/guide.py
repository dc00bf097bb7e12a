"""Digits with mixed precision, step by step as TensorFlow's guide to it goes: by `fit`, then by a loop of one's own."""

import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers, mixed_precision

# One policy for all layers from here on
policy = mixed_precision.Policy("mixed_float16")
mixed_precision.set_global_policy(policy)
print("computes in:", policy.compute_dtype)
print("keeps its variables in:", policy.variable_dtype)

inputs = keras.Input(shape=(784,), name="digits")
num_units = 4096 if tf.config.list_physical_devices("GPU") else 64
dense1 = layers.Dense(num_units, activation="relu", name="dense_1")
x = dense1(inputs)
dense2 = layers.Dense(num_units, activation="relu", name="dense_2")
x = dense2(x)

# What comes out is half, what is learnt is not
print(dense1.dtype_policy)
print("x.dtype:", x.dtype.name)
print("dense1.kernel.dtype:", dense1.kernel.dtype.name)

outputs = layers.Dense(10, activation="softmax", name="predictions")(x)
print("outputs.dtype:", outputs.dtype.name)

model = keras.Model(inputs=inputs, outputs=outputs)
model.compile(
    loss="sparse_categorical_crossentropy",
    optimizer=keras.optimizers.RMSprop(),
    metrics=["accuracy"],
)

(x_train, y_train), (x_test, y_test) = keras.datasets.mnist.load_data()
x_train = x_train.reshape(-1, 784).astype("float32") / 255
x_test = x_test.reshape(-1, 784).astype("float32") / 255
initial_weights = model.get_weights()

history = model.fit(x_train, y_train, batch_size=8192, epochs=5, validation_split=0.2)
test_scores = model.evaluate(x_test, y_test, verbose=2)
print("test loss:", test_scores[0])
print("test accuracy:", test_scores[1])

# The same from the start, in a loop of our own
optimizer = keras.optimizers.RMSprop()
optimizer = mixed_precision.LossScaleOptimizer(optimizer)

loss_object = tf.keras.losses.SparseCategoricalCrossentropy()
train_dataset = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(10000).batch(8192)
test_dataset = tf.data.Dataset.from_tensor_slices((x_test, y_test)).batch(8192)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        predictions = model(x)
        loss = loss_object(y, predictions)
        # small gradients would be lost in float16
        scaled_loss = optimizer.get_scaled_loss(loss)
    scaled_gradients = tape.gradient(scaled_loss, model.trainable_variables)
    gradients = optimizer.get_unscaled_gradients(scaled_gradients)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


@tf.function
def test_step(x):
    return model(x, training=False)


model.set_weights(initial_weights)

for epoch in range(5):
    epoch_loss_avg = tf.keras.metrics.Mean()
    test_accuracy = tf.keras.metrics.SparseCategoricalAccuracy(name="test_accuracy")
    for x, y in train_dataset:
        loss = train_step(x, y)
        epoch_loss_avg(loss)
    for x, y in test_dataset:
        predictions = test_step(x)
        test_accuracy.update_state(y, predictions)
    print(f"epoch {epoch}: loss={epoch_loss_avg.result()}, test accuracy={test_accuracy.result()}")
