//! Convolutions and fully connected layers.

mod instructions;

use et_cortex_m::{Bounds, Channel, Multiplier, Window};
use etbuild_backend::{ByteWeights, Call, Refusal, RefusalKind, floats};
use etbuild_ir::{Argument, Links, Node, ValueId};

use super::cut;
use super::window::{convolution, linear};
use crate::pack;
use etbuild_backend::int8::pattern::{self, Check, Operand, QParams, int8_operand, no};

/// The greatest sum whose requantization is exact: below 2^30.
const MOST: i64 = 1 << 30;

/// The greatest sum of int4 weights, which are added as int8 times 16.
const MOST_OF_INT4: i64 = 1 << 27;

/// The operands of a product.
pub(super) struct Product {
    pub operand: Operand,
    weights: ByteWeights,
    /// Whether the weights are int4.
    is_int4: bool,
    /// A real bias for each output channel.
    bias: Vec<f32>,
    /// With the repeated channels of the image.
    pub window: Window,
    pub groups: usize,
    /// How many times the image has each channel: the results of a group of one channel.
    pub repeats: u32,
}

/// Accepts convolutions and linear layers of int8 tensors with constant int8 weights.
pub fn check(links: &Links<'_>, node: &Node) -> Check {
    let product = Product::of(links, node)?;
    product.check_shape()?;
    if !product.is_depthwise() && !product.fits_in_panels() {
        return Err(no(RefusalKind::Quantization, "a weight is -128 next to a channel with a negative weight"));
    }
    let sums = product.channels();
    let most = if product.is_int4 { MOST_OF_INT4 } else { MOST };
    if sums.iter().any(|(bias, weights)| bias.abs() + 128 * weights >= most) {
        return Err(no(RefusalKind::Quantization, "the sums of a channel have too many bits"));
    }
    Ok(())
}

impl Product {
    pub fn of(links: &Links<'_>, node: &Node) -> Result<Self, Refusal> {
        let operand = int8_operand(links, node)?;
        if !pattern::has_weights(links, node) {
            return Err(no(RefusalKind::Constant, "the weights are not int8 constants without zero points"));
        }
        let weights = pattern::tensor(node, 1).and_then(|id| ByteWeights::of(links, id)).ok_or_else(cut)?;
        let bias = pattern::tensor(node, 2).and_then(|id| floats(links, id)).unwrap_or_default();
        let (window, groups) = match node.operator.name() {
            "linear" => (linear(&Call::new(links, node).sizes(operand.id), &weights)?, 1),
            _ => convolution(&Call::new(links, node), operand.id, &weights)?,
        };
        let is_int4 = pattern::tensor(node, 1).is_some_and(|id| has_int4(links, id));
        let product = Self { operand, weights, is_int4, bias, window, groups, repeats: 1 };
        Ok(product.repeated())
    }

    /// With each channel of the image as often as a group of one channel has results.
    fn repeated(mut self) -> Self {
        let channels = self.window.in_channels as usize;
        let times = self.window.out_channels.checked_div(self.window.in_channels).unwrap_or(1);
        if self.groups > 1
            && self.groups == channels
            && times > 1
            && channels * times as usize == self.window.out_channels as usize
        {
            self.repeats = times;
            self.groups = self.window.out_channels as usize;
            self.window.in_channels = self.window.out_channels;
        }
        self
    }

    /// Accepts groups of equal sizes.
    pub fn check_shape(&self) -> Check {
        let is_whole = |channels: u32| (channels as usize).is_multiple_of(self.groups.max(1));
        if self.groups == 0 || !is_whole(self.window.in_channels) || !is_whole(self.window.out_channels) {
            return Err(no(RefusalKind::Argument, "the groups have different numbers of channels"));
        }
        if self.image_len().is_none() {
            return Err(no(RefusalKind::Shape, "the convolution is too large"));
        }
        if self.window.dilation_width == 0 || self.window.dilation_height == 0 {
            return Err(no(RefusalKind::Argument, "the dilation is 0"));
        }
        Ok(())
    }

    /// The elements of the image, with repeated channels; `None` where offsets exceed 31 bits.
    fn image_len(&self) -> Option<usize> {
        let elements = self.window.input_len().ok()?.max(self.window.output_len().ok()?);
        elements.checked_mul(size_of::<i16>()).filter(|bytes| i32::try_from(*bytes).is_ok())
    }

    pub fn is_depthwise(&self) -> bool {
        let channels = self.window.in_channels as usize;
        self.groups > 1 && self.groups == channels && channels == self.window.out_channels as usize
    }

    /// The scale of the sums of a channel.
    pub fn scale(&self, channel: usize) -> f64 {
        self.operand.qparams.scale * f64::from(self.weights.scales.get(channel).copied().unwrap_or(1.0))
    }

    /// The bias in units of the sums with the zero point of the input, and the sum of the absolute weights, by channel.
    pub fn channels(&self) -> Vec<(i64, i64)> {
        let zero = i64::from(self.operand.qparams.zero);
        let count = self.weights.scales.len();
        let inner = (self.weights.bytes.bytes().len() / count.max(1)).max(1);
        let sums = self.weights.bytes.bytes().chunks(inner).enumerate().map(|(channel, weights)| {
            let weights = weights.iter().map(|weight| i64::from(weight.cast_signed()));
            let (sum, absolute) =
                weights.fold((0, 0), |(sum, absolute), weight| (sum + weight, absolute + weight.abs()));
            let bias = f64::from(self.bias.get(channel).copied().unwrap_or(0.0)) / self.scale(channel);
            (bias.round_ties_even() as i64 - zero * sum, absolute)
        });
        sums.collect()
    }

    /// The table of requantization for results of these qparams with fractional bits.
    fn table(&self, qparams: QParams, fraction: i32) -> Result<Vec<Channel>, Refusal> {
        let channels = self.channels().into_iter().enumerate();
        let table = channels.map(|(channel, (bias, weights))| {
            let factor = Multiplier::of(self.scale(channel) / qparams.scale * f64::from(1 << fraction));
            let most = bias.abs() + 128 * weights;
            let fits = factor.shift <= 0 || (factor.shift < 30 && most << factor.shift < MOST);
            fits.then_some(Channel { bias: bias as i32, factor })
        });
        table
            .collect::<Option<_>>()
            .ok_or_else(|| no(RefusalKind::Quantization, "the sums of a channel exceed 30 bits"))
    }

    /// Whether kernels may requantize without checks: see [`Convolution::direct`].
    fn is_direct(&self, (table, multiple): (&[Channel], usize), bounds: Bounds) -> bool {
        let sums = self.channels();
        table.len().is_multiple_of(multiple)
            && bounds.is_whole()
            && table.iter().all(|channel| (-31..0).contains(&channel.factor.shift))
            && sums.iter().all(|(bias, weights)| bias.abs() + 128 * weights < 1 << 23)
    }

    /// Whether the products of two neighbouring taps and any elements of an image fit in 16 bits: false where both weights are -128.
    fn has_small_pairs(&self) -> bool {
        let taps = self.window.taps().unwrap_or(1).max(1);
        let integers = self.integers();
        let mut pairs = integers.chunks(taps).flat_map(|channel| channel.chunks(2));
        pairs.all(|pair| pair != [i8::MIN; 2])
    }

    /// Whether the weights of two channels of a group fit in a panel, of whatever two neighbours.
    fn fits_in_panels(&self) -> bool {
        let (integers, channels) = (self.integers(), self.window.out_channels as usize / self.groups.max(1));
        let inner = integers.len() / (self.window.out_channels as usize).max(1);
        let mut groups = integers.chunks((channels * inner).max(1));
        groups.all(|group| {
            let shifted = group.get(inner..).filter(|_| self.groups > 1).unwrap_or_default();
            pack::fits(group, channels) && pack::fits(shifted, channels.saturating_sub(1))
        })
    }

    /// The weights of an equal convolution of one group: the input channels of other groups have zeros.
    pub fn dense(&self) -> Vec<i8> {
        let (integers, groups) = (self.integers(), self.groups.max(1));
        let [inner, outer] = [self.window.in_channels, self.window.out_channels].map(|channels| channels as usize);
        let (each, taps) = (integers.len() / outer.max(1), self.window.taps().unwrap_or(0));
        let mut dense = vec![0; outer * inner * taps];
        for (channel, weights) in integers.chunks(each.max(1)).enumerate() {
            let group = channel / (outer / groups).max(1);
            let start = (channel * inner + group * (inner / groups)) * taps;
            if let Some(place) = dense.get_mut(start..start + weights.len()) {
                place.copy_from_slice(weights);
            }
        }
        dense
    }

    pub fn integers(&self) -> Vec<i8> {
        self.weights.bytes.bytes().iter().map(|byte| byte.cast_signed()).collect()
    }
}

/// Whether weights are dequantized from int4.
fn has_int4(links: &Links<'_>, weights: ValueId) -> bool {
    let limits = links.maker(weights).map(|node| (node.operator.name(), node.arguments.get(4..6).unwrap_or_default()));
    matches!(limits, Some(("dequantize_per_channel", [Argument::Int(-8), Argument::Int(7)])))
}
