//! Convolutions as CONV2D and DEPTHWISE_CONV2D; one-dimensional images have height 1.

use etbuild_backend::int8::pattern::{self, Operand, int8_operand, no};
use etbuild_backend::{ByteWeights, Call, Refusal, RefusalKind, floats, image_sizes};
use etbuild_ir::{Links, Node};

use super::build::Order;
use super::image::{Fit, pair};
use super::{Done, Lowering, Target, cut};
use crate::tosa::operation::{Conv2d, DepthwiseConv2d, Scale, Window};
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
    let is_depthwise = groups == inputs && groups > 1;
    if groups != 1 && !is_depthwise {
        return Err(no(RefusalKind::Argument, "groups have more than one channel"));
    }
    let geometry = call.convolution()?;
    let fit = Fit::of(&geometry, image, results)?;
    let window = Window { pad: fit.pad, stride: pair(geometry.stride), dilation: pair(geometry.dilation) };
    let name = lowering.name(target.id);
    let image = lowering.ordered(product.operand.id, Order::Nhwc)?;
    let image = lowering.read(image, fit.read, name);
    let [height, width] = geometry.kernel.map(|size| size as usize);
    let sizes = if is_depthwise { [height, width, inputs, outputs / inputs] } else { [outputs, height, width, inputs] };
    let bytes = reordered(&product.weights, height * width, is_depthwise);
    let weights = lowering.bytes(&format!("{name}.weights"), &sizes, bytes);
    let [batch, ..] = lowering.sizes_of(image)[..] else { return Err(cut()) };
    let sizes = [batch, results[0], results[1], outputs];
    let result = if is_depthwise {
        lowering.product(&product, DepthwiseConv2d(window), [image, weights], &sizes, target)
    } else {
        lowering.product(&product, Conv2d(window), [image, weights], &sizes, target)
    }?;
    lowering.store(target, result, Order::Nhwc);
    Ok(())
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
