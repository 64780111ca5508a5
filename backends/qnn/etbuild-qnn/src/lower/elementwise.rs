//! Operators of single elements.

use et_qnn::build::DataType;
use etbuild_backend::{Call, Refusal, RefusalKind, clamp_limits};
use etbuild_ir::{Argument, ValueId};

use crate::builder::{Builder, Form, Order, Step};
use crate::encoding::{Affine, Encoding};
use crate::program::{Parameter, TensorId};

use super::{Done, no_arguments};

/// The functions of `ElementWiseNeuron`.
#[derive(Clone, Copy)]
enum Neuron {
    Elu = 0,
    Gelu = 1,
    HardSigmoid = 2,
}

/// An operation of one operand.
pub fn unary(builder: &mut Builder<'_>, call: Call<'_>, type_name: &'static str) -> Done {
    function(builder, &call, type_name, Vec::new())
}

fn function(
    builder: &mut Builder<'_>,
    call: &Call<'_>,
    type_name: &'static str,
    parameters: Vec<(&'static str, Parameter)>,
) -> Done {
    let (input, output) = (call.value(0)?, call.output()?);
    let order = builder.form(input)?.order;
    builder.map(type_name, parameters, [input, output], order)
}

fn neuron(
    builder: &mut Builder<'_>,
    call: &Call<'_>,
    neuron: Neuron,
    more: impl IntoIterator<Item = (&'static str, Parameter)>,
) -> Done {
    let parameters = [("operation", Parameter::Uint32(neuron as u32))].into_iter().chain(more).collect();
    function(builder, call, "ElementWiseNeuron", parameters)
}

/// ELU with the usual scales.
pub fn elu(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    if [2, 3]
        .into_iter()
        .any(|position| call.number(position).is_ok_and(|scale| scale.is_some_and(|scale| scale != 1.0)))
    {
        return Err(Refusal::new(RefusalKind::Argument, "ELU has a scale"));
    }
    let alpha = call.number(1)?.unwrap_or(1.0) as f32;
    neuron(builder, &call, Neuron::Elu, [("alpha", Parameter::Float32(alpha))])
}

/// GELU, whose approximation differs by less than a step of fp16.
pub fn gelu(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    neuron(builder, &call, Neuron::Gelu, [])
}

/// `clamp(x / 6 + 1 / 2, 0, 1)`.
pub fn hardsigmoid(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let line = [("alpha", Parameter::Float32(1.0 / 6.0)), ("beta", Parameter::Float32(0.5))];
    neuron(builder, &call, Neuron::HardSigmoid, line)
}

/// `x * sigmoid(x)`.
pub fn silu(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let (input, output) = (call.value(0)?, call.output()?);
    let (encoding, order) = (builder.encoding(&[input], output)?, builder.form(input)?.order);
    let operand = builder.take(input, encoding, order)?;
    let gate = match encoding {
        Encoding::Integer(affine) => Encoding::Integer(unit(affine.data_type)),
        other => other,
    };
    let sigmoid = sigmoid_of(builder, [input, output], operand, Form { encoding: gate, order })?;
    builder.compute("ElementWiseMultiply", Vec::new(), vec![operand, sigmoid], (output, Form { encoding, order }));
    Ok(())
}

/// `sigmoid(x)`.
pub fn sigmoid(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let (input, output) = (call.value(0)?, call.output()?);
    let (encoding, order) = (builder.encoding(&[input], output)?, builder.form(input)?.order);
    let operand = builder.take(input, encoding, order)?;
    let form = Form { encoding, order };
    let sigmoid = sigmoid_of(builder, [input, output], operand, form)?;
    builder.store(output, form, sigmoid);
    Ok(())
}

/// The most rows of an image that the compiler cuts into no tiles.
const ROWS_OF_A_TILE: u32 = 8;

/// The sigmoid of an operand, in a form. In 16 bits the compiler fuses a sigmoid with the product of the operand and the sigmoid,
/// which computes wrong numbers for many images of more than 8 rows, 11 x 7 and 28 x 8 among them, in both orders: the sigmoid of such
/// images reads and writes a matrix, which is not fused.
fn sigmoid_of(
    builder: &mut Builder<'_>,
    [input, output]: [ValueId; 2],
    operand: TensorId,
    form: Form,
) -> Step<TensorId> {
    let sigmoid = builder.native(output, form);
    let sizes = builder.sizes(output, form.order);
    let is_word = matches!(form.encoding, Encoding::Integer(affine) if affine.data_type == DataType::Uint16);
    let matrix = match sizes[..] {
        [.., rows, _, channels] if is_word && rows > ROWS_OF_A_TILE => {
            vec![sizes.iter().product::<u32>() / channels, channels]
        }
        _ => {
            builder.operation("Sigmoid", Vec::new(), vec![operand], sigmoid);
            return Ok(sigmoid);
        }
    };
    let own = builder.form(input)?.encoding;
    let [read, written] = [own, form.encoding].map(|encoding| builder.temporary(output, encoding, matrix.clone()));
    builder.operation("Reshape", Vec::new(), vec![operand], read);
    builder.operation("Sigmoid", Vec::new(), vec![read], written);
    builder.operation("Reshape", Vec::new(), vec![written], sigmoid);
    Ok(sigmoid)
}

/// The qparams that the library demands of results from 0 to 1.
pub fn unit(data_type: DataType) -> Affine {
    let steps = if data_type == DataType::Uint16 { 65_536.0 } else { 256.0 };
    Affine { data_type, scale: 1.0 / steps, zero: 0 }
}

/// ReLU and clamps: nothing, where the integers reach no further.
pub fn clamp(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let (input, output) = (call.value(0)?, call.output()?);
    let limits = clamp_limits(call.node).ok_or_else(no_arguments)?.map(|limit| limit as f32);
    if limits[0].partial_cmp(&limits[1]) != Some(std::cmp::Ordering::Less) {
        return Err(Refusal::new(RefusalKind::Argument, "the limits of the clamp are crossed"));
    }
    let (encoding, order) = (builder.encoding(&[input], output)?, builder.form(input)?.order);
    let form = Form { encoding, order };
    if let Encoding::Integer(affine) = encoding {
        let is_inside = |[least, greatest]: [f32; 2]| {
            least >= limits[0] - affine.scale / 2.0 && greatest <= limits[1] + affine.scale / 2.0
        };
        if builder.form(input)? == form && is_inside(affine.range()) {
            let tensor = builder.read(input, form)?;
            builder.store(output, form, tensor);
            return Ok(());
        }
    }
    if matches!(encoding, Encoding::Integer(_)) {
        return limited(builder, [input, output], limits, form);
    }
    let operand = builder.take(input, encoding, order)?;
    let finite = limits.map(|limit| Parameter::Float32(limit.clamp(-65_504.0, 65_504.0)));
    let [least, greatest] = finite;
    builder.compute("ReluMinMax", vec![("min_value", least), ("max_value", greatest)], vec![operand], (output, form));
    Ok(())
}

/// A clamp of integers that reach further: a maximum and a minimum. The compiler replaces `ReluMinMax` behind a product or a sum by the
/// saturation of the result, which has other limits.
fn limited(builder: &mut Builder<'_>, [input, output]: [ValueId; 2], limits: [f32; 2], form: Form) -> Done {
    let is_limited = limits.iter().any(|limit| limit.is_finite());
    let mut tensor = match is_limited {
        true => builder.take(input, form.encoding, form.order)?,
        false => builder.read(input, form)?,
    };
    let types = ["ElementWiseMaximum", "ElementWiseMinimum"];
    for (limit, type_name) in limits.into_iter().zip(types).filter(|(limit, _)| limit.is_finite()) {
        let number = number_like(builder, limit, form.encoding);
        let made = builder.native(output, form);
        builder.operation(type_name, Vec::new(), vec![tensor, number], made);
        tensor = made;
    }
    builder.store(output, form, tensor);
    Ok(())
}

/// A sum or difference without a factor.
pub fn scaled(builder: &mut Builder<'_>, call: Call<'_>, type_name: &'static str) -> Done {
    match call.node.arguments.get(2) {
        None | Some(Argument::None | Argument::Int(1)) => binary(builder, call, type_name),
        Some(Argument::Float(factor)) if *factor == 1.0 => binary(builder, call, type_name),
        _ => Err(Refusal::new(RefusalKind::Argument, "the second operand has a factor")),
    }
}

/// An operation of two tensors, which broadcast.
pub fn binary(builder: &mut Builder<'_>, call: Call<'_>, type_name: &'static str) -> Done {
    let (left, right, output) = (call.value(0)?, call.value(1)?, call.output()?);
    let encoding = builder.encoding(&[left, right], output)?;
    let order = common_order(builder, [left, right], output)?;
    let operands = [left, right].map(|id| builder.take(id, encoding, order));
    let [left, right] = operands;
    builder.compute(type_name, Vec::new(), vec![left?, right?], (output, Form { encoding, order }));
    Ok(())
}

/// The order in which two operands meet: that of an image of the result's rank, if both have the rank.
fn common_order(builder: &mut Builder<'_>, operands: [ValueId; 2], output: ValueId) -> Step<Order> {
    let rank = |id| builder.links.graph.spec(id).rank();
    if operands.iter().any(|id| rank(*id) != rank(output)) {
        return Ok(Order::RowMajor);
    }
    for id in operands {
        if !builder.is_constant(id) && builder.form(id)?.order == Order::Nhwc {
            return Ok(Order::Nhwc);
        }
    }
    Ok(Order::RowMajor)
}

/// An operation of a tensor and a number.
pub fn scalar(builder: &mut Builder<'_>, call: Call<'_>, type_name: &'static str) -> Done {
    let (input, output) = (call.value(0)?, call.output()?);
    let number = call.number(1)?.ok_or_else(no_arguments)? as f32;
    if !matches!(call.node.arguments.get(2), None | Some(Argument::None | Argument::Int(1))) {
        return Err(Refusal::new(RefusalKind::Argument, "the number has a factor"));
    }
    let (encoding, order) = (builder.encoding(&[input], output)?, builder.form(input)?.order);
    let operand = builder.take(input, encoding, order)?;
    let number = number_like(builder, number, encoding);
    builder.compute(type_name, Vec::new(), vec![operand, number], (output, Form { encoding, order }));
    Ok(())
}

/// A number as a tensor that broadcasts: exact as the end of its range.
pub fn number_like(builder: &mut Builder<'_>, number: f32, computes: Encoding) -> TensorId {
    let encoding = match computes {
        Encoding::Integer(affine) => Encoding::Integer(Affine::of_numbers(affine.data_type, &[number])),
        other => other,
    };
    builder.numbers("number", encoding, vec![1], &[number])
}
