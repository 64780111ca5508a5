"""Writes layers as a .tflite file, with the schema's Python classes from TensorFlow Lite Micro's sources."""

import importlib.util
import pathlib

import flatbuffers
import numpy as np

VERSIONS = {"CONV_2D": 3, "DEPTHWISE_CONV_2D": 3, "FULLY_CONNECTED": 4, "ADD": 2, "AVERAGE_POOL_2D": 2, "SOFTMAX": 2}


def schema(root: pathlib.Path):
    """The module with the schema's classes."""
    path = root / "tflite-micro/tensorflow/lite/python/schema_py_generated.py"
    spec = importlib.util.spec_from_file_location("schema", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Writer:
    """A model under construction."""

    def __init__(self, root: pathlib.Path) -> None:
        self.s = schema(root)
        self.model, self.graph = self.s.ModelT(), self.s.SubGraphT()
        self.model.version, self.model.subgraphs, self.model.operatorCodes = 3, [self.graph], []
        self.model.buffers = [self.s.BufferT()]
        self.graph.tensors, self.graph.operators = [], []
        self.indices, self.codes = {}, []

    def tensor(self, shape, kind: str, scales, zero: int, data=None, axis: int = 0) -> int:
        """Adds a tensor, constant if there are data; returns its index."""
        tensor = self.s.TensorT()
        tensor.shape, tensor.type = [int(size) for size in shape], getattr(self.s.TensorType, kind)
        quantization = self.s.QuantizationParametersT()
        quantization.scale = [float(scale) for scale in np.atleast_1d(scales)]
        quantization.zeroPoint = [zero] * len(quantization.scale)
        quantization.quantizedDimension = axis
        tensor.quantization, tensor.buffer = quantization, 0
        if data is not None:
            buffer = self.s.BufferT()
            buffer.data = np.frombuffer(np.ascontiguousarray(data).tobytes(), np.uint8)
            tensor.buffer = len(self.model.buffers)
            self.model.buffers.append(buffer)
        self.graph.tensors.append(tensor)
        return len(self.graph.tensors) - 1

    def layer(self, name: str, layer, sources: list) -> None:
        """Adds an operator and its result."""
        inputs = [self.indices[source] for source in layer.inputs]
        if layer.weights is not None:
            inputs += self.weights(layer, sources[0].scale)
        output = self.tensor(nhwc(layer.shape), "INT8", layer.scale, layer.zero)
        self.indices[name] = output
        step = self.s.OperatorT()
        step.opcodeIndex, step.inputs, step.outputs = self.code(layer.kind), inputs, [output]
        kind, options = self.options(layer)
        step.builtinOptionsType, step.builtinOptions = getattr(self.s.BuiltinOptions, kind), options
        self.graph.operators.append(step)

    def code(self, kind: str) -> int:
        """The index of an operator code."""
        if kind not in self.codes:
            code = self.s.OperatorCodeT()
            code.builtinCode = code.deprecatedBuiltinCode = getattr(self.s.BuiltinOperator, kind)
            code.version = VERSIONS.get(kind, 1)
            self.model.operatorCodes.append(code)
            self.codes.append(kind)
        return self.codes.index(kind)

    def weights(self, layer, scale: float) -> list:
        """Adds weights, mirrored and channels last, and biases."""
        weights = layer.weights
        axis = 0
        if layer.kind != "FULLY_CONNECTED":
            weights = weights[:, :, ::-1, ::-1].transpose(0, 2, 3, 1)
        if layer.kind == "DEPTHWISE_CONV_2D":
            weights, axis = weights.transpose(3, 1, 2, 0), 3
        products = scale * layer.weight_scales.astype(np.float64)
        bias = self.tensor(layer.bias.shape, "INT32", np.float32(products), 0, layer.bias)
        return [self.tensor(weights.shape, "INT8", layer.weight_scales, 0, weights, axis), bias]

    def options(self, layer):
        """The options of an operator."""
        names = {"CONV_2D": "Conv2D", "DEPTHWISE_CONV_2D": "DepthwiseConv2D", "FULLY_CONNECTED": "FullyConnected", "ADD": "Add"}
        names |= {"AVERAGE_POOL_2D": "Pool2D", "SOFTMAX": "Softmax", "RESHAPE": "Reshape"}
        name = names[layer.kind] + "Options"
        options = getattr(self.s, name + "T")()
        if hasattr(options, "fusedActivationFunction"):
            options.fusedActivationFunction = int(layer.relu)
        if layer.kind.endswith("CONV_2D"):
            padded = any(layer.window["pad"])
            options.padding = self.s.Padding.SAME if padded else self.s.Padding.VALID
            options.strideH, options.strideW = layer.window["stride"]
            options.dilationHFactor = options.dilationWFactor = 1
        if layer.kind == "DEPTHWISE_CONV_2D":
            options.depthMultiplier = 1
        if layer.kind == "AVERAGE_POOL_2D":
            options.filterHeight, options.filterWidth = options.strideH, options.strideW = layer.window["kernel"]
            options.padding = self.s.Padding.VALID
        if layer.kind == "SOFTMAX":
            options.beta = 1.0
        if layer.kind == "RESHAPE":
            options.newShape = [1, *layer.shape]
        return name, options


def nhwc(shape) -> list:
    """The sizes with a batch of one, channels last."""
    return [1, *shape[1:], shape[0]] if len(shape) == 3 else [1, *shape]


def write(root: pathlib.Path, layers: dict) -> bytes:
    """The bytes of a model of these layers."""
    writer = Writer(root)
    steps = list(layers.items())
    name, first = steps[0]
    writer.indices[name] = writer.tensor(nhwc(first.shape), "INT8", first.scale, first.zero)
    for name, layer in steps[1:]:
        writer.layer(name, layer, [layers[source] for source in layer.inputs])
    writer.graph.inputs, writer.graph.outputs = [0], [writer.indices[steps[-1][0]]]
    builder = flatbuffers.Builder(1 << 20)
    builder.Finish(writer.model.Pack(builder), b"TFL3")
    return bytes(builder.Output())
