//! `f32` convolution of images as GEMMs: for each group, the weight times the receptive fields (implicit im2col).

use core::num::NonZero;

use et_core::{Input, Output};

use crate::convolutions::depthwise::Channel;
use crate::convolutions::patch::Patches;
use crate::convolutions::picture::Picture;
use crate::family::matrix::{Matrix, Target};
use crate::family::spatial::Axis;
use crate::family::tile::{Product, Right};

/// A convolution, not transposed.
pub struct Tiled<'a> {
    /// The kernel parameters along rows and columns.
    pub axes: [Axis; 2],
    /// The number of groups.
    pub groups: NonZero<usize>,
    /// The elements of the input.
    pub input: Input<'a, f32>,
    /// Sizes and strides of the input.
    pub image: Picture,
    /// The weights: output channels, channels of a group, rows, columns.
    pub weights: Input<'a, f32>,
    /// The elements of the output.
    pub output: Output<'a, f32>,
    /// Sizes and strides of the output.
    pub out: Picture,
}

/// A convolution group of an image.
struct Group {
    /// The offset of the group's first input channel.
    input: usize,
    /// The group's first output channel, and the number of output channels.
    channel: usize,
    channels: usize,
    /// The offset of that channel in the output.
    output: usize,
}

impl<'a> Tiled<'a> {
    /// Whether the weight is row-major and the output positions lie at equal distances.
    pub fn is_possible(&self, weights: &Picture) -> bool {
        let [_, channels, rows, columns] = weights.sizes;
        let [_, channel_step, row_step, column_step] = weights.strides;
        let are_weights_dense = (channels <= 1 || channel_step == rows * columns)
            && (rows == 1 || row_step == columns)
            && (columns == 1 || column_step == 1);
        are_weights_dense && (self.out.sizes[2] == 1 || self.out.strides[2] == self.out.sizes[3] * self.out.strides[3])
    }

    /// Computes and stores all elements, which a channel's bias is added to at last.
    #[inline]
    pub fn compute(self, bias: Option<Input<'_, f32>>) {
        let channels = self.out.sizes[1] / self.groups;
        for batch in 0..self.out.sizes[0] {
            for group in 0..self.groups.get() {
                let channel = group * channels;
                let input = self.image.plane(batch, group * self.group_channels());
                let group = Group { input, channel, channels, output: self.out.plane(batch, channel) };
                if self.group_channels() == 1 && channels < 4 {
                    self.by_channel(&group, bias)
                } else {
                    self.by_group(&group, bias)
                }
            }
        }
    }

    fn group_channels(&self) -> usize {
        self.image.sizes[1] / self.groups
    }

    fn taps(&self) -> usize {
        self.axes[0].kernel * self.axes[1].kernel
    }

    #[inline]
    fn by_group(&self, group: &Group, bias: Option<Input<'_, f32>>) {
        if self.is_pointwise() {
            let steps = [self.image.strides[1], self.image.strides[3]];
            self.multiply(group, Matrix { elements: self.input, start: group.input, steps }, bias);
        } else {
            let (image, axes, width) = (self.image, self.axes, self.out.sizes[3]);
            self.multiply(group, Patches { elements: self.input, start: group.input, image, axes, width }, bias);
        }
    }

    /// Whether the convolution is pointwise (a 1 x 1 kernel, stride 1, no padding) and the pixels lie at equal
    /// distances.
    fn is_pointwise(&self) -> bool {
        let [_, _, row_step, column_step] = self.image.strides;
        let is_alone = |axis: &Axis| axis.kernel == 1 && axis.stride.get() == 1 && axis.padding == 0;
        self.axes.iter().all(is_alone) && (self.image.sizes[2] == 1 || row_step == self.image.sizes[3] * column_step)
    }

    #[inline]
    fn multiply(&self, group: &Group, right: impl Right, bias: Option<Input<'_, f32>>) {
        let inner = self.group_channels() * self.taps();
        let left = Matrix { elements: self.weights, start: group.channel * inner, steps: [inner, 1] };
        let steps = [self.out.strides[1], self.out.strides[3]];
        let target = Target { elements: self.output, start: group.output, steps };
        let finish = |row: usize, _: usize, sums: &mut [f32]| {
            if let Some(bias) = bias {
                let bias = bias.get(group.channel + row);
                sums.iter_mut().for_each(|sum| *sum += bias);
            }
        };
        let sizes = [group.channels, inner, self.out.sizes[2] * self.out.sizes[3]];
        Product { sizes, left, right, target, finish }.compute();
    }

    /// A group of one input channel and few output channels: computes each output channel as a depthwise convolution.
    #[inline]
    fn by_channel(&self, group: &Group, bias: Option<Input<'_, f32>>) {
        for within in 0..group.channels {
            let start = group.output + within * self.out.strides[1];
            let channel = group.channel + within;
            Channel {
                elements: self.input,
                start: group.input,
                image: self.image,
                axes: self.axes,
                weights: self.weights.window(channel * self.taps(), self.taps()),
                bias: bias.map(|bias| bias.get(channel)),
                target: Target { elements: self.output, start, steps: [self.out.strides[2], self.out.strides[3]] },
                sizes: [self.out.sizes[2], self.out.sizes[3]],
            }
            .compute();
        }
    }
}
