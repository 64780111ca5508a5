"""Layers of images, and detection."""

import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401 (the operators `quantized_decomposed`)
import torch.nn.functional as F
import torchvision.ops as vision
from torch import nn

from .inputs import F64, I64, I8, each, halved, index, last, positive, trained, unit, x

class ByteConvolution(nn.Module):
    """Weights in int8 with a scale for each output channel."""

    def __init__(self):
        super().__init__()
        self.register_buffer("weight", torch.randint(-127, 128, (8, 4, 3, 3), dtype=I8))
        self.register_buffer("scales", torch.rand(8) / 100 + 0.001)
        self.register_buffer("zero_points", torch.zeros(8, dtype=I64))

    def forward(self, a):
        dequantize = torch.ops.quantized_decomposed.dequantize_per_channel
        return F.conv2d(a, dequantize(self.weight, self.scales, self.zero_points, 0, -127, 127, I8), padding=1)


def convolution_beside_a_product(a, weight):
    """The product, which comes last, wants rows of the map together."""
    a = F.relu(a)
    return F.conv2d(a, weight, padding=1), a @ a.mT


class SlicedTransposed(nn.Module):
    """A transposed convolution of some channels, with weights that 16 bits hold."""

    def __init__(self):
        super().__init__()
        self.layer = halved(nn.ConvTranspose2d(8, 5, 3, stride=2))

    def forward(self, image):
        return self.layer(F.relu(image)[:, 2:10])


images = {
    "batch_norm_functional": lambda: (lambda a, w, b, m, v: torch.ops.aten._native_batch_norm_legit_functional(a, w, b, m, v, True, 0.3, 1e-5), x(2, 3, 4), x(3), x(3), x(3), positive(3)),
    "batch_norm_without_statistics": lambda: (lambda a, w: torch.ops.aten.native_batch_norm(a, w, None, None, None, True, 0.1, 1e-5), x(2, 3, 4), x(3)),
    "fractional_max_pool2d": lambda: (lambda a, r: F.fractional_max_pool2d(a, (2, 3), output_size=(3, 4), return_indices=True, _random_samples=r), x(2, 3, 7, 9), torch.rand(2, 3, 2)),
    "fractional_max_pool3d": lambda: (lambda a, r: F.fractional_max_pool3d(a, 2, output_size=(2, 3, 1), return_indices=True, _random_samples=r), x(3, 5, 6, 4), torch.rand(1, 3, 3)),
    "conv1d": lambda: (nn.Conv1d(4, 6, 3, padding=1, groups=2), x(2, 4, 9)),
    "conv2d": lambda: (nn.Conv2d(3, 5, 3, stride=2, padding=1), x(1, 3, 8, 9)),
    "conv2d_same": lambda: (nn.Conv2d(3, 5, 4, padding="same", dilation=2), x(1, 3, 9, 8)),
    "conv2d_reflect": lambda: (nn.Conv2d(3, 5, 3, padding=1, padding_mode="reflect"), x(1, 3, 6, 6)),
    "conv2d_channels_last": lambda: (nn.Conv2d(4, 8, 3, padding=1).to(memory_format=torch.channels_last), last(2, 4, 5, 6)),
    "conv2d_of_bytes": lambda: (ByteConvolution(), x(2, 4, 6, 7)),
    "conv1d_of_a_computed_map": lambda: (nn.Sequential(nn.ReLU(), nn.Conv1d(4, 6, 3, padding=1)), x(2, 4, 9)),
    "conv2d_beside_a_product": lambda: (convolution_beside_a_product, x(2, 2, 8, 8), x(3, 2, 3, 3)),
    "conv3d_of_a_computed_map": lambda: (nn.Sequential(nn.ReLU(), nn.Conv3d(4, 3, 3, padding=1)), x(1, 4, 3, 4, 5)),
    "conv2d_depthwise": lambda: (nn.Conv2d(4, 4, 3, groups=4, bias=False), x(1, 4, 6, 6)),
    "conv2d_unbatched": lambda: (nn.Conv2d(3, 5, 3), x(3, 6, 6)),
    "conv3d": lambda: (nn.Conv3d(2, 3, 2), x(1, 2, 4, 4, 4)),
    "conv3d_groups": lambda: (nn.Sequential(nn.Conv3d(4, 6, (3, 2, 3), stride=(2, 1, 2), padding=(2, 1, 0), dilation=(2, 1, 1), groups=2), nn.ReLU()), x(2, 4, 5, 4, 6)),
    "conv3d_depthwise": lambda: (nn.Conv3d(4, 4, 3, padding=1, groups=4), x(1, 4, 3, 4, 5)),
    "conv3d_patches": lambda: (nn.Conv3d(3, 8, (2, 4, 4), stride=(2, 4, 4)), x(1, 3, 4, 8, 8)),
    "conv_transpose2d": lambda: (nn.ConvTranspose2d(4, 3, 3, stride=2, output_padding=1), x(1, 4, 5, 5)),
    "conv_transpose1d": lambda: (nn.ConvTranspose1d(4, 6, 3, stride=2, groups=2), x(1, 4, 5)),
    "conv_transpose2d_relu": lambda: (nn.Sequential(nn.ConvTranspose2d(5, 17, 4, stride=2, padding=1), nn.ReLU()), x(2, 5, 6, 7)),
    "conv_transpose2d_dilated": lambda: (nn.ConvTranspose2d(4, 6, (3, 2), stride=(1, 3), padding=2, dilation=2, groups=2), x(2, 4, 5, 6)),
    "conv_transpose2d_depthwise": lambda: (nn.ConvTranspose2d(4, 4, 4, stride=2, padding=1, groups=4, bias=False), x(1, 4, 5, 6)),
    "conv_transpose3d": lambda: (nn.ConvTranspose3d(4, 3, (2, 3, 4), stride=2, padding=1, output_padding=1), x(2, 4, 3, 4, 3)),
    "conv_transpose2d_in_16_bits": lambda: (SlicedTransposed(), x(1, 12, 5, 6).contiguous(memory_format=torch.channels_last)),
    "conv_transpose_of_pixels": lambda: (nn.Sequential(nn.Conv2d(3, 8, 1), nn.ConvTranspose2d(8, 4, 2, stride=2)), x(1, 3, 4, 5)),
    "conv_bn_relu": lambda: (nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU6()), x(1, 3, 6, 6)),
    "conv_transpose_bn": lambda: (nn.Sequential(nn.ConvTranspose2d(4, 6, 3, stride=2), trained(nn.BatchNorm2d(6))), x(1, 4, 5, 5)),
    "conv_transpose_groups_bn": lambda: (nn.Sequential(nn.ConvTranspose1d(4, 6, 3, groups=2, bias=False), trained(nn.BatchNorm1d(6))), x(1, 4, 5)),
    "batch_norm1d": lambda: (nn.BatchNorm1d(4), x(3, 4)),
    "instance_norm": lambda: (nn.InstanceNorm2d(4, affine=True), x(2, 4, 5, 5)),
    "group_norm": lambda: (nn.GroupNorm(2, 4), x(2, 4, 5)),
    "layer_norm": lambda: (nn.LayerNorm(5), x(2, 4, 5)),
    "layer_norm_two": lambda: (nn.LayerNorm((4, 5), elementwise_affine=False), x(2, 4, 5)),
    "rms_norm": lambda: (nn.RMSNorm(5), x(2, 4, 5)),
    "local_response_norm": lambda: (nn.LocalResponseNorm(2), x(1, 4, 3, 3)),
    "max_pool1d": lambda: (nn.MaxPool1d(3, 2), x(2, 3, 9)),
    "max_pool2d": lambda: (nn.MaxPool2d(3, 2, 1, ceil_mode=True), x(1, 3, 8, 8)),
    "max_pool2d_indices": lambda: (nn.MaxPool2d(2, return_indices=True), x(1, 3, 6, 6)),
    "max_pool2d_channels_last": lambda: (nn.MaxPool2d(2), last(1, 3, 6, 6)),
    "max_pool3d_padded": lambda: (nn.MaxPool3d((3, 2, 3), stride=2, padding=1, ceil_mode=True), x(2, 3, 5, 6, 7)),
    "avg_pool3d_padded": lambda: (nn.AvgPool3d(3, stride=2, padding=1, count_include_pad=False), x(2, 3, 5, 6, 7)),
    "max_pool3d": lambda: (nn.MaxPool3d(2), x(1, 2, 4, 4, 4)),
    "avg_pool1d": lambda: (nn.AvgPool1d(3, 2, 1), x(2, 3, 9)),
    "avg_pool2d": lambda: (nn.AvgPool2d(3, 2, 1, count_include_pad=False, ceil_mode=True), x(1, 3, 8, 8)),
    "avg_pool3d": lambda: (nn.AvgPool3d(2), x(1, 2, 4, 4, 4)),
    "lp_pool2d": lambda: (nn.LPPool2d(2, 2), positive(1, 2, 4, 4)),
    "adaptive_avg_pool1d": lambda: (nn.AdaptiveAvgPool1d(3), x(2, 3, 7)),
    "adaptive_avg_pool2d": lambda: (nn.AdaptiveAvgPool2d((3, 2)), x(1, 3, 7, 5)),
    "adaptive_avg_pool2d_one": lambda: (nn.AdaptiveAvgPool2d(1), last(1, 3, 7, 5)),
    "adaptive_avg_pool3d": lambda: (nn.AdaptiveAvgPool3d(2), x(1, 2, 5, 4, 3)),
    "adaptive_max_pool1d": lambda: (nn.AdaptiveMaxPool1d(3), x(2, 3, 7)),
    "adaptive_max_pool2d": lambda: (nn.AdaptiveMaxPool2d(2), x(1, 3, 7, 5)),
    "upsample_nearest": lambda: (nn.Upsample(scale_factor=2), x(1, 2, 3, 4)),
    "upsample_nearest1d": lambda: (nn.Upsample(scale_factor=2), x(1, 2, 3)),
    "upsample_bilinear": lambda: (nn.Upsample(size=(5, 7), mode="bilinear"), x(1, 2, 3, 4)),
    "upsample_bilinear_corners": lambda: (nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True), x(1, 2, 3, 4)),
    "upsample_linear1d": lambda: (nn.Upsample(scale_factor=2, mode="linear"), x(1, 2, 3)),
    "grid_sample": lambda: (lambda a, g: F.grid_sample(a, g, align_corners=False), x(1, 2, 4, 4), unit(1, 3, 3, 2)),
    "softmax2d": lambda: (nn.Softmax2d(), x(1, 3, 4, 4)),
    "dropout": lambda: (nn.Sequential(nn.Dropout(), nn.Dropout2d(), nn.AlphaDropout()), x(1, 3, 4, 4)),
}


def boxes(count, size=10.0):
    """Boxes in a square, by their edges."""
    corner = torch.rand(count, 2) * size
    return torch.cat([corner, corner + torch.rand(count, 2) * size / 2 + 0.1], 1)


def best_boxes(a, scores):
    """The chosen boxes with their scores, as detectors go on with them."""
    kept = vision.nms(a, scores, 0.3)
    return a[kept], scores[kept]


detection = {
    "nms": lambda: (lambda a, s: vision.nms(a, s, 0.3), boxes(40), torch.rand(40)),
    "nms_double": lambda: (lambda a, s: vision.nms(a, s, 0.1), boxes(30).double(), torch.rand(30, dtype=F64)),
    "nms_equal_scores": lambda: (lambda a, s: vision.nms(a, s, 0.5), boxes(30), torch.randint(0, 3, (30,)) / 4),
    "nms_of_classes": lambda: (lambda a, s, c: vision.batched_nms(a, s, c, 0.4), boxes(40), torch.rand(40), index(3, 40)),
    "best_boxes": lambda: (best_boxes, boxes(40), torch.rand(40)),
    "roi_align": lambda: (lambda a, b: vision.roi_align(a, [b[:3], b[3:]], (3, 4), 0.5), x(2, 3, 12, 10), boxes(7, 15)),
    "roi_align_samples": lambda: (lambda a, b: vision.roi_align(a, b, 5, 1.0, 2, True), x(2, 3, 12, 10), torch.cat([index(2, 6, 1).float(), boxes(6, 14) - 3], 1)),
    "roi_align_double": lambda: (lambda a, b: vision.roi_align(a, b, 2, 0.25, -1, True), x(1, 2, 8, 8, dtype=F64), torch.cat([torch.zeros(4, 1), boxes(4, 40)], 1).double()),
    "deform_conv2d": lambda: (vision.DeformConv2d(3, 4, 3, padding=1), x(2, 3, 6, 7), x(2, 18, 6, 7)),
    "deform_conv2d_mask": lambda: (vision.DeformConv2d(4, 6, (3, 2), stride=2, padding=(1, 0), dilation=(1, 2), groups=2), x(2, 4, 9, 8), x(2, 24, 5, 3) * 2, torch.rand(2, 12, 5, 3)),
    "deform_conv2d_double": lambda: (lambda a, o, w: vision.deform_conv2d(a, o, w), x(1, 2, 5, 5, dtype=F64), x(1, 8, 4, 4, dtype=F64), x(3, 2, 2, 2, dtype=F64)),
}  # fmt: skip
