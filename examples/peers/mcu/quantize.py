"""Quantizes a network of MLPerf Tiny to int8, and writes it as .tflite and as .pt2 with equal integers.

Scales, zero points, weights and biases are computed once: per-channel weights, ranges of activations from data. A .tflite convolution
that strides over an even image pads behind the image, PyTorch's pads before it, so the .tflite file computes the mirror image: its
kernels are mirrored, and so is its input.
"""

import dataclasses
import operator

import numpy as np
import torch
import torchao.quantization.pt2e  # noqa: F401  registers the operators `quantized_decomposed`
from torch import Tensor, fx, nn
from torch.nn.utils.fusion import fuse_conv_bn_eval, fuse_linear_bn_eval

Q = torch.ops.quantized_decomposed


@dataclasses.dataclass
class Layer:
    """An operator with quantized operands: `kind` is the name of the builtin operator of TensorFlow Lite."""

    kind: str
    inputs: list
    relu: bool = False
    scale: float = 1.0
    zero: int = 0
    shape: tuple = ()
    weights: np.ndarray | None = None
    weight_scales: np.ndarray | None = None
    bias: np.ndarray | None = None
    window: dict = dataclasses.field(default_factory=dict)


def quantize(network: nn.Module, inputs: Tensor) -> dict[str, Layer]:
    """The layers by name, first to last; the first is the input."""
    graph = fx.symbolic_trace(fused(network))
    values = Recorder(graph).record(inputs)
    layers, names = {}, {}
    for node in graph.graph.nodes:
        if node.op == "placeholder":
            layers["input"] = Layer("INPUT", [])
            names[node], measured = "input", values[node]
        elif node.op == "output":
            break
        else:
            operands = [names[argument] for argument in node.args if isinstance(argument, fx.Node)]
            module = graph.get_submodule(node.target) if node.op == "call_module" else node.target
            measured = values[node]
            if isinstance(module, (nn.ReLU, type(torch.relu))) and "relu" in str(module).lower():
                names[node] = operands[0]
                layers[operands[0]].relu = True
            elif isinstance(module, nn.Identity):
                names[node] = operands[0]
                continue
            else:
                names[node] = node.name
                layers[node.name] = make(module, operands, layers, measured)
        finish(layers[names[node]], layers, measured)
    return layers


def make(module, operands: list, layers: dict, measured: Tensor) -> Layer:
    """The layer of a module or function; the scale of the result follows later, because a ReLU may."""
    if isinstance(module, nn.Conv2d):
        depthwise = module.groups > 1
        layer = Layer("DEPTHWISE_CONV_2D" if depthwise else "CONV_2D", operands)
        layer.window = {"stride": module.stride, "pad": module.padding, "groups": module.groups}
        return weighted(layer, module, layers[operands[0]].scale)
    if isinstance(module, nn.Linear):
        return weighted(Layer("FULLY_CONNECTED", operands), module, layers[operands[0]].scale)
    if isinstance(module, nn.AvgPool2d):
        return Layer("AVERAGE_POOL_2D", operands, window={"kernel": module.kernel_size})
    if isinstance(module, nn.Flatten):
        return Layer("RESHAPE", operands)
    if isinstance(module, nn.Softmax):
        return Layer("SOFTMAX", operands)
    if module in (operator.add, torch.add):
        return Layer("ADD", operands)
    raise ValueError(f"no layer for {module}")


def weighted(layer: Layer, module: nn.Module, scale: float) -> Layer:
    """Adds symmetric weights by output channel, and biases in steps of the sums."""
    weights = module.weight.detach().double().numpy()
    most = np.abs(weights).reshape(len(weights), -1).max(1)
    layer.weight_scales = np.float32(np.maximum(most, 1e-6) / 127)
    scales = layer.weight_scales.astype(np.float64).reshape(-1, *[1] * (weights.ndim - 1))
    layer.weights = np.clip(np.rint(weights / scales), -127, 127).astype(np.int8)
    bias = module.bias.detach().double().numpy() if module.bias is not None else np.zeros(len(weights))
    layer.bias = np.rint(bias / (scale * layer.weight_scales.astype(np.float64))).astype(np.int32)
    return layer


def finish(layer: Layer, layers: dict, measured: Tensor) -> None:
    """Chooses the scale of a result."""
    layer.shape = tuple(measured.shape[1:])
    if layer.kind in ("AVERAGE_POOL_2D", "RESHAPE"):
        source = layers[layer.inputs[0]]
        layer.scale, layer.zero = source.scale, source.zero
    elif layer.kind == "SOFTMAX":
        layer.scale, layer.zero = 1 / 256, -128
    else:
        low, high = min(float(measured.min()), 0.0), max(float(measured.max()), 0.0)
        layer.scale = float(np.float32((high - low) / 255))
        layer.zero = int(np.clip(np.rint(-128 - low / layer.scale), -128, 127))


class Recorder(fx.Interpreter):
    """Keeps every value."""

    def record(self, inputs: Tensor) -> dict:
        self.values = {}
        with torch.no_grad():
            self.run(inputs)
        return self.values

    def run_node(self, node):
        self.values[node] = super().run_node(node)
        return self.values[node]


def fused(module: nn.Module) -> nn.Module:
    """The network with every batch norm in the layer before."""
    before = None
    for name, child in list(module.named_children()):
        if isinstance(child, (nn.BatchNorm2d, nn.BatchNorm1d)):
            fuse = fuse_conv_bn_eval if isinstance(child, nn.BatchNorm2d) else fuse_linear_bn_eval
            setattr(module, before, fuse(getattr(module, before), child))
            setattr(module, name, nn.Identity())
        else:
            fused(child)
            before = name
    return module


class Quantized(nn.Module):
    """The layers in PyTorch: each dequantizes its operands and quantizes its result."""

    def __init__(self, layers: dict[str, Layer]) -> None:
        super().__init__()
        self.layers = layers
        for name, layer in layers.items():
            if layer.weights is not None:
                scales = torch.from_numpy(layer.weight_scales)
                bias = layer.bias * (layers[layer.inputs[0]].scale * layer.weight_scales.astype(np.float64))
                self.register_buffer(f"{name}_weights", torch.from_numpy(layer.weights))
                self.register_buffer(f"{name}_scales", scales)
                self.register_buffer(f"{name}_zeros", torch.zeros(len(scales), dtype=torch.int64))
                self.register_buffer(f"{name}_bias", torch.from_numpy(bias.astype(np.float32)))

    def forward(self, x: Tensor) -> Tensor:
        values = {"input": (x, self.layers["input"])}
        for name, layer in list(self.layers.items())[1:]:
            operands = [dequantized(*values[source]) for source in layer.inputs]
            result = self.apply(name, layer, *operands)
            result = torch.relu(result) if layer.relu else result
            values[name] = Q.quantize_per_tensor(result, layer.scale, layer.zero, -128, 127, torch.int8), layer
        return values[name][0]

    def apply(self, name: str, layer: Layer, x: Tensor, other: Tensor | None = None) -> Tensor:
        """The real result of a layer."""
        if layer.kind == "ADD":
            return x + other
        if layer.kind == "AVERAGE_POOL_2D":
            return nn.functional.avg_pool2d(x, layer.window["kernel"])
        if layer.kind == "RESHAPE":
            return x.flatten(1)
        if layer.kind == "SOFTMAX":
            return x.softmax(-1)
        weights, scales, zeros, bias = (getattr(self, f"{name}_{part}") for part in ("weights", "scales", "zeros", "bias"))
        weights = Q.dequantize_per_channel(weights, scales, zeros, 0, -127, 127, torch.int8)
        if layer.kind == "FULLY_CONNECTED":
            return nn.functional.linear(x, weights, bias)
        window = layer.window
        return nn.functional.conv2d(x, weights, bias, window["stride"], window["pad"], 1, window["groups"])


def dequantized(value: Tensor, layer: Layer) -> Tensor:
    """The real numbers of an int8 tensor."""
    return Q.dequantize_per_tensor(value, layer.scale, layer.zero, -128, 127, torch.int8)


def integers(inputs: Tensor, layer: Layer) -> Tensor:
    """The int8 tensor of a real input."""
    return Q.quantize_per_tensor(inputs, layer.scale, layer.zero, -128, 127, torch.int8)
