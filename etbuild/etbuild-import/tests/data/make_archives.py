"""Writes the small archives that the importer's tests read, with inputs and eager outputs beside each.

    python make_archives.py            (torch, safetensors)

Each NAME.pt2 has NAME.inputs.safetensors (tensors named as in the exported signature) and NAME.outputs.safetensors
(`output_0`, `output_1`, ... in order).
"""

from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

FOLDER = Path(__file__).parent
DIGITS = FOLDER.parents[3] / "examples" / "digits"


class Elementwise(nn.Module):
    """In-place operators, one of them through a view and one on a slice, and broadcasting from both sides."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.randn(4, 1))
        self.register_buffer("offset", torch.randn(3))

    def forward(self, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        a = x * self.scale
        a.add_(y, alpha=2).relu_()
        a.view(-1).mul_(0.5)
        a[:, 1:].sub_(self.offset[:2])
        b = torch.sigmoid(x.unsqueeze(1) - y) / (1 + self.offset.abs())
        return a.clamp(max=1.5), torch.where(b > 0.25, b, -b).tanh()


class Attention(nn.Module):
    """One attention head out of matrix products, transposes and softmax, with a residual and layer norm."""

    def __init__(self) -> None:
        super().__init__()
        self.project = nn.Linear(8, 24)
        self.output = nn.Linear(8, 8, bias=False)
        self.norm = nn.LayerNorm(8)

    def forward(self, x: Tensor) -> Tensor:
        query, key, value = self.project(x).chunk(3, dim=-1)
        weights = torch.softmax(query @ key.transpose(-2, -1) * 8**-0.5, dim=-1)
        return self.norm(x + self.output(torch.matmul(weights, value)))


class Shapes(nn.Module):
    """Views and copies of every kind, then reductions with and without the reduced dimension."""

    def forward(self, x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        joined = torch.cat([x, y.expand(2, 3, 4)], dim=1)
        moved = joined[:, 1:5:2].permute(2, 0, 1).contiguous()
        row = joined.select(1, -1).unsqueeze(0).expand(3, -1, -1).reshape(3, 8)
        largest, position = row.reshape(3, 2, 4).max(dim=2)
        flat = torch.flatten(moved.unsqueeze(1).squeeze(1), 1)
        return moved, row, flat.mean(dim=1, keepdim=True), joined.sum(dim=(0, 2)), largest, position, joined.amax()


class Writes(nn.Module):
    """Writes that reach a tensor through its views, and views that are read after a write to what they show."""

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        a = x * 1
        rows, stale = a.unbind(0), a.view(2, -1)
        rows[1].mul_(2)
        left, right = a.chunk(2, dim=1)
        left.add_(right)
        turned = a.t()
        turned[0].fill_(3.0)
        copied = a.permute(1, 0).contiguous()
        copied.neg_()
        a.narrow(1, 1, 2).copy_(right.flip(1))
        passed = nn.functional.dropout(a, training=False)
        passed.clamp_(min=-0.5)
        rows[0].detach().squeeze().unsqueeze(0)[:, -1:].zero_()
        return a, rows[0] + 1, stale * 2, turned, copied


class Images(nn.Module):
    """Convolutions of every kind, with and without a normalization to fold, poolings and activations."""

    def __init__(self) -> None:
        super().__init__()
        self.same = nn.Conv2d(3, 4, (2, 3), padding="same", dilation=(1, 2))
        self.depthwise = nn.Conv2d(4, 4, 3, padding=1, groups=4, bias=False)
        self.norms = nn.ModuleList([nn.BatchNorm2d(4) for _ in range(2)])
        self.up = nn.ConvTranspose2d(4, 4, 3, stride=2, padding=1, output_padding=1, groups=2)
        self.group = nn.GroupNorm(2, 4)
        self.slope = nn.PReLU(4)
        self.line = nn.Conv1d(4, 2, 3, stride=2)
        for norm in self.norms:
            nn.init.uniform_(norm.weight, 0.5, 1.5)
            nn.init.normal_(norm.bias)
            norm.running_mean.normal_()
            norm.running_var.uniform_(0.5, 2)

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        f = nn.functional
        a = f.hardswish(self.norms[0](self.depthwise(f.relu6(self.same(x)))), inplace=True)
        b = self.norms[1](f.silu(a)) + f.hardsigmoid(a)
        c = self.slope(self.group(self.up(b)))
        d = f.leaky_relu(f.avg_pool2d(c, 2), 0.2)
        line = self.line(f.pad(d.mean(2), (1, 2), value=0.5))
        pooled = f.adaptive_avg_pool2d(c, (3, 2)), f.adaptive_avg_pool2d(c, 1), f.max_pool2d(c, 3, 2, 1)
        return *pooled, line, self.line(d[0, :, 0])


class Language(nn.Module):
    """Embeddings, attention with masks of every kind, root-mean-square norm, a gated layer and integer arithmetic."""

    def __init__(self) -> None:
        super().__init__()
        self.token, self.place = nn.Embedding(11, 8), nn.Embedding(6, 8)
        self.norm = nn.RMSNorm(8)
        self.project = nn.Linear(8, 24, bias=False)
        self.gate, self.up, self.down = nn.Linear(8, 12), nn.Linear(8, 12), nn.Linear(12, 8)
        self.register_buffer("window", torch.ones(6, 6).tril().triu(-2).bool(), persistent=False)

    def forward(self, ids: Tensor) -> tuple[Tensor, ...]:
        f = nn.functional
        x = self.token(ids) + self.place(torch.arange(6))
        heads = [part.unflatten(-1, (2, 4)).transpose(1, 2) for part in self.project(self.norm(x)).split(8, dim=-1)]
        attend = f.scaled_dot_product_attention
        a = attend(*heads, is_causal=True) + attend(*heads, attn_mask=self.window)
        b = attend(*heads, attn_mask=torch.zeros(6, 6).masked_fill(~self.window, -1e4), scale=0.5)
        x = x + torch.stack([a, b]).sum(0).transpose(1, 2).flatten(2)
        x = x + self.down(f.silu(self.gate(x)) * f.gelu(self.up(x)))
        logits = torch.log_softmax(x @ self.token.weight.t(), dim=-1)
        even = (ids == 4).to(torch.float32)
        spread = torch.rsqrt(x.pow(2).mean(-1) + 1e-3) * (1 - even)
        return logits, logits.argmax(-1), spread, x.mean(), x.max(), ids.cumsum(1) * 2 - 1


class Layers(nn.Module):
    """Layers that stay in one piece: recurrent ones of every kind, attention with shared heads, and normalizations."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(6, 5, num_layers=2, bidirectional=True, batch_first=True)
        self.gru = nn.GRU(10, 4, num_layers=2, bias=False)
        self.tanh = nn.RNN(4, 3, bidirectional=True)
        self.relu = nn.RNN(6, 8, nonlinearity="relu")
        self.norm, self.root, self.group = nn.LayerNorm(8), nn.RMSNorm((2, 8)), nn.GroupNorm(2, 4)

    def forward(self, x: Tensor, hidden: Tensor) -> tuple[Tensor, ...]:
        f = nn.functional
        long, (last, cell) = self.lstm(x)
        gated, _ = self.gru(long.transpose(0, 1), hidden)
        plain, final = self.relu(self.tanh(gated)[0])
        heads = self.norm(plain).permute(1, 2, 0).unflatten(1, (4, 2))
        shared = heads[:, :2].transpose(-2, -1)
        attend = f.scaled_dot_product_attention(heads.transpose(-2, -1), shared, shared * 2, enable_gqa=True)
        causal = f.scaled_dot_product_attention(shared, shared, shared[..., :1], is_causal=True)
        return self.group(attend), self.root(plain), causal, last, cell, final


class FirstToken(nn.Module):
    """An encoder of which one token is classified, and a layer of which two positions are read."""

    def __init__(self) -> None:
        super().__init__()
        self.before, self.after, self.last = (nn.LayerNorm(8) for _ in range(3))
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)
        self.up, self.down, self.head = nn.Linear(8, 12), nn.Linear(12, 8), nn.Linear(8, 3)

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        f = nn.functional
        normal = self.before(x)
        x = x + self.attention(normal, normal, normal, need_weights=False)[0]
        pair = torch.softmax(self.up(normal * 2), -1).transpose(1, 2)[..., 1:3]
        x = x + self.down(f.gelu(self.up(self.after(x))))
        return self.head(self.last(x)[:, 0]), pair


def save(name: str, model: nn.Module, inputs: dict[str, Tensor]) -> None:
    """Exports, drops the source paths that torch records per node, and saves the program with one recorded run."""
    model = model.eval()
    program = torch.export.export(model, tuple(inputs.values()))
    save_program(program, FOLDER / f"{name}.pt2")
    with torch.no_grad():
        outputs = model(*(tensor.clone() for tensor in inputs.values()))
    save_tensors(f"{name}.inputs", inputs)
    save_tensors(f"{name}.outputs", {f"output_{index}": output for index, output in enumerate(as_tuple(outputs))})


def save_program(program: torch.export.ExportedProgram, path: Path) -> None:
    for node in program.graph.nodes:
        node.meta.pop("stack_trace", None)
        node.meta.pop("from_node", None)
    torch.export.save(program, path)


def save_tensors(name: str, tensors: dict[str, Tensor]) -> None:
    path = FOLDER / f"{name}.safetensors"
    save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, path)
    path.chmod(0o644)


def as_tuple(outputs: Tensor | tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    return (outputs,) if isinstance(outputs, Tensor) else outputs


def save_decomposed_digits() -> None:
    """The digits example as `run_decompositions` leaves it, with its first two test images as cases."""
    program = torch.export.load(DIGITS / "digits.pt2")
    save_program(program.run_decompositions(), FOLDER / "digits_core.pt2")
    recorded = load_file(DIGITS / "test.safetensors")
    save_tensors("digits_core.inputs", {"x": recorded["x"][:2]})
    save_tensors("digits_core.outputs", {"output_0": recorded["output_0"][:2]})


def main() -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    save("elementwise", Elementwise(), {"x": torch.randn(4, 3), "y": torch.randn(3)})
    save("attention", Attention(), {"x": torch.randn(1, 5, 8)})
    save("shapes", Shapes(), {"x": torch.randn(2, 3, 4), "y": torch.randn(3, 1)})
    save("writes", Writes(), {"x": torch.randn(4, 4)})
    save("images", Images(), {"x": torch.randn(1, 3, 6, 5)})
    save("language", Language(), {"ids": torch.tensor([[4, 1, 10, 4, 0, 7]])})
    save_decomposed_digits()
    torch.manual_seed(1)
    save("layers", Layers(), {"x": torch.randn(2, 3, 6), "hidden": torch.randn(2, 2, 4)})
    save("first_token", FirstToken(), {"x": torch.randn(1, 5, 8)})


if __name__ == "__main__":
    main()
