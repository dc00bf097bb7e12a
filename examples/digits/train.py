"""Train a model that reads digits: `python train.py`."""

from tensorflow import keras

import digits
import model
import precision


def main():
    """Build, train and test."""
    precision.use_half_precision()

    reader = model.build(digits.SIDE)
    reader.compile(
        optimizer=keras.optimizers.Adam(1e-3),
        loss={"digit": "sparse_categorical_crossentropy", "slant": "mean_squared_error"},
        loss_weights={"digit": 1.0, "slant": 0.1},
        metrics={"digit": ["accuracy"], "slant": ["mean_absolute_error"]},
    )

    pictures, digit, slant = digits.load(4096)
    reader.fit(pictures, {"digit": digit, "slant": slant}, batch_size=64, epochs=5, verbose=2)

    pictures, digit, slant = digits.load(1024, seed=1)
    scores = reader.evaluate(pictures, {"digit": digit, "slant": slant}, verbose=0, return_dict=True)
    print("right digits:", round(scores["digit_accuracy"], 3))
    print("slant off by:", round(scores["slant_mean_absolute_error"], 3), "pixels")
    for name, answer in zip(("digit", "slant"), reader.predict(pictures, verbose=0)):
        print(name, "comes as", answer.dtype)


if __name__ == "__main__":
    main()
