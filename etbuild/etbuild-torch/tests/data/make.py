"""Files that `torch.save` writes.

    python make.py      writes the files of this folder

`tensors.bin`: tensors of several types, a parameter, a transposed tensor, a part of a tensor, and two that share a storage.
`protocol4.bin`: two of these, with a pickle of protocol 4. `model.bin`: a module, whose pickle names its class. `legacy.bin`: the form before
torch 1.6. `negated.bin`: a tensor whose negation is due. `nested.bin`: a dictionary in a dictionary.
`torchao-0.14.bin` and `torchao-0.18.bin`: weights of three classes of torchao, by the version that is installed.
"""

import collections
from pathlib import Path

import torch
import torchao
from torchao import quantization
from torchao.quantization.granularity import PerGroup

folder = Path(__file__).parent
whole = torch.arange(12, dtype=torch.float32)
tensors = collections.OrderedDict(
    float32=whole.reshape(3, 4), transposed=whole.reshape(3, 4).t(), part=whole[4:8], shared=whole.reshape(3, 4),
    float16=torch.tensor([0.5, -2.0], dtype=torch.float16), bfloat16=torch.nn.Parameter(torch.tensor([[1.5], [-3.0]], dtype=torch.bfloat16)),
    int64=torch.tensor(-7), uint8=torch.tensor([1, 255], dtype=torch.uint8), bool=torch.tensor([True, False]), none=torch.zeros(0, 4))
torch.save(tensors, folder / "tensors.bin")
few = {name: tensors[name] for name in ("float32", "float16")}
torch.save(few, folder / "protocol4.bin", pickle_protocol=4)
torch.save(torch.nn.Linear(2, 2), folder / "model.bin")
torch.save(few, folder / "legacy.bin", _use_new_zipfile_serialization=False)
torch.save(dict(negated=torch.tensor([1 + 2j]).conj().imag), folder / "negated.bin")
torch.save(dict(state_dict=few, epoch=3), folder / "nested.bin")
version = ".".join(torchao.__version__.split(".")[:2])
# Older classes are those of layouts, within others.
integers = quantization.Int8DynamicActivationIntxWeightConfig(weight_dtype=torch.int4, weight_granularity=PerGroup(16)) \
    if version > "0.15" else quantization.Int8DynamicActivationInt4WeightConfig(group_size=16)
floats = quantization.Float8WeightOnlyConfig(**{} if version > "0.15" else dict(version=1))
linear = torch.nn.Sequential(*[torch.nn.Linear(32, 8, bias=False) for _ in range(3)])
for layer, config in zip(linear, [quantization.Int8DynamicActivationInt8WeightConfig(), integers, floats]):
    torchao.quantize_(layer, config)
torch.save(linear.state_dict(), folder / f"torchao-{version}.bin")
