//! Reductions.

use etbuild_backend::{Call, Refusal, RefusalKind, dim};

use crate::builder::{Builder, Form, Order};
use crate::program::Parameter;

use super::Done;

/// A mean, sum or extreme over dimensions.
pub fn over(builder: &mut Builder<'_>, call: Call<'_>, type_name: &'static str) -> Done {
    let (input, output) = (call.value(0)?, call.output()?);
    let rank = call.sizes(input).len();
    let dims = call.ints(1)?.iter().map(|number| dim(*number, rank)).collect::<Result<Vec<_>, _>>()?;
    let keeps = call.flag(2)?;
    let encoding = builder.encoding(&[input], output)?;
    // Height and width lie together in both orders, so that a mean over an image moves nothing.
    let is_image = builder.form(input)?.order == Order::Nhwc && dims.iter().all(|dim| *dim >= 2) && dims.len() == 2;
    let (order, axes): (Order, Vec<u32>) = match is_image {
        true => (Order::Nhwc, vec![1, 2]),
        false => (Order::RowMajor, dims.iter().map(|dim| *dim as u32).collect()),
    };
    if axes.is_empty() || call.output_sizes()?.is_empty() {
        return Err(Refusal::new(RefusalKind::Argument, "the reduction covers all dimensions"));
    }
    let operand = builder.take(input, encoding, order)?;
    let order = if keeps { order } else { Order::RowMajor };
    let axes = Parameter::Integers(vec![axes.len() as u32], axes);
    let parameters = vec![("axes", axes), ("keep_dims", Parameter::Bool(keeps))];
    builder.compute(type_name, parameters, vec![operand], (output, Form { encoding, order }));
    Ok(())
}
