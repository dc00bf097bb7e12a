"""How to call each function: which of its parameters take tensors, of what shapes, and what the others need.

As in `layer_recipes`, nothing here says what a function does.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

MODULES = (
    "keras.activations",
    "keras.backend",
    "keras.losses",
    "keras.metrics",
    "keras.ops",
    "keras.ops.image",
    "keras.random",
    "keras.utils",
    "tensorflow",
    "tensorflow.bitwise",
    "tensorflow.debugging",
    "tensorflow.dtypes",
    "tensorflow.image",
    "tensorflow.linalg",
    "tensorflow.math",
    "tensorflow.math.special",
    "tensorflow.nn",
    "tensorflow.random",
    "tensorflow.signal",
)
_NETWORKS = (
    "convnext densenet efficientnet efficientnet_v2 imagenet_utils inception_resnet_v2 inception_v3 mobilenet"
    " mobilenet_v2 mobilenet_v3 nasnet regnet resnet resnet_rs resnet_v2 vgg16 vgg19 xception"
).split()
PREPROCESSORS = tuple(f"keras.applications.{network}.preprocess_input" for network in _NETWORKS)
EXTRA = ("keras.Variable", "tensorflow.Variable", *PREPROCESSORS)
"""Classes that are measured as functions are, and functions of modules with others that are not."""
SKIPPED = frozenset(
    """
    Assert all_candidate_sampler array_to_img associative_scan audio_dataset_from_directory batch_function
    batch_get_value batch_set_value case clear_session cond constant_initializer control_dependencies
    create_rng_state ctc_beam_search_decoder ctc_decode ctc_greedy_decoder custom_gradient device
    disable_check_numerics disable_dump_debug_info disable_interactive_logging disable_traceback_filtering
    enable_check_numerics enable_dump_debug_info enable_interactive_logging enable_traceback_filtering eval
    executing_eagerly experimental_enable_numpy_behavior fixed_unigram_candidate_sampler foldl foldr fori_loop
    function get_file get_global_generator get_logger get_uid get_value grad_pass_through gradients group
    hessians image_dataset_from_directory img_to_array import_graph_def in_test_phase in_train_phase init_scope
    is_interactive_logging_enabled learned_unigram_candidate_sampler learning_phase learning_phase_scope
    linear_to_mel_weight_matrix load_img load_library load_op_library log_uniform_candidate_sampler make_ndarray
    make_tensor_proto manual_variable_initialization map map_fn model_to_dot nce_loss no_gradient no_op
    nondifferentiable_batch_function numpy_function pack_x_y_sample_weight plot_model print print_tensor
    py_function random_jpeg_quality recompute_grad register_keras_serializable
    register_tensor_conversion_function reset_uids rnn sampled_softmax_loss save_img scan seed set_epsilon
    set_floatx set_global_generator set_image_data_format set_learning_phase set_random_seed set_seed set_value
    split_dataset ssim_multiscale stateless_random_jpeg_quality sufficient_statistics switch switch_case
    text_dataset_from_directory timeseries_dataset_from_directory timestamp unpack_x_y_sample_weight
    variable_creator_scope vectorize vectorized_map warmstart_embedding_matrix while_loop
    """.split()
)
"""Functions that call their arguments, change the process, or do no arithmetic on tensors."""
_CHANGES_THE_PROCESS = ("set_", "enable_", "disable_", "register_", "reset_", "clear_")


def is_skipped(name: str) -> bool:
    """Whether the function of this name is never called: one setter would spoil all that is measured after it."""
    return name in SKIPPED or name.startswith(_CHANGES_THE_PROCESS)


@dataclass(frozen=True)
class Tensor:
    """A parameter that takes a tensor; `index` where it only selects and its dtype is not the values'."""

    shape: tuple[int, ...]
    dtype: str = "float32"
    index: bool = False


Call = Mapping[str, Any]
"""Parameter name ("*name" for the variable ones) -> Tensor, list of Tensors, or a plain value."""

IMAGES = Tensor((2, 8, 8, 3))
_KERNEL = {
    "1d": ((2, 8, 3), (2, 3, 4)),
    "2d": ((2, 8, 8, 3), (2, 2, 3, 4)),
    "3d": ((2, 8, 8, 8, 3), (2, 2, 2, 3, 4)),
}
_IDS = Tensor((4,), "int32", index=True)
_MASK = Tensor((4, 4), "bool", index=True)
_BATCH = Tensor((4, 4, 4))
_VEC = Tensor((4,))
_SCALAR = Tensor(())
_MAT = Tensor((4, 4))

INDEX_NAMES: dict[str, Tensor] = {
    "condition": _MASK,
    "group": _IDS,
    "ids": _IDS,
    "index": Tensor((), "int32", index=True),
    "indices": _IDS,
    "label_length": Tensor((4,), "int32", index=True),
    "lengths": _IDS,
    "mask": _MASK,
    "partitions": _IDS,
    "segment_ids": _IDS,
    "seq_lengths": _IDS,
}
VALUES: dict[str, tuple[Any, ...]] = {
    "N": (3,),
    "alpha": (1.0,),
    "axes": ([0], 1),
    "axis": (-1, 0),
    "axis1": (0,),
    "axis2": (1,),
    "block_shape": ([2, 2],),
    "block_size": (2,),
    "clip_norm": (1.0,),
    "data_format": ("channels_last", "NHWC"),
    "delta": (0.1,),
    "depth": (5,),
    "destination": (0,),
    "dims": ((4, 4),),
    "dtype": ("float32",),
    "epsilon": (0.001,),
    "fft_length": ([4],),
    "filter_shape": ((3, 3),),
    "frame_length": (4,),
    "frame_step": (2,),
    "height_factor": (2,),
    "indices_or_sections": (2,),
    "k": (1,),
    "ksize": (2,),
    "level": (0.5,),
    "lower": (0.1,),
    "max_delta": (0.1,),
    "max_val": (1.0,),
    "max_value": (1.0,),
    "maxval": (1.0,),
    "min_value": (0.1,),
    "minval": (0.0,),
    "multiples": ((1, 1),),
    "n": (2,),
    "newshape": ((2, 8), (16,)),
    "num": (4,),
    "num_classes": (5,),
    "num_or_size_splits": (2,),
    "num_results": (3,),
    "num_rows": (4,),
    "num_segments": (4,),
    "order": (1,),
    "padding": ("SAME", "valid"),
    "paddings": ([[1, 1], [1, 1]],),
    "pad_width": (1,),
    "pattern": ((1, 0),),
    "pool_size": ((2, 2), 2),
    "rate": (0.5,),
    "rep": (2,),
    "repeats": (2, (1, 1)),
    "seed": ((1, 2), 1),
    "sequence_length": (4,),
    "sequence_stride": (2,),
    "shape": ((4, 4), (2, 8), (4,)),
    "shift": (1,),
    "size": ((4, 4), 4),
    "source": (1,),
    "start_indices": ([0, 0],),
    "strides": (1, (1, 1), (1, 1, 1)),
    "type": ("float32",),
    "upper": (0.9,),
    "width_factor": (2,),
}
SHAPES = ((4, 4), (2, 8, 8, 3), (4,), (), (2, 4, 4), (4, 16), (2, 8, 8), (3,), (2, 8, 8, 8, 3), (8, 8, 3))

SPECIAL: dict[str, Call] = {
    "keras.backend.arange": {"start": _SCALAR},
    "keras.backend.constant": {"value": _MAT},
    "keras.backend.conv2d_transpose": {
        "x": IMAGES,
        "kernel": Tensor((2, 2, 4, 3)),
        "output_shape": (2, 8, 8, 4),
        "padding": "same",
    },
    "keras.backend.depthwise_conv2d": {"x": IMAGES, "depthwise_kernel": Tensor((2, 2, 3, 1))},
    "keras.backend.eye": {"size": 4},
    "keras.backend.separable_conv2d": {
        "x": IMAGES,
        "depthwise_kernel": Tensor((2, 2, 3, 1)),
        "pointwise_kernel": Tensor((1, 1, 3, 4)),
    },
    "keras.backend.squeeze": {"x": Tensor((1, 4)), "axis": 0},
    "keras.backend.variable": {"value": _MAT},
    "keras.losses.ctc": {"y_true": Tensor((4, 2), "int32", index=True), "y_pred": Tensor((4, 6, 5))},
    "keras.ops.adaptive_average_pool": {"inputs": IMAGES, "output_size": 2},
    "keras.ops.adaptive_max_pool": {"inputs": IMAGES, "output_size": 2},
    "keras.ops.depth_to_space": {"x": Tensor((2, 8, 8, 4)), "block_size": 2},
    "keras.ops.digitize": {"x": _VEC, "bins": [0.1, 0.5]},
    "keras.ops.fft": {"x": [_MAT, _MAT]},
    "keras.ops.fft2": {"x": [_MAT, _MAT]},
    "keras.ops.ifft2": {"x": [_MAT, _MAT]},
    "keras.ops.image.resize": {"images": IMAGES, "size": (4, 4)},
    "keras.ops.image.rgb_to_grayscale": {"images": IMAGES},
    "keras.ops.in_top_k": {"targets": _IDS, "predictions": _MAT, "k": 1},
    "keras.ops.irfft": {"x": [_MAT, _MAT]},
    "keras.ops.multi_hot": {"inputs": _IDS, "num_classes": 5},
    "keras.ops.stft": {"x": Tensor((16,)), "sequence_length": 4, "sequence_stride": 2, "fft_length": 4},
    "keras.ops.unfold": {"x": Tensor((2, 3, 8, 8)), "kernel_size": 2},
    "tensorflow.debugging.assert_all_finite": {"x": _MAT, "message": "m"},
    "tensorflow.debugging.check_numerics": {"tensor": _MAT, "message": "m"},
    "tensorflow.histogram_fixed_width": {"values": _MAT, "value_range": [0.0, 1.0]},
    "tensorflow.identity_n": {"input": [_MAT, _MAT]},
    "tensorflow.image.adjust_contrast": {"images": IMAGES, "contrast_factor": 1.5},
    "tensorflow.image.extract_patches": {
        "images": IMAGES,
        "sizes": [1, 2, 2, 1],
        "strides": [1, 2, 2, 1],
        "rates": [1, 1, 1, 1],
        "padding": "VALID",
    },
    "tensorflow.image.grayscale_to_rgb": {"images": Tensor((2, 8, 8, 1))},
    "tensorflow.image.non_max_suppression": {"boxes": _MAT, "scores": _VEC, "max_output_size": 2},
    "tensorflow.image.stateless_random_saturation": {"image": IMAGES, "lower": 0.1, "upper": 0.9, "seed": (1, 2)},
    "tensorflow.linalg.global_norm": {"t_list": [_MAT, _MAT]},
    "tensorflow.linalg.set_diag": {"input": _MAT, "diagonal": _VEC},
    "tensorflow.nn.atrous_conv2d": {"value": IMAGES, "filters": Tensor((2, 2, 3, 4)), "rate": 2, "padding": "SAME"},
    "tensorflow.nn.conv3d_transpose": {
        "input": Tensor((2, 8, 8, 8, 3)),
        "filters": Tensor((2, 2, 2, 4, 3)),
        "output_shape": (2, 8, 8, 8, 4),
        "strides": 1,
    },
    "tensorflow.nn.pool": {"input": IMAGES, "window_shape": (2, 2), "pooling_type": "MAX"},
    "tensorflow.nn.sigmoid_cross_entropy_with_logits": {"labels": _MAT, "logits": _MAT},
    "tensorflow.random.stateless_categorical": {"logits": _MAT, "num_samples": 2, "seed": (1, 2)},
    "tensorflow.reverse_sequence": {"input": _MAT, "seq_lengths": _IDS, "seq_axis": 1},
    "keras.Variable": {"initializer": _VEC},
    "keras.backend.batch_dot": {"x": _BATCH, "y": _BATCH},
    "keras.backend.batch_normalization": {"x": _MAT, "mean": _VEC, "var": _VEC, "beta": _VEC, "gamma": _VEC},
    "keras.backend.bias_add": {"x": _MAT, "bias": _VEC},
    "keras.backend.clip": {"x": _MAT, "min_value": 0.1, "max_value": 1.0},
    "keras.backend.in_top_k": {"predictions": _MAT, "targets": _IDS, "k": 1},
    "keras.backend.moving_average_update": {},
    "keras.backend.normalize_batch_in_training": {
        "x": _MAT,
        "gamma": _VEC,
        "beta": _VEC,
        "reduction_axes": [0],
    },
    "keras.backend.pool2d": {"x": IMAGES, "pool_size": (2, 2)},
    "keras.backend.pool3d": {"x": Tensor((2, 8, 8, 8, 3)), "pool_size": (2, 2, 2)},
    "keras.backend.pow": {"x": _MAT, "a": 2.0},
    "keras.backend.repeat": {"x": _MAT, "n": 2},
    "keras.backend.resize_images": {
        "x": IMAGES,
        "height_factor": 2,
        "width_factor": 2,
        "data_format": "channels_last",
    },
    "keras.backend.sparse_categorical_crossentropy": {"target": _IDS, "output": _MAT},
    "keras.backend.switch": {
        "condition": Tensor((), "bool", index=True),
        "then_expression": _MAT,
        "else_expression": _MAT,
    },
    "keras.losses.sparse_categorical_crossentropy": {"y_true": _IDS, "y_pred": _MAT},
    "keras.metrics.sparse_categorical_accuracy": {"y_true": _IDS, "y_pred": _MAT},
    "keras.metrics.sparse_top_k_categorical_accuracy": {"y_true": _IDS, "y_pred": _MAT},
    "keras.ops.arange": {"start": _SCALAR},
    "keras.ops.average_pool": {"inputs": IMAGES, "pool_size": 2},
    "keras.ops.batch_normalization": {"x": _MAT, "mean": _VEC, "variance": _VEC, "axis": -1},
    "keras.ops.clip": {"x": _MAT, "x_min": 0.1, "x_max": 1.0},
    "keras.ops.conv": {"inputs": IMAGES, "kernel": Tensor((2, 2, 3, 4))},
    "keras.ops.conv_transpose": {"inputs": IMAGES, "kernel": Tensor((2, 2, 4, 3)), "strides": 1},
    "keras.ops.convert_to_tensor": {"x": _MAT},
    "keras.ops.ctc_loss": {
        "target": Tensor((4, 2), "int32", index=True),
        "output": Tensor((4, 6, 5)),
        "target_length": _IDS,
        "output_length": _IDS,
    },
    "keras.ops.depthwise_conv": {"inputs": IMAGES, "kernel": Tensor((2, 2, 3, 1))},
    "keras.ops.dot_product_attention": {
        "query": Tensor((2, 4, 2, 4)),
        "key": Tensor((2, 4, 2, 4)),
        "value": Tensor((2, 4, 2, 4)),
    },
    "keras.ops.einsum": {"subscripts": "ab,bc->ac", "*operands": [_MAT, _MAT]},
    "keras.ops.max_pool": {"inputs": IMAGES, "pool_size": 2},
    "keras.ops.layer_normalization": {"x": _MAT, "gamma": _VEC, "beta": _VEC},
    "keras.ops.pad": {"x": _MAT, "pad_width": ((1, 1), (1, 1))},
    "keras.ops.rms_normalization": {"x": _MAT, "scale": _VEC},
    "keras.ops.rearrange": {"tensor": _MAT, "pattern": "a b -> b a"},
    "keras.ops.scatter": {"indices": Tensor((4, 1), "int32", index=True), "values": _VEC, "shape": (4,)},
    "keras.ops.scatter_update": {"inputs": _VEC, "indices": Tensor((4, 1), "int32", index=True), "updates": _VEC},
    "keras.ops.separable_conv": {
        "inputs": IMAGES,
        "depthwise_kernel": Tensor((2, 2, 3, 1)),
        "pointwise_kernel": Tensor((1, 1, 3, 4)),
    },
    "keras.ops.shape": {},
    "keras.ops.slice": {"inputs": _MAT, "start_indices": (0, 0), "shape": (2, 2)},
    "keras.ops.slice_update": {"inputs": _MAT, "start_indices": (0, 0), "updates": Tensor((2, 2))},
    "keras.ops.sparse_categorical_crossentropy": {"target": _IDS, "output": _MAT},
    "keras.ops.split": {"x": _MAT, "indices_or_sections": 2},
    "keras.ops.squeeze": {"x": Tensor((1, 4))},
    "keras.ops.take_along_axis": {"x": _MAT, "indices": Tensor((4, 4), "int32", index=True), "axis": 0},
    "keras.ops.threshold": {"x": _MAT, "threshold": 0.5, "default_value": 0.0},
    "keras.ops.where": {"condition": _MASK, "x1": _MAT, "x2": _MAT},
    "keras.random.categorical": {"logits": _MAT, "num_samples": 2},
    "keras.random.shuffle": {"x": _MAT},
    "keras.random.beta": {"shape": (4,), "alpha": 1.0, "beta": 1.0},
    "keras.random.binomial": {"shape": (4,), "counts": 2.0, "probabilities": 0.5},
    "keras.random.gamma": {"shape": (4,), "alpha": 1.0},
    "keras.random.randint": {"shape": (4,), "minval": 0, "maxval": 5},
    "keras.utils.normalize": {"x": _MAT},
    "keras.utils.to_categorical": {"x": Tensor((4,), "int32", index=True), "num_classes": 5},
    "tensorflow.Variable": {"initial_value": _VEC},
    "tensorflow.boolean_mask": {"tensor": _MAT, "mask": Tensor((4,), "bool", index=True)},
    "tensorflow.broadcast_to": {"input": _MAT, "shape": (4, 4)},
    "tensorflow.clip_by_global_norm": {"t_list": [_MAT, _MAT], "clip_norm": 1.0},
    "tensorflow.clip_by_value": {"t": _MAT, "clip_value_min": 0.1, "clip_value_max": 1.0},
    "tensorflow.constant": {"value": _MAT},
    "tensorflow.convert_to_tensor": {"value": _MAT},
    "tensorflow.einsum": {"equation": "ab,bc->ac", "*inputs": [_MAT, _MAT]},
    "tensorflow.fill": {"dims": (2, 2), "value": _SCALAR},
    "tensorflow.gather": {"params": _MAT, "indices": _IDS},
    "tensorflow.gather_nd": {"params": _MAT, "indices": Tensor((2, 1), "int32", index=True)},
    "tensorflow.image.adjust_gamma": {"image": IMAGES},
    "tensorflow.image.central_crop": {"image": IMAGES, "central_fraction": 0.5},
    "tensorflow.image.convert_image_dtype": {"image": IMAGES, "dtype": "float32"},
    "tensorflow.image.crop_and_resize": {
        "image": IMAGES,
        "boxes": Tensor((2, 4)),
        "box_indices": Tensor((2,), "int32", index=True),
        "crop_size": (4, 4),
    },
    "tensorflow.image.crop_to_bounding_box": {
        "image": IMAGES,
        "offset_height": 1,
        "offset_width": 1,
        "target_height": 4,
        "target_width": 4,
    },
    "tensorflow.image.pad_to_bounding_box": {
        "image": IMAGES,
        "offset_height": 1,
        "offset_width": 1,
        "target_height": 12,
        "target_width": 12,
    },
    "tensorflow.image.random_crop": {"value": IMAGES, "size": (2, 4, 4, 3)},
    "tensorflow.image.resize": {"images": IMAGES, "size": (4, 4)},
    "tensorflow.image.resize_with_crop_or_pad": {"image": IMAGES, "target_height": 4, "target_width": 4},
    "tensorflow.image.resize_with_pad": {"image": IMAGES, "target_height": 4, "target_width": 4},
    "tensorflow.image.ssim": {"img1": Tensor((1, 16, 16, 3)), "img2": Tensor((1, 16, 16, 3)), "max_val": 1.0},
    "tensorflow.image.psnr": {"a": IMAGES, "b": IMAGES, "max_val": 1.0},
    "tensorflow.image.total_variation": {"images": IMAGES},
    "tensorflow.linalg.band_part": {"input": _MAT, "num_lower": 0, "num_upper": -1},
    "tensorflow.linalg.matvec": {"a": _MAT, "b": _VEC},
    "tensorflow.linspace": {"start": _SCALAR, "stop": _SCALAR, "num": 4},
    "tensorflow.math.confusion_matrix": {
        "labels": _IDS,
        "predictions": _IDS,
        "num_classes": 4,
    },
    "tensorflow.math.in_top_k": {"targets": _IDS, "predictions": _MAT, "k": 1},
    "tensorflow.math.scalar_mul": {"scalar": _SCALAR, "x": _MAT},
    "tensorflow.math.top_k": {"input": _MAT, "k": 2},
    "tensorflow.meshgrid": {"*args": [_VEC, _VEC]},
    "tensorflow.nn.batch_norm_with_global_normalization": {},
    "tensorflow.nn.batch_normalization": {
        "x": _MAT,
        "mean": _VEC,
        "variance": _VEC,
        "offset": _VEC,
        "scale": _VEC,
        "variance_epsilon": 0.001,
    },
    "tensorflow.nn.bias_add": {"value": _MAT, "bias": _VEC},
    "tensorflow.nn.compute_average_loss": {"per_example_loss": _VEC, "global_batch_size": 4},
    "tensorflow.nn.conv1d_transpose": {
        "input": Tensor((2, 8, 3)),
        "filters": Tensor((2, 4, 3)),
        "output_shape": (2, 8, 4),
        "strides": 1,
    },
    "tensorflow.nn.conv2d_transpose": {
        "input": IMAGES,
        "filters": Tensor((2, 2, 4, 3)),
        "output_shape": (2, 8, 8, 4),
        "strides": 1,
    },
    "tensorflow.nn.ctc_loss": {
        "labels": Tensor((4, 2), "int32", index=True),
        "logits": Tensor((6, 4, 5)),
        "label_length": _IDS,
        "logit_length": _IDS,
    },
    "tensorflow.nn.depth_to_space": {"input": Tensor((2, 8, 8, 4)), "block_size": 2},
    "tensorflow.nn.depthwise_conv2d": {
        "input": IMAGES,
        "filter": Tensor((2, 2, 3, 1)),
        "strides": (1, 1, 1, 1),
        "padding": "SAME",
    },
    "tensorflow.nn.dropout": {"x": _MAT, "rate": 0.5},
    "tensorflow.nn.embedding_lookup": {"params": _MAT, "ids": _IDS},
    "tensorflow.nn.local_response_normalization": {"input": IMAGES},
    "tensorflow.nn.moments": {"x": _MAT, "axes": [0]},
    "tensorflow.nn.separable_conv2d": {
        "input": IMAGES,
        "depthwise_filter": Tensor((2, 2, 3, 1)),
        "pointwise_filter": Tensor((1, 1, 3, 4)),
        "strides": (1, 1, 1, 1),
        "padding": "SAME",
    },
    "tensorflow.nn.sparse_softmax_cross_entropy_with_logits": {"labels": _IDS, "logits": _MAT},
    "tensorflow.nn.weighted_cross_entropy_with_logits": {"labels": _MAT, "logits": _MAT, "pos_weight": 2.0},
    "tensorflow.one_hot": {"indices": _IDS, "depth": 5},
    "tensorflow.random.categorical": {"logits": _MAT, "num_samples": 2},
    "tensorflow.random.shuffle": {"value": _MAT},
    "tensorflow.random.stateless_uniform": {"shape": (4,), "seed": (1, 2)},
    "tensorflow.range": {"start": _SCALAR},
    "tensorflow.repeat": {"input": _MAT, "repeats": 2},
    "tensorflow.reverse": {"tensor": _MAT, "axis": [0]},
    "tensorflow.scatter_nd": {"indices": Tensor((4, 1), "int32", index=True), "updates": _VEC, "shape": (4,)},
    "tensorflow.sequence_mask": {"lengths": _IDS},
    "tensorflow.shape": {"input": _MAT},
    "tensorflow.signal.frame": {"signal": Tensor((16,)), "frame_length": 4, "frame_step": 2},
    "tensorflow.slice": {"input_": _MAT, "begin": [0, 0], "size": [2, 2]},
    "tensorflow.split": {"value": _MAT, "num_or_size_splits": 2},
    "tensorflow.squeeze": {"input": Tensor((1, 4))},
    "tensorflow.strided_slice": {"input_": _MAT, "begin": [0, 0], "end": [2, 2]},
    "tensorflow.tensor_scatter_nd_add": {
        "tensor": _VEC,
        "indices": Tensor((4, 1), "int32", index=True),
        "updates": _VEC,
    },
    "tensorflow.tensor_scatter_nd_update": {
        "tensor": _VEC,
        "indices": Tensor((4, 1), "int32", index=True),
        "updates": _VEC,
    },
    "tensorflow.tensordot": {"a": _MAT, "b": _MAT, "axes": 1},
    "tensorflow.where": {"condition": _MASK, "x": _MAT, "y": _MAT},
}
SPECIAL["tensorflow.nn.embedding_lookup_sparse"] = {}
SPECIAL.update({path: {"x": IMAGES} for path in PREPROCESSORS})
for _rank, (_x, _w) in _KERNEL.items():
    SPECIAL[f"keras.backend.conv{_rank}"] = {"x": Tensor(_x), "kernel": Tensor(_w)}
    SPECIAL[f"tensorflow.nn.conv{_rank}"] = {
        "input": Tensor(_x),
        "filters": Tensor(_w),
        "stride" if _rank == "1d" else "strides": 1 if _rank != "3d" else (1, 1, 1, 1, 1),
        "padding": "SAME",
    }
    for _pool in ("avg", "max"):
        SPECIAL[f"tensorflow.nn.{_pool}_pool{_rank}"] = {
            "input": Tensor(_x),
            "ksize": 2,
            "strides": 2,
            "padding": "SAME",
        }
for _scatter in ("max", "min", "sub"):
    SPECIAL[f"tensorflow.tensor_scatter_nd_{_scatter}"] = SPECIAL["tensorflow.tensor_scatter_nd_add"]
for _decode in ("bmp", "gif", "image", "jpeg", "jxl", "png", "webp"):
    SPECIAL[f"tensorflow.image.decode_{_decode}"] = {"contents": Tensor((), "string", index=True)}
SPECIAL["tensorflow.nn.convolution"] = {"input": IMAGES, "filters": Tensor((2, 2, 3, 4))}

LISTS = frozenset(
    "add_n accumulate_n concat concatenate column_stack dstack hstack parallel_stack shape_n stack tuple vstack".split()
)
"""Functions whose first parameter is a list of tensors."""


_SLOW = frozenset(
    """
    beta binomial ctc ctc_loss gamma geomspace linspace logspace nanmedian nanpercentile nanquantile percentile
    psnr quantile searchsorted ssim weighted_moments
    """.split()
)


def kinds_for(path: str) -> frozenset[str] | None:
    """The kinds of operands that are tried (see `atoms`) where trying all would take long; None for all."""
    module, _, last = path.rpartition(".")
    if last in _SLOW or last == "circle":
        return frozenset({"h", "b", "f", "i", "pF", "pI", "nf"})
    if module in ("keras.losses", "keras.metrics"):
        return frozenset({"h", "b", "f", "d", "i", "l", "?", "nf"})
    return None


def calls_for(path: str, function: Any) -> Iterator[dict[str, Any]]:
    """Ways to call the function at `path`, the likeliest first."""
    if path in SPECIAL:
        if SPECIAL[path]:
            yield dict(SPECIAL[path])
        return
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return
    required = [
        each.name
        for each in parameters
        if each.default is each.empty and each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)
    ]
    listed = path.rpartition(".")[2] in LISTS
    for dtype in ("float32", "int32", "bool", "complex64"):
        for shape in SHAPES if dtype == "float32" else SHAPES[:1]:
            for choice in range(3):
                call: dict[str, Any] = {}
                for place, name in enumerate(required):
                    if name in VALUES:
                        values = VALUES[name]
                        call[name] = values[min(choice, len(values) - 1)]
                    elif name in INDEX_NAMES:
                        call[name] = INDEX_NAMES[name]
                    elif listed and place == 0:
                        call[name] = [Tensor(shape, dtype), Tensor(shape, dtype)]
                    else:
                        call[name] = Tensor(shape, dtype)
                yield call
