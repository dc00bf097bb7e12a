"""Programs about numbers: masks, epsilons, casts, statistics, losses, preprocessing, pipelines and sizes.

Each holds a layer or a model whose arithmetic goes well in half precision or does not; what real Keras computes there,
on data that the program's author has chosen, says which.
"""
