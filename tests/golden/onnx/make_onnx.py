#!/usr/bin/python3
"""make_onnx.py: the node tests of ONNX, for the ops that mptrain has, as plain arrays.

usage: make_onnx.py [FOLDER OF NODE TESTS]     writes *.npy and cases.txt beside this script

Reads Debian's libonnx-testdata with python3-onnx and NumPy. The tests of the program need neither:
they read what stands here. ONNX is Apache-2.0; see README.md.

cases.txt has a line for each node test of these operators:
    NAME OP ATTRS          run: NAME.x0.npy (and x1 ...), NAME.<param>.npy, NAME.y.npy
    NAME - REASON          left out
Images become (B,H,W,C), kernels (kernel_h,kernel_w,C/groups,filters).
"""
import glob
import os
import sys

import numpy as np
import onnx
from onnx import numpy_helper

HERE = os.path.dirname(os.path.abspath(__file__))
NODES = "/usr/share/libonnx-testdata/data/node"


class LeftOut(Exception):
    pass


def only(condition, reason):
    if not condition:
        raise LeftOut(reason)


def to_nhwc(x):
    return np.moveaxis(x, 1, -1)


def attributes(node):
    return {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}


def pads(a, x, kernel, strides, dilations, out=None):
    """Explicit [top, left, bottom, right]."""
    auto = a.get("auto_pad", b"NOTSET").decode()
    if auto in ("NOTSET", "VALID"):
        return list(a.get("pads", [0, 0, 0, 0])) if auto == "NOTSET" else [0, 0, 0, 0]
    before, after = [], []
    for i in range(2):
        size, span = x.shape[2 + i], (kernel[i] - 1) * dilations[i] + 1
        total = max((-(-size // strides[i]) - 1) * strides[i] + span - size, 0)
        small = total // 2
        before.append(small if auto == "SAME_UPPER" else total - small)
        after.append(total - before[-1])
    return before + after


def window(a, x, kernel):
    strides = list(a.get("strides", [1, 1]))
    dilations = list(a.get("dilations", [1, 1]))
    return strides, dilations, pads(a, x, kernel, strides, dilations)


def conv(a, ins, y):
    x, w = ins[:2]
    only(x.ndim == 4, "images in two dimensions only")
    kernel = list(w.shape[2:])
    s, dil, p = window(a, x, kernel)
    text = (f"{{filters: {w.shape[0]}, kernel: {kernel}, stride: {s}, dilation: {dil}, "
            f"padding: {p}, groups: {a.get('group', 1)}, bias: {str(len(ins) > 2).lower()}}}")
    arrays = {"x0": to_nhwc(x), "weight": w.transpose(2, 3, 1, 0), "y": to_nhwc(y)}
    if len(ins) > 2:
        arrays["bias"] = ins[2]
    return "conv2d", text, arrays


def conv_transpose(a, ins, y):
    x, w = ins[:2]
    only(x.ndim == 4, "images in two dimensions only")
    kernel, s = list(w.shape[2:]), list(a.get("strides", [1, 1]))
    dil, extra = list(a.get("dilations", [1, 1])), list(a.get("output_padding", [0, 0]))
    only("output_shape" not in a and "auto_pad" not in a, "padding from a wanted output shape")
    p = list(a.get("pads", [0, 0, 0, 0]))
    text = (f"{{filters: {w.shape[1] * a.get('group', 1)}, kernel: {kernel}, stride: {s}, "
            f"dilation: {dil}, padding: {p}, output_padding: {extra}, bias: false}}")
    return "conv_transpose2d", text, {"x0": to_nhwc(x), "weight": w.transpose(2, 3, 1, 0),
                                      "y": to_nhwc(y)}


def pool(op):
    def convert(a, ins, y):
        x = ins[0]
        only(x.ndim == 4, "images in two dimensions only")
        only(x.dtype == np.float32, "float32 only")
        only(not a.get("ceil_mode", 0), "the number of windows is rounded down only")
        only(not isinstance(y, list) or len(y) == 1, "gives no indices")
        kernel = list(a["kernel_shape"])
        s, dil, p = window(a, x, kernel)
        text = f"{{kernel: {kernel}, stride: {s}, padding: {p}"
        if op == "max_pool2d":
            text += f", dilation: {dil}}}"
        else:
            text += f", count_padding: {str(bool(a.get('count_include_pad', 0))).lower()}}}"
        return op, text, {"x0": to_nhwc(x), "y": to_nhwc(y)}
    return convert


def global_average(a, ins, y):
    return "global_avg_pool", "{}", {"x0": to_nhwc(ins[0]), "y": y.reshape(y.shape[:2])}


def batchnorm(a, ins, y):
    only(not a.get("training_mode", 0), "its running variance is the biased one")
    x, scale, bias, mean, var = ins
    return "batchnorm", f"{{eps: {a.get('epsilon', 1e-5):.9g}}}", {
        "x0": to_nhwc(x), "weight": scale, "bias": bias, "running_mean": mean,
        "running_var": var, "y": to_nhwc(y)}


def instancenorm(a, ins, y):
    x, scale, bias = ins
    return "groupnorm", f"{{groups: {x.shape[1]}, eps: {a.get('epsilon', 1e-5):.9g}}}", {
        "x0": to_nhwc(x), "weight": scale, "bias": bias, "y": to_nhwc(y)}


def layernorm(a, ins, y):
    x, scale, bias = ins
    axis = a.get("axis", -1)
    only(axis in (-1, x.ndim - 1), "normalises the last dimension only")
    return "layernorm", f"{{eps: {a.get('epsilon', 1e-5):.9g}}}", {
        "x0": x, "weight": scale, "bias": bias, "y": y}


def gemm(a, ins, y):
    only(not a.get("transA", 0), "rows of the batch stay rows")
    only(a.get("alpha", 1.0) == 1.0 and a.get("beta", 1.0) == 1.0, "no factors")
    w = ins[1] if a.get("transB", 0) else ins[1].T
    arrays = {"x0": ins[0], "weight": w, "y": y}
    if len(ins) > 2:
        c = ins[2]
        only(c.size in (1, y.shape[1]) and (c.ndim < 2 or c.shape[0] == 1),
             "the bias is a vector, one number for each output")
        arrays["bias"] = np.broadcast_to(c.reshape(-1), (y.shape[1],))
    return "linear", f"{{units: {y.shape[1]}, bias: {str(len(ins) > 2).lower()}}}", arrays


def elementwise(op, attrs=lambda a: "{}"):
    def convert(a, ins, y):
        only(all(x.dtype == np.float32 for x in ins), "float32 only")
        column = (lambda x: x.reshape(-1, 1)) if ins[0].ndim < 2 else (lambda x: x)
        return op, attrs(a), {"x0": column(ins[0]), "y": column(y)}
    return convert


def softmax(a, ins, y):
    only(a.get("axis", -1) in (-1, ins[0].ndim - 1), "the last dimension only")
    return "softmax", "{}", {"x0": ins[0], "y": y}


def add(a, ins, y):
    only(ins[0].shape == ins[1].shape, "shapes must be equal")
    only(ins[0].dtype == np.float32, "float32 only")
    return "add", "{}", {"x0": ins[0], "x1": ins[1], "y": y}


def concat(a, ins, y):
    only(y.ndim > 1 and a["axis"] in (-1, y.ndim - 1), "the last dimension only")
    return "concat", "{}", {**{f"x{i}": x for i, x in enumerate(ins)}, "y": y}


def flatten(a, ins, y):
    axis = a.get("axis", 1)
    only(axis in (1, 1 - ins[0].ndim), "the batch stays by itself")
    return "flatten", "{}", {"x0": ins[0], "y": y}


def dropout(a, ins, y):
    only(len(ins) < 3 or not ins[2], "random masks differ")
    return "dropout", "{}", {"x0": ins[0], "y": y}


def resize(a, ins, y):
    scales = ins[-1]
    only(a.get("mode", b"nearest") == b"nearest" and scales.dtype == np.float32 and
         scales.size == 4 and scales[2] == scales[3] == int(scales[2]), "one whole factor for height and width, nearest, only")
    return "upsample", f"{{scale: {int(scales[2])}}}", {"x0": to_nhwc(ins[0]), "y": to_nhwc(y)}


CONVERT = {
    "Conv": conv, "ConvTranspose": conv_transpose, "MaxPool": pool("max_pool2d"),
    "AveragePool": pool("avg_pool2d"), "GlobalAveragePool": global_average,
    "BatchNormalization": batchnorm, "InstanceNormalization": instancenorm,
    "LayerNormalization": layernorm, "Gemm": gemm, "Add": add, "Concat": concat,
    "Softmax": softmax, "Flatten": flatten, "Dropout": dropout, "Resize": resize, "Upsample": resize,
    "Relu": elementwise("relu"), "Sigmoid": elementwise("sigmoid"), "Tanh": elementwise("tanh"),
    "LeakyRelu": elementwise("leaky_relu", lambda a: f"{{slope: {a.get('alpha', 0.01):.9g}}}"),
}


def load(path):
    tensor = onnx.TensorProto()
    with open(path, "rb") as f:
        tensor.ParseFromString(f.read())
    return numpy_helper.to_array(tensor)


def main():
    nodes = sys.argv[1] if len(sys.argv) > 1 else NODES
    for old in glob.glob(f"{HERE}/*.npy"):
        os.remove(old)
    lines = []
    for folder in sorted(glob.glob(f"{nodes}/test_*")):
        model = onnx.load(f"{folder}/model.onnx")
        if len(model.graph.node) != 1 or model.graph.node[0].op_type not in CONVERT:
            continue
        name, node = os.path.basename(folder)[5:], model.graph.node[0]
        data = f"{folder}/test_data_set_0"
        ins = [load(f"{data}/input_{i}.pb") for i in range(len(glob.glob(f"{data}/input_*.pb")))]
        y = load(f"{data}/output_0.pb")
        try:
            op, attrs, arrays = CONVERT[node.op_type](attributes(node), ins, y)
        except LeftOut as reason:
            lines.append(f"{name} - {reason}")
            continue
        lines.append(f"{name} {op} {attrs}")
        for key, x in arrays.items():
            np.save(f"{HERE}/{name}.{key}.npy", np.ascontiguousarray(x, dtype=np.float32))
    with open(f"{HERE}/cases.txt", "w") as f:
        f.write("\n".join(lines) + "\n")


main()
