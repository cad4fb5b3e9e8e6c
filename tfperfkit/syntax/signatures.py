"""The parameters of TensorFlow functions that take whole numbers: sizes, shapes, axes, indices, counts.

Source: the signatures of TensorFlow 2.16 to 2.21; a test compares names and order with the installed version.
"""

from __future__ import annotations

import ast
from functools import lru_cache

#: One function per line, without "tensorflow.", then its parameters in order; "!" marks those that take whole numbers.
_SIGNATURES = """
one_hot indices! depth! on_value off_value axis!
range start! limit! delta!
zeros shape!
ones shape!
fill dims! value
eye num_rows! num_columns! batch_shape!
sequence_mask lengths! maxlen!
TensorArray dtype size!
gather params indices! validate_indices axis! batch_dims!
gather_nd params indices! batch_dims!
tile input multiples!
repeat input repeats! axis!
reshape tensor shape!
roll input shift! axis!
broadcast_to input shape!
concat values axis!
split value num_or_size_splits! axis! num!
stack values axis!
unstack value num! axis!
expand_dims input axis!
squeeze input axis!
transpose a perm!
slice input_ begin! size!
strided_slice input_ begin! end! strides!
pad tensor paddings!
reverse tensor axis!
reduce_sum input_tensor axis!
reduce_mean input_tensor axis!
reduce_max input_tensor axis!
reduce_min input_tensor axis!
reduce_prod input_tensor axis!
reduce_any input_tensor axis!
reduce_all input_tensor axis!
reduce_logsumexp input_tensor axis!
argmax input axis!
argmin input axis!
argsort values axis!
sort values axis!
cumsum x axis!
norm tensor ord axis!
boolean_mask tensor mask axis!
math.top_k input k!
nn.top_k input k!
math.cumsum x axis!
math.cumprod x axis!
math.argmax input axis!
math.argmin input axis!
math.reduce_sum input_tensor axis!
math.reduce_mean input_tensor axis!
math.reduce_max input_tensor axis!
math.reduce_std input_tensor axis!
math.reduce_variance input_tensor axis!
nn.softmax logits axis!
nn.log_softmax logits axis!
math.unsorted_segment_sum data segment_ids num_segments!
math.unsorted_segment_mean data segment_ids num_segments!
math.unsorted_segment_max data segment_ids num_segments!
math.bincount arr weights minlength! maxlength! dtype name axis!
linalg.band_part input num_lower! num_upper!
linalg.norm tensor ord axis!
random.normal shape! mean stddev dtype seed!
random.uniform shape! minval maxval dtype seed!
random.truncated_normal shape! mean stddev dtype seed!
random.shuffle value seed!
random.set_seed seed!
random.fold_in seed! data!
random.experimental.stateless_fold_in seed! data!
random.stateless_normal shape! seed!
random.stateless_uniform shape! seed!
random.Generator.from_seed seed!
image.resize images size!
image.crop_to_bounding_box image offset_height! offset_width! target_height! target_width!
image.random_crop value size! seed!
signal.frame signal frame_length! frame_step!
signal.stft signals frame_length! frame_step! fft_length!
nn.avg_pool2d input ksize! strides!
nn.max_pool2d input ksize! strides!
nn.depth_to_space input block_size!
nn.space_to_depth input block_size!
"""


@lru_cache(maxsize=1)
def signatures() -> dict[str, tuple[str, ...]]:
    """Return the table: the parameters in order, by the name that ``Syntax.name`` gives the function."""
    rows = (line.split() for line in _SIGNATURES.split("\n") if line)
    return {f"tensorflow.{name}": tuple(parameters) for name, *parameters in rows}


def takes_whole_number(name: str, call: ast.Call, given: ast.AST) -> bool:
    """Return whether a call of the function ``name`` takes its argument ``given`` as whole numbers; False for functions
    that are not in the table."""
    parameters = signatures().get(name, ())
    for index, item in enumerate(call.args[: len(parameters)]):
        if item is given:
            return parameters[index].endswith("!")
    word = next((word.arg for word in call.keywords if given in (word, word.value)), None)
    return f"{word}!" in parameters
