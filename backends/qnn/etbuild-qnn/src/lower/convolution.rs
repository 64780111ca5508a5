//! Convolutions, and linear layers as 1x1 convolutions: the form for which the NPU has its matrix unit and blocks of int4.

use etbuild_backend::{Call, Geometry, Refusal, RefusalKind, image_sizes};
use etbuild_ir::ValueId;

use crate::builder::{Builder, FLOAT, Form, Order, Step};
use crate::encoding::Encoding;
use crate::program::{Parameter, TensorId};

use super::weights::{Integers, Kernel, bias, float_weights};
use super::{Done, no_arguments};

/// The operands of a product besides the activations.
struct Product {
    kernel: Kernel,
    weight: ValueId,
    bias: Option<ValueId>,
}

/// The constants of a product, and the encoding in which it computes.
struct Operands {
    encoding: Encoding,
    constants: Vec<TensorId>,
}

/// A two-dimensional convolution.
pub fn convolution(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let (input, weight, output) = (call.value(0)?, call.value(1)?, call.output()?);
    let (sizes, from) = (call.sizes(weight), call.sizes(input));
    let (Ok([out, inner, height, width]), [_, channels, _, _]) = (image_sizes(&sizes), &from[..]) else {
        return Err(Refusal::new(RefusalKind::Shape, "only two-dimensional convolutions run on the NPU"));
    };
    if call.flag(6)? {
        return Err(Refusal::new(RefusalKind::Argument, "the convolution is transposed"));
    }
    let groups = call.int(8)?.and_then(|groups| usize::try_from(groups).ok()).ok_or_else(no_arguments)?;
    let geometry = call.convolution()?;
    // The library's depthwise convolution of several results for a channel gives wrong numbers with unequal strides, and with dilation.
    let is_exact = out == groups || (geometry.stride[0] == geometry.stride[1] && geometry.dilation == [1, 1]);
    let is_depthwise = groups > 1 && groups == *channels && inner == 1 && is_exact;
    let kernel = Kernel { out, inner, window: [height, width], is_depthwise };
    let product = Product { kernel, weight, bias: call.optional_value(2)? };
    let Operands { encoding, constants } = operands(builder, input, output, &product)?;
    if !matches!(encoding, Encoding::Integer(_)) && has_windows_of_padding(geometry) {
        return Err(Refusal::new(
            RefusalKind::Argument,
            "the padding of a convolution in fp16 is as large as the window",
        ));
    }
    let operand = builder.take(input, encoding, Order::Nhwc)?;
    let mut parameters = window(geometry);
    let type_name = if is_depthwise { "DepthWiseConv2d" } else { "Conv2d" };
    if !is_depthwise && groups > 1 {
        parameters.push(("group", Parameter::Uint32(groups as u32)));
    }
    let inputs = [operand].into_iter().chain(constants).collect();
    builder.compute(type_name, parameters, inputs, (output, Form { encoding, order: Order::Nhwc }));
    Ok(())
}

/// Whether a window lies in the padding as a whole, for which the library gives wrong numbers in fp16.
fn has_windows_of_padding(geometry: Geometry) -> bool {
    let Geometry { kernel, padding, dilation, .. } = geometry;
    (0..2).any(|axis| padding[axis] > dilation[axis] * kernel[axis].saturating_sub(1))
}

/// A linear layer of any rank.
pub fn linear(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let (input, weight, output) = (call.value(0)?, call.value(1)?, call.output()?);
    let [out, inner] = call.sizes(weight)[..] else {
        return Err(Refusal::new(RefusalKind::Shape, "the weights are not a matrix"));
    };
    let kernel = Kernel { out, inner, window: [1, 1], is_depthwise: false };
    let product = Product { kernel, weight, bias: call.optional_value(2)? };
    let Operands { encoding, constants } = operands(builder, input, output, &product)?;
    let operand = builder.take(input, encoding, Order::RowMajor)?;
    let rows = call.sizes(input).iter().product::<usize>() / inner.max(1);
    let sizes = |columns: usize| [1, 1, rows, columns].map(|size| size as u32).to_vec();
    let from = if encoding == Encoding::Float { encoding } else { builder.form(input)?.encoding };
    let image = builder.temporary(input, from, sizes(inner));
    builder.operation("Reshape", Vec::new(), vec![operand], image);
    let result = builder.temporary(output, encoding, sizes(out));
    let pointwise = Geometry { kernel: [1, 1], stride: [1, 1], padding: [0, 0], dilation: [1, 1] };
    let inputs = [image].into_iter().chain(constants).collect();
    builder.operation("Conv2d", window(pointwise), inputs, result);
    builder.compute("Reshape", Vec::new(), vec![result], (output, Form { encoding, order: Order::RowMajor }));
    Ok(())
}

/// The weights and the bias of a product: integers, where the activations and the result are integers too.
fn operands(builder: &mut Builder<'_>, input: ValueId, output: ValueId, product: &Product) -> Step<Operands> {
    let Product { kernel, weight, bias: offset } = *product;
    let encoding = builder.encoding(&[input], output)?;
    let name = builder.links.graph.value(weight).name.clone();
    let integers = Integers::of(builder.links, weight, kernel);
    let from = if builder.is_constant(input) { FLOAT.encoding } else { builder.form(input)?.encoding };
    match (encoding, integers, from) {
        (Encoding::Integer(_), Some(integers), Encoding::Integer(from)) => {
            let weights = integers.add(builder, &name, kernel);
            let offset = bias(builder, offset, Some((from, &integers)))?;
            Ok(Operands { encoding, constants: [weights].into_iter().chain(offset).collect() })
        }
        _ => {
            let weights = float_weights(builder, weight, kernel)?;
            let offset = bias(builder, offset, None)?;
            Ok(Operands { encoding: Encoding::Float, constants: [weights].into_iter().chain(offset).collect() })
        }
    }
}

/// The parameters of a window that moves over an image.
fn window(geometry: Geometry) -> Vec<(&'static str, Parameter)> {
    let Geometry { stride, padding: [top, left], dilation, .. } = geometry;
    vec![
        ("stride", Parameter::Integers(vec![2], stride.to_vec())),
        ("pad_amount", Parameter::Integers(vec![2, 2], vec![top, top, left, left])),
        ("dilation", Parameter::Integers(vec![2], dilation.to_vec())),
    ]
}
