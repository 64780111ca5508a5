//! Convolutions as CONV2D and DEPTHWISE_CONV2D; one-dimensional images have height 1. Groups of several channels are a CONV2D each, of a
//! SLICE of the image, with a CONCAT of their results.

use std::ops::Range;

use etbuild_backend::int8::pattern::{self, Operand, int8_operand, no};
use etbuild_backend::{ByteWeights, Call, Refusal, RefusalKind, floats, image_sizes};
use etbuild_ir::{Links, Node};

use super::build::Order;
use super::image::{Fit, pair};
use super::{Done, Lowering, Target, cut};
use crate::tosa::operation::{Concat, Conv2d, DepthwiseConv2d, Scale, Window};
use crate::tosa::{Kind, TensorId};

/// The operands of a product of activations and constant weights.
pub struct Product {
    pub operand: Operand,
    pub weights: ByteWeights,
    bias: Vec<f32>,
}

impl Product {
    /// The operands of a convolution or linear layer.
    ///
    /// # Errors
    /// Operands of another type; sums that could exceed int32.
    pub fn of(links: &Links<'_>, node: &Node) -> Result<Self, Refusal> {
        let operand = int8_operand(links, node)?;
        if !pattern::has_weights(links, node) {
            return Err(no(RefusalKind::Constant, "the weights are not int8 constants without zero points"));
        }
        let weights = pattern::tensor(node, 1).and_then(|id| ByteWeights::of(links, id)).ok_or_else(cut)?;
        let bias = pattern::tensor(node, 2).and_then(|id| floats(links, id)).unwrap_or_default();
        Ok(Self { operand, weights, bias })
    }

    /// The product for a range of output channels; `None` beyond their end.
    fn of_channels(&self, range: Range<usize>) -> Option<Self> {
        let ByteWeights { bytes, scales, sizes } = &self.weights;
        let (count, inner) = (range.len(), sizes.get(1..)?.iter().product::<usize>());
        let sizes = std::iter::once(count).chain(sizes.iter().skip(1).copied()).collect();
        let bytes = bytes.part(range.start * inner, count * inner)?;
        let bias = self.bias.iter().skip(range.start).take(count).copied().collect();
        let weights = ByteWeights { bytes, scales: scales.get(range)?.to_vec(), sizes };
        Some(Self { operand: self.operand, weights, bias })
    }

    /// The output channels.
    pub fn channels(&self) -> usize {
        self.weights.scales.len()
    }

    /// The scale of the sums of a channel.
    fn scale(&self, channel: usize) -> f64 {
        self.operand.qparams.scale * f64::from(self.weights.scales[channel])
    }

    /// The bias of each channel at the scale of its sums.
    ///
    /// # Errors
    /// A channel whose sums could exceed int32.
    fn biases(&self) -> Result<Vec<i32>, Refusal> {
        let inner = (self.weights.bytes.bytes().len() / self.channels().max(1)).max(1);
        let channels = self.weights.bytes.bytes().chunks(inner).enumerate();
        let biases = channels.map(|(channel, weights)| {
            let most: i64 = weights.iter().map(|weight| 255 * i64::from(weight.cast_signed()).abs()).sum();
            let bias = f64::from(self.bias.get(channel).copied().unwrap_or(0.0)) / self.scale(channel);
            let bias = bias.round_ties_even() as i64;
            i32::try_from(bias.saturating_abs().saturating_add(most)).ok().map(|_| bias as i32)
        });
        let biases: Option<Vec<i32>> = biases.collect();
        biases.ok_or_else(|| no(RefusalKind::Quantization, "the sums of a channel exceed 32 bits"))
    }

    /// The factors of the sums for results of a scale.
    fn scales(&self, scale: f64) -> Result<Vec<Scale>, Refusal> {
        let scales = (0..self.channels()).map(|channel| Scale::of(self.scale(channel) / scale));
        let scales: Option<Vec<Scale>> = scales.collect();
        scales.ok_or_else(|| no(RefusalKind::Quantization, "the scales of operand and result differ too much"))
    }
}

/// Lowers a convolution.
pub fn lower(lowering: &mut Lowering<'_>, node: &Node, target: &Target) -> Done {
    let product = Product::of(lowering.links, node)?;
    let call = Call::new(lowering.links, node);
    if call.flag(6)? {
        return Err(no(RefusalKind::Argument, "the convolution is transposed"));
    }
    if !(3..=4).contains(&product.weights.sizes.len()) {
        return Err(no(RefusalKind::Shape, "images have one or two dimensions"));
    }
    let groups = call.int(8)?.and_then(|groups| usize::try_from(groups).ok()).unwrap_or(0);
    let ([_, inputs, image @ ..], [_, outputs, results @ ..]) =
        (image_sizes(&lowering.sizes(product.operand.id))?, image_sizes(&call.output_sizes()?)?);
    if groups == 0 || inputs % groups != 0 || outputs % groups != 0 {
        return Err(no(RefusalKind::Argument, "the channels are no multiple of the groups"));
    }
    let geometry = call.convolution()?;
    let fit = Fit::of(&geometry, image, results)?;
    let window = Window { pad: fit.pad, stride: pair(geometry.stride), dilation: pair(geometry.dilation) };
    let name = lowering.name(target.id);
    let image = lowering.ordered(product.operand.id, Order::Nhwc)?;
    let image = lowering.read(image, fit.read, name);
    let convolution = Convolution { window, kernel: geometry.kernel.map(|size| size as usize), results };
    let result = match groups {
        1 => lowering.convolved(&product, &convolution, image, target)?,
        _ if groups == inputs => lowering.convolved_by_channel(&product, &convolution, image, target)?,
        _ => lowering.convolved_in_groups((&product, groups), &convolution, image, target)?,
    };
    lowering.store(target, result, Order::Nhwc);
    Ok(())
}

/// What the convolutions of all groups have in common.
struct Convolution {
    window: Window,
    kernel: [usize; 2],
    /// Height and width of the result.
    results: [usize; 2],
}

impl Lowering<'_> {
    /// The convolution of all channels of an image.
    fn convolved(
        &mut self,
        product: &Product,
        Convolution { window, kernel: [height, width], results }: &Convolution,
        image: TensorId,
        target: &Target,
    ) -> Result<TensorId, Refusal> {
        let [batch, _, _, inputs] = self.sizes_of(image)[..] else { return Err(cut()) };
        let bytes = reordered(&product.weights, height * width, false);
        let name = format!("{}.weights", self.name(target.id));
        let weights = self.bytes(&name, &[product.channels(), *height, *width, inputs], bytes);
        let sizes = [batch, results[0], results[1], product.channels()];
        self.product(product, Conv2d(*window), [image, weights], &sizes, target)
    }

    /// The convolution of each channel of an image alone.
    fn convolved_by_channel(
        &mut self,
        product: &Product,
        Convolution { window, kernel: [height, width], results }: &Convolution,
        image: TensorId,
        target: &Target,
    ) -> Result<TensorId, Refusal> {
        let [batch, _, _, inputs] = self.sizes_of(image)[..] else { return Err(cut()) };
        let bytes = reordered(&product.weights, height * width, true);
        let name = format!("{}.weights", self.name(target.id));
        let weights = self.bytes(&name, &[*height, *width, inputs, product.channels() / inputs], bytes);
        let sizes = [batch, results[0], results[1], product.channels()];
        self.product(product, DepthwiseConv2d(*window), [image, weights], &sizes, target)
    }

    /// The convolutions of groups of channels, whose results lie behind each other.
    fn convolved_in_groups(
        &mut self,
        (product, groups): (&Product, usize),
        convolution: &Convolution,
        image: TensorId,
        target: &Target,
    ) -> Result<TensorId, Refusal> {
        let [batch, height, width, inputs] = self.sizes_of(image)[..] else { return Err(cut()) };
        let (name, inner, outer) = (self.name(target.id), inputs / groups, product.channels() / groups);
        let mut results = Vec::new();
        for group in 0..groups {
            let [start, sizes] = [[0, 0, 0, group * inner], [batch, height, width, inner]];
            let part = self.sliced(image, [&start, &sizes], &format!("{name}.group"));
            let product = product.of_channels(group * outer..(group + 1) * outer).ok_or_else(cut)?;
            results.push(self.convolved(&product, convolution, part, target)?);
        }
        let sizes = [batch, convolution.results[0], convolution.results[1], product.channels()];
        Ok(self.emit(Concat { axis: 3 }, &results, (&format!("{name}.groups"), Kind::Int8, &sizes)))
    }
}

/// Weights `[outputs][inputs][taps]` in the order of TOSA: `[outputs][taps][inputs]`, or `[taps][outputs]` for one input each.
fn reordered(weights: &ByteWeights, taps: usize, is_depthwise: bool) -> Vec<u8> {
    let bytes = weights.bytes.bytes();
    let outputs = weights.scales.len();
    let inner = bytes.len() / (outputs * taps).max(1);
    let mut reordered = Vec::with_capacity(bytes.len());
    if is_depthwise {
        reordered.extend((0..taps).flat_map(|tap| (0..outputs).map(move |channel| channel * taps + tap)));
    } else {
        let rows = (0..outputs).flat_map(|output| (0..taps).map(move |tap| output * inner * taps + tap));
        reordered.extend(rows.flat_map(|start| (0..inner).map(move |input| start + input * taps)));
    }
    reordered.into_iter().map(|place| bytes.get(place).copied().unwrap_or(0)).collect()
}

impl Lowering<'_> {
    /// The int8 result of a product, within the limits of the target.
    pub fn product(
        &mut self,
        product: &Product,
        operation: impl crate::tosa::Operation + 'static,
        [image, weights]: [TensorId; 2],
        sizes: &[usize],
        target: &Target,
    ) -> Result<TensorId, Refusal> {
        let name = self.name(target.id);
        let (biases, scales) = (product.biases()?, product.scales(target.qparams.scale)?);
        let inputs = [
            image,
            weights,
            self.integers(&format!("{name}.bias"), &biases),
            self.number(&format!("{name}.zero_image"), Kind::Int8, product.operand.qparams.zero),
            self.number(&format!("{name}.zero_weights"), Kind::Int8, 0),
        ];
        let sums = self.emit(operation, &inputs, (&format!("{name}.sums"), Kind::Int32, sizes));
        Ok(self.finish(sums, scales, target))
    }
}
