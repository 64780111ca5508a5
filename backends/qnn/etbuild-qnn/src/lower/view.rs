//! Other shapes and orders of the same elements.

use etbuild_backend::{Call, dim};
use etbuild_ir::ValueId;

use crate::builder::{Builder, Form, Order, Step};
use crate::encoding::Encoding;
use crate::program::{Parameter, TensorId};

use super::{Done, no_arguments};

/// An operand that is only moved, in the encoding that it has.
pub fn moved(builder: &mut Builder<'_>, id: ValueId, order: Order) -> Step<(TensorId, Form)> {
    let encoding = match builder.is_constant(id) {
        true => Encoding::Float,
        false => builder.form(id)?.encoding,
    };
    let form = Form { encoding, order };
    Ok((builder.operand(id, form)?, form))
}

/// The value itself.
pub fn identity(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let input = call.value(0)?;
    let order = if builder.is_constant(input) { Order::RowMajor } else { builder.form(input)?.order };
    let (tensor, form) = moved(builder, input, order)?;
    builder.store(call.output()?, form, tensor);
    Ok(())
}

/// Another shape with the elements in the same row-major order.
pub fn reshape(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let (tensor, form) = moved(builder, call.value(0)?, Order::RowMajor)?;
    builder.compute("Reshape", Vec::new(), vec![tensor], (call.output()?, form));
    Ok(())
}

/// Permuted dimensions.
pub fn permute(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let rank = call.sizes(call.value(0)?).len();
    let dims = call.ints(1)?.iter().map(|number| dim(*number, rank)).collect::<Result<Vec<_>, _>>()?;
    permuted(builder, &call, &dims)
}

/// Two exchanged dimensions.
pub fn transpose(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let rank = call.sizes(call.value(0)?).len();
    let mut dims: Vec<usize> = (0..rank).collect();
    if rank == 0 {
        return Err(no_arguments());
    }
    dims.swap(call.dim(1, rank)?, call.dim(2, rank)?);
    permuted(builder, &call, &dims)
}

/// A transposed matrix; a vector stays.
pub fn transpose_matrix(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let rank = call.sizes(call.value(0)?).len();
    permuted(builder, &call, &(0..rank).rev().collect::<Vec<_>>())
}

/// Dimension `d` of the output is dimension `dims[d]` of the input. Permutations between the two orders of images rename the order.
fn permuted(builder: &mut Builder<'_>, call: &Call<'_>, dims: &[usize]) -> Done {
    let (input, output) = (call.value(0)?, call.output()?);
    let known = if builder.is_constant(input) { Order::RowMajor } else { builder.form(input)?.order };
    let renamed = match (known, dims) {
        (Order::Nhwc, [0, 2, 3, 1]) => Some(Order::RowMajor),
        (Order::RowMajor, [0, 3, 1, 2]) => Some(Order::Nhwc),
        _ => None,
    };
    if let Some(order) = renamed {
        let (tensor, form) = moved(builder, input, known)?;
        builder.store(output, Form { order, ..form }, tensor);
        return Ok(());
    }
    let (tensor, form) = moved(builder, input, Order::RowMajor)?;
    if dims.len() > 4 {
        let made = squeezed(builder, [input, output], (tensor, form.encoding), dims);
        builder.compute("Reshape", Vec::new(), vec![made], (output, form));
        return Ok(());
    }
    builder.compute("Transpose", vec![order_of(dims)], vec![tensor], (output, form));
    Ok(())
}

/// A permutation of the dimensions that are not of size 1. The compiler fails where slices of a permutation of five dimensions follow a
/// linear layer in fp16, as in `nn.MultiheadAttention`.
fn squeezed(
    builder: &mut Builder<'_>,
    [input, output]: [ValueId; 2],
    (tensor, encoding): (TensorId, Encoding),
    dims: &[usize],
) -> TensorId {
    let sizes = builder.sizes(input, Order::RowMajor);
    let is_kept = |(dim, size): &(usize, u32)| *size != 1 || (*dim == 0 && sizes.iter().all(|size| *size == 1));
    let (kept, from): (Vec<usize>, Vec<u32>) = sizes.iter().copied().enumerate().filter(is_kept).unzip();
    let places: Vec<usize> = dims.iter().filter_map(|dim| kept.iter().position(|kept| kept == dim)).collect();
    let to = places.iter().map(|place| from[*place]).collect();
    let flat = builder.temporary(input, encoding, from);
    builder.operation("Reshape", Vec::new(), vec![tensor], flat);
    let made = builder.temporary(output, encoding, to);
    builder.operation("Transpose", vec![order_of(&places)], vec![flat], made);
    made
}

/// The parameter of a transposition.
fn order_of(dims: &[usize]) -> (&'static str, Parameter) {
    ("perm", Parameter::Integers(vec![dims.len() as u32], dims.iter().map(|dim| *dim as u32).collect()))
}

/// Repeated dimensions of size 1.
pub fn expand(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let (input, output) = (call.value(0)?, call.output()?);
    let (tensor, form) = moved(builder, input, Order::RowMajor)?;
    let to = builder.sizes(output, Order::RowMajor);
    let from = builder.sizes(input, Order::RowMajor);
    let missing = to.len().saturating_sub(from.len());
    let padded: Vec<u32> = std::iter::repeat_n(1, missing).chain(from).collect();
    let same_rank = builder.temporary(input, form.encoding, padded.clone());
    builder.operation("Reshape", Vec::new(), vec![tensor], same_rank);
    let times: Vec<u32> = to.iter().zip(&padded).map(|(to, from)| to / from.max(&1)).collect();
    let times = ("multiples", Parameter::Integers(vec![times.len() as u32], times));
    builder.compute("Tile", vec![times], vec![same_rank], (output, form));
    Ok(())
}
