//! Static quantization: quantize and dequantize operators, int8 convolution and int8 GEMM.

use et_cpu::{Activation, Numbers, Place, QuantizedDepthwise, QuantizedProduct, Rows, SlotNumber, Window};
use etbuild_ir::{Argument, Node, ValueId};

use crate::Problem;
use crate::builder::{Builder, place};
use crate::call::Call;
use crate::constant::{self, ByteWeights};
use crate::lower::product::{floats, is_depthwise, little_endian, pixels};
use crate::lower::{Lowered, elementwise, fold};
use crate::pack::{self, Form, Packing};
use crate::tensor::Tensor;

/// Quantization: fused into the instruction that computes the f32 tensor, where the tensor has no other consumer.
pub fn quantize(builder: &mut Builder<'_>, call: Call<'_>) -> Lowered {
    let (id, numbers) = (call.value(0)?, numbers(&call)?);
    let input = builder.lying(id)?;
    let bytes = if input.numbers == numbers {
        input
    } else if let Some(bytes) = fold::quantize(builder, id, &input, numbers) {
        bytes
    } else {
        elementwise::converted(builder, &input, numbers)?
    };
    builder.set(call.output()?, Tensor { numbers: Numbers::REAL, ..bytes });
    Ok(())
}

/// Dequantization: the tensor stays int8 until a consumer needs f32. Constants are dequantized by consumers.
pub fn dequantize(builder: &mut Builder<'_>, call: Call<'_>) -> Lowered {
    if !constant::dequantizes_constants(builder.links, call.node) {
        let bytes = builder.lying(call.value(0)?)?;
        builder.set(call.output()?, Tensor { numbers: numbers(&call)?, ..bytes });
    }
    Ok(())
}

/// Quantized weights are packed by the GEMM or convolution that reads the weights.
pub fn dequantize_constant(_: &mut Builder<'_>, _: Call<'_>) -> Lowered {
    Ok(())
}

/// The per-tensor qparams of `(input, scale, zero_point, ...)`.
fn numbers(call: &Call<'_>) -> Result<Numbers, Problem> {
    let scale = call.number(1)?.ok_or(Problem::Arguments)? as f32;
    let zero_point = call.int(2)?.and_then(|point| i32::try_from(point).ok()).ok_or(Problem::Arguments)?;
    Ok(Numbers { scale, zero_point })
}

/// The operands of an int8 GEMM or convolution.
pub struct Operands {
    weights: ByteWeights,
    bias: Option<Vec<f32>>,
}

impl Operands {
    /// The weights and bias of an int8 convolution or linear layer, where input tensor and weights are int8.
    pub fn of(builder: &mut Builder<'_>, call: &Call<'_>) -> Result<Option<Self>, Problem> {
        let Some(weights) = constant::byte_weights(builder.links, call.value(1)?) else { return Ok(None) };
        // Only linear layers read dynamically quantized rows.
        let input = builder.lying(call.value(0)?)?;
        let is_computed = input.numbers.are_bytes() && (!convolves_channels(call)? || becomes_bytes(builder, call)?);
        let bias = call.optional_value(2)?.map(|id| floats(builder, id)).transpose()?;
        Ok(is_computed.then_some(Self { weights, bias }))
    }

    /// The per-channel scales of the int32 accumulators.
    fn scales(&self, input: Numbers) -> Vec<f32> {
        self.weights.scales.iter().map(|scale| scale * input.scale).collect()
    }

    /// The int32 bias, in units of the accumulator scales.
    fn steps(&self, scales: &[f32]) -> Vec<i32> {
        let bias = |column: usize| self.bias.as_ref().and_then(|bias| bias.get(column)).copied().unwrap_or(0.0);
        let step = |(column, scale): (usize, &f32)| (f64::from(bias(column)) / f64::from(*scale)).round_ties_even();
        scales.iter().enumerate().map(step).map(|steps| steps as i32).collect()
    }
}

/// Whether a call is a depthwise convolution.
fn convolves_channels(call: &Call<'_>) -> Result<bool, Problem> {
    if call.node.operator.name() != "convolution" {
        return Ok(false);
    }
    let channels = |id: ValueId| call.sizes(id).get(1).map(|size| *size as u32).ok_or(Problem::Arguments);
    let groups = call.int(8)?.map_or(1, |groups| groups as u32);
    let shape = |channels| [1, 1, channels];
    let (input, output) = (shape(channels(call.value(0)?)?), shape(channels(call.output()?)?));
    Ok(is_depthwise(&Window { input, output, groups, ..Window::default() }))
}

/// Whether the output of a depthwise convolution is quantized, after at most an activation that the kernel's epilogue has.
fn becomes_bytes(builder: &Builder<'_>, call: &Call<'_>) -> Result<bool, Problem> {
    let mut id = call.output()?;
    let mut functions = 0;
    while let Some(node) = builder.links.only_reader(id) {
        match node.operator.name() {
            _ if makes_bytes(node) => return Ok(true),
            "relu" | "hardswish" | "hardtanh" | "clamp" if functions == 0 && reads_first(node, id) => functions += 1,
            _ => return Ok(false),
        }
        id = *node.outputs.first().ok_or(Problem::Arguments)?;
    }
    Ok(false)
}

/// Whether a node quantizes with static qparams.
pub fn makes_bytes(node: &Node) -> bool {
    node.operator.as_str() == "quantized_decomposed.quantize_per_tensor.default"
}

fn reads_first(node: &Node, id: ValueId) -> bool {
    node.arguments.first() == Some(&Argument::Value(id))
}

/// An int8 GEMM or convolution with an f32 output, until [`fold::quantize`] fuses requantization.
pub fn product(
    builder: &mut Builder<'_>,
    operands: &Operands,
    (input, numbers): (Rows, Numbers),
    output: &Tensor,
    window: Window,
) -> Lowered {
    let scales = operands.scales(numbers);
    let steps = operands.steps(&scales);
    let weights = operands.weights.bytes.clone();
    let packing = Packing { window, weights, form: Form::Bytes(scales, steps), adapter: None };
    let weights = builder.packed(packing)?;
    let product = instruction(input, numbers, pixels(output, window.output[2]), weights, window);
    builder.make(output.buffer, product);
    Ok(())
}

/// An int8 GEMM or convolution with an f32 output and an empty epilogue.
pub fn instruction(
    input: Rows,
    numbers: Numbers,
    output: Rows,
    weights: SlotNumber,
    window: Window,
) -> QuantizedProduct {
    QuantizedProduct {
        input,
        row_scales: Place::ABSENT,
        input_zero: numbers.zero_point,
        output,
        numbers: Numbers::REAL,
        is_divided: 0,
        residual: Rows { place: Place::ABSENT, stride: 0 },
        residual_numbers: Numbers::REAL,
        weights,
        residual_last: 0,
        window,
        activation: Activation::clamp(f32::NEG_INFINITY, f32::INFINITY),
    }
}

/// An int8 depthwise convolution; [`fold::quantize`] sets the qparams of the output.
pub fn depthwise(
    builder: &mut Builder<'_>,
    operands: &Operands,
    input: &Tensor,
    output: &Tensor,
    window: Window,
) -> Lowered {
    let bytes: Vec<i8> = operands.weights.bytes.bytes().iter().map(|byte| byte.cast_signed()).collect();
    let packed = pack::depthwise(&bytes, &window)?;
    let scales = operands.scales(input.numbers);
    let bias = operands.steps(&scales);
    let mut slot = |bytes: Vec<u8>| SlotNumber(builder.made(bytes).0);
    let words = |numbers: &[i32]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>();
    let convolution = QuantizedDepthwise {
        input: place(input),
        input_zero: input.numbers.zero_point,
        output: place(output),
        numbers: Numbers::REAL,
        weights: slot(packed.iter().map(|byte| byte.cast_unsigned()).collect()),
        bias: slot(words(&bias)),
        scales: slot(little_endian(&scales)),
        window,
        activation: Activation::clamp(f32::NEG_INFINITY, f32::INFINITY),
    };
    builder.make(output.buffer, convolution);
    Ok(())
}
