"""Writes models with dynamic sizes into dynamic/, each with cases of inputs and eager outputs.

    python make_dynamic.py            (torch, safetensors)

NAME.safetensors has the tensors of every case: `0.x` is input `x` of case 0, `0.output_0` the first output. The cases are at
the lower bounds, between the bounds, and at the upper bounds.
"""

import contextlib
import pathlib

import torch
from safetensors.torch import save_file
from torch import nn
from torch.export import Dim, export, save
from torch.nn import functional as F

FOLDER = pathlib.Path(__file__).parent / "dynamic"
ATEN = torch.ops.aten
RECURRENT = (ATEN.lstm.input, ATEN.gru.input, ATEN.rnn_tanh.input)
KEYS = (torch._C.DispatchKey.CompositeImplicitAutograd, torch._C.DispatchKey.Autograd)


def shapes(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
    """The results of a recurrent layer, without elements."""
    states = [hx] if isinstance(hx, torch.Tensor) else hx
    result = input.new_empty((*input.shape[:2], (1 + bidirectional) * states[0].shape[2]))
    return result, *(torch.empty_like(state) for state in states)


@contextlib.contextmanager
def dynamic_time():
    """Exports recurrent layers with a dynamic time. PyTorch's own rule for shapes unrolls the time, which fixes its size."""
    kernels = [(function, function.py_kernels.copy()) for function in RECURRENT]
    for function in RECURRENT:
        function.py_kernels.update(dict.fromkeys(KEYS, shapes))
        function._dispatch_cache.clear()
    try:
        yield
    finally:
        for function, saved in kernels:
            function.py_kernels.clear()
            function.py_kernels.update(saved)
            function._dispatch_cache.clear()


class Images(nn.Module):
    """Convolutions, poolings and norms of a batch of images."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1, bias=False), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(3, 2, 1))
        self.depthwise = nn.Sequential(nn.Conv2d(8, 8, 3, padding="same", groups=8), nn.InstanceNorm2d(8, affine=True))
        self.pool = nn.AvgPool2d(2)
        self.norm = nn.GroupNorm(2, 8)
        self.wider = nn.ConvTranspose2d(8, 6, 3, 2, 1, 1)
        self.head = nn.Linear(6 * 6, 5)

    def forward(self, x):
        x = F.hardswish(self.depthwise(self.stem(x)))
        x = self.wider(self.norm(self.pool(x)))
        return x, self.head(torch.flatten(F.adaptive_avg_pool2d(x, (3, 2)), 1))


class Residual(nn.Module):
    """Residual blocks with squeeze and excitation, and the mean of all pixels."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, 1, 1)
        self.left = nn.Sequential(nn.Conv2d(8, 8, 3, 2, 1), nn.BatchNorm2d(8), nn.SiLU(), nn.Conv2d(8, 8, 3, 1, 1))
        self.right = nn.Sequential(nn.Conv2d(8, 8, 1, 2), nn.BatchNorm2d(8))
        self.squeeze = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(8, 2, 1), nn.ReLU(), nn.Conv2d(2, 8, 1), nn.Sigmoid())
        self.head = nn.Linear(8, 4)

    def forward(self, x):
        x = self.first(F.pad(x, (1, 0, 0, 2)))
        x = F.relu(self.left(x) + self.right(x))
        x = x * self.squeeze(x)
        tokens = x.flatten(2).transpose(1, 2)
        return self.head(x.mean((2, 3))), F.softmax(tokens, 1), F.adaptive_max_pool2d(x, 2)


class Signals(nn.Module):
    """One-dimensional layers, with and without a batch."""

    def __init__(self):
        super().__init__()
        self.first = nn.Sequential(nn.Conv1d(2, 8, 5, padding="same", dilation=2), nn.BatchNorm1d(8), nn.GLU(1))
        self.narrow = nn.Sequential(nn.AvgPool1d(3, 2, 1), nn.InstanceNorm1d(4), nn.Conv1d(4, 6, 3, 2))
        self.wider = nn.Sequential(nn.Upsample(scale_factor=2, mode="linear"), nn.ConvTranspose1d(6, 3, 4, 2, 1))
        self.alone = nn.Conv1d(2, 3, 3)

    def forward(self, x):
        y = self.wider(self.narrow(self.first(x)))
        return y, F.adaptive_max_pool1d(y, 2), F.adaptive_avg_pool1d(y, 4), self.alone(x[0])


class Attention(nn.Module):
    """A causal language model of one block, and attention from a first sequence to a second one with a mask."""

    def __init__(self, width=16, heads=4):
        super().__init__()
        self.heads = heads
        self.tokens, self.places = nn.Embedding(32, width), nn.Parameter(torch.randn(24, width))
        self.inner = nn.Linear(width, 3 * width)
        self.block = nn.TransformerEncoderLayer(width, heads, 32, batch_first=True, norm_first=True)
        self.norm = nn.LayerNorm(width)

    def split(self, x):
        return x.view(x.shape[0], x.shape[1], self.heads, -1).transpose(1, 2)

    def forward(self, token, memory, seen):
        batch, length = token.shape
        x = self.tokens(token) + self.places[:length]
        query, key, value = (self.split(part) for part in self.inner(self.norm(x)).chunk(3, -1))
        own = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        other = F.scaled_dot_product_attention(query, self.split(memory), self.split(memory), seen[:, None, None, :])
        x = x + (own + other).transpose(1, 2).reshape(batch, length, -1)
        later = torch.triu(torch.full((length, length), float("-inf")), 1)
        x = self.block(x, src_mask=later)
        return x[:, -1] @ self.tokens.weight.T / 32, torch.einsum("bij,bkj->bik", x, memory) / 32


class Recurrent(nn.Module):
    """Recurrent layers of each kind over batch and time, with given and with zero states."""

    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(6, 5, 2, bidirectional=True, batch_first=True)
        self.gru = nn.GRU(10, 4, 2)
        self.plain = nn.RNN(4, 3)

    def forward(self, x, state):
        x, (hidden, cell) = self.lstm(x)
        x, last = self.gru(x.transpose(0, 1), state)
        return hidden, cell, last, self.plain(x)[0]


class Upsampling(nn.Module):
    """A decoder: upsampling by factors and to the sizes of an earlier tensor, in two and three dimensions."""

    def __init__(self):
        super().__init__()
        self.narrow, self.narrower = nn.Conv2d(2, 4, 3, 2, 1), nn.Conv2d(4, 8, 3, 2, 1)
        self.join, self.shuffle = nn.Conv2d(12, 8, 3, padding=1), nn.PixelShuffle(2)

    def forward(self, x):
        middle = F.relu(self.narrow(x))
        low = F.relu(self.narrower(middle))
        like = F.interpolate(low, size=middle.shape[-2:], mode="bilinear", align_corners=True)
        x = self.shuffle(self.join(torch.cat([middle, like], 1)))
        return (
            F.interpolate(x, scale_factor=2),
            F.interpolate(x, scale_factor=(1.5, 0.75), mode="bilinear"),
            F.interpolate(low.unsqueeze(1), scale_factor=2),
            F.interpolate(low.flatten(2), scale_factor=1.3, mode="linear"),
        )


class Reshaping(nn.Module):
    """Views with sizes of the input, patches, and statistics."""

    def forward(self, x):
        batch, channels, height, width = x.shape
        patches = x.view(batch, channels, height // 4, 4, width // 4, 4).permute(0, 2, 4, 1, 3, 5)
        tokens = patches.reshape(batch, -1, channels * 16)
        rows = x.flatten(0, 1).unflatten(0, (batch, channels)).repeat_interleave(2, 2)
        centred = (x - x.mean((2, 3), keepdim=True)) / x.std((2, 3), keepdim=True)
        ramp = torch.arange(height)[:, None] - torch.arange(width)[None, :]
        return tokens, rows, centred, ramp + x.new_zeros(height, 1), x[:, :, 1:-1, ::2].amax(3)


class Numbers(nn.Module):
    """Sizes and elements as operands of arithmetic, on either side, and layers whose weights are computed from a direction and a norm."""

    def __init__(self):
        super().__init__()
        self.whole = nn.utils.parametrizations.weight_norm(nn.Linear(4, 3), dim=None)
        self.rows = nn.utils.parametrizations.weight_norm(nn.Conv1d(4, 4, 3, padding=1, groups=2), dim=2)

    def forward(self, x, count):
        batch, _, time = x.shape
        least, some = x.min().item(), count.item()
        mean = (x.sum((0, 2)) / (batch * time), x.mean() * time + batch, count * batch - time)
        tests = ((x > some).float(), count % time, (x * time).clamp(max=batch), time ** (x / 4), 1 - least * x, torch.remainder(x, some))
        return *mean, *tests, self.whole(self.rows(x).mean(2)) / (time - 0.5)


def normal(*sizes):
    return torch.randn(*sizes)


def dims(**bounds):
    return [Dim(name, min=least, max=most) for name, (least, most) in bounds.items()]


def models():
    """Name, model, dynamic sizes, and the inputs of each case."""
    batch, height, width = dims(batch=(1, 4), height=(16, 32), width=(16, 29))
    image = ({0: batch, 2: height, 3: width},)
    points = ((1, 16, 16), (3, 27, 22), (4, 32, 29))
    yield "images", Images(), image, [(normal(b, 3, h, w),) for b, h, w in points]
    yield "residual", Residual(), image, [(normal(b, 3, h, w),) for b, h, w in points]
    batch, time = dims(batch=(1, 5), time=(16, 48))
    points = ((1, 16), (3, 31), (5, 48))
    yield "signals", Signals(), ({0: batch, 2: time},), [(normal(b, 2, t),) for b, t in points]
    batch, length, other = dims(batch=(1, 3), length=(2, 24), other=(2, 17))
    points = ((1, 2, 2), (2, 9, 13), (3, 24, 17))
    sizes = ({0: batch, 1: length}, {0: batch, 1: other}, {0: batch, 1: other})
    yield "attention", Attention(), sizes, [attention_inputs(*point) for point in points]
    batch, time = dims(batch=(1, 4), time=(1, 20))
    points = ((1, 1), (3, 7), (4, 20))
    sizes = ({0: batch, 1: time}, {1: batch})
    yield "recurrent", Recurrent(), sizes, [(normal(b, t, 6), normal(2, b, 4)) for b, t in points]
    batch, height, width = dims(batch=(1, 3), height=(4, 12), width=(4, 10))
    points = ((1, 4, 4), (2, 7, 9), (3, 12, 10))
    image = ({0: batch, 2: 2 * height, 3: 2 * width},)
    yield "upsampling", Upsampling(), image, [(normal(b, 2, 2 * h, 2 * w),) for b, h, w in points]
    batch, height, width = dims(batch=(1, 3), height=(2, 5), width=(2, 6))
    points = ((1, 2, 2), (2, 3, 5), (3, 5, 6))
    image = ({0: batch, 2: 4 * height, 3: 4 * width},)
    yield "reshaping", Reshaping(), image, [(normal(b, 3, 4 * h, 4 * w),) for b, h, w in points]


    batch, time = dims(batch=(1, 4), time=(2, 9))
    points = ((1, 2), (3, 5), (4, 9))
    yield "numbers", Numbers(), ({0: batch, 2: time}, None), [(normal(b, 4, t), torch.tensor(3)) for b, t in points]


def attention_inputs(batch, length, other):
    seen = torch.arange(other) < torch.arange(1, batch + 1)[:, None] * other / batch
    return torch.randint(0, 32, (batch, length)), normal(batch, other, 16), seen


def archive(name, model, example, sizes):
    """Exports a model; returns the names of the inputs."""
    with dynamic_time():
        program = export(model, example, dynamic_shapes=sizes, strict=False)
    for node in program.graph.nodes:
        node.meta.pop("stack_trace", None)
        node.meta.pop("from_node", None)
    save(program, FOLDER / f"{name}.pt2")
    return [spec.arg.name for spec in program.graph_signature.input_specs if spec.kind.name == "USER_INPUT"]


def main():
    torch.set_num_threads(1)
    for seed, (name, model, sizes, cases) in enumerate(models()):
        torch.manual_seed(seed)
        model.train()
        for module in model.modules():
            if isinstance(module, nn.modules.batchnorm._BatchNorm):
                module.reset_running_stats()
        model(*cases[1])
        names, tensors = archive(name, model.eval(), cases[1], sizes), {}
        for index, inputs in enumerate(cases):
            outputs = {f"output_{position}": value for position, value in enumerate(model(*inputs))}
            case = dict(zip(names, inputs)) | outputs
            tensors |= {f"{index}.{key}": value.clone().contiguous() for key, value in case.items()}
        save_file(tensors, FOLDER / f"{name}.safetensors")


if __name__ == "__main__":
    torch.manual_seed(0)
    with torch.no_grad():
        main()
