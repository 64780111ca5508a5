//! Products of two activations, and attention.

use etbuild_backend::{Call, Refusal, RefusalKind};

use crate::builder::{Builder, FLOAT, Form, Order};
use crate::encoding::Encoding;

use super::Done;
use super::stage::Stage;

/// A batched GEMM of two activations.
pub fn matmul(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let (left, right, output) = (call.value(0)?, call.value(1)?, call.output()?);
    let encoding = match builder.encoding(&[left, right], output)? {
        // The second operand of 16 bits would have to be symmetric.
        Encoding::Integer(affine) if affine.most() > 255 => Encoding::Float,
        other => other,
    };
    let operands = [left, right].map(|id| builder.take(id, encoding, Order::RowMajor));
    let [left, right] = operands;
    let form = Form { encoding, order: Order::RowMajor };
    builder.compute("MatMul", Vec::new(), vec![left?, right?], (output, form));
    Ok(())
}

/// `softmax(query key^T scale + mask) value`, in fp16.
pub fn scaled_dot_product(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let [query, key, value] = [call.value(0)?, call.value(1)?, call.value(2)?];
    let output = call.output()?;
    if call.flag(5)? {
        return Err(Refusal::new(RefusalKind::Argument, "attention without a stored mask is causal"));
    }
    let sizes = [query, key, value].map(|id| builder.sizes(id, Order::RowMajor));
    let [heads, kv_heads] = [&sizes[0], &sizes[1]].map(|sizes| sizes.iter().rev().nth(2).copied());
    if heads != kv_heads {
        return Err(Refusal::new(RefusalKind::Shape, "queries share heads of keys"));
    }
    let (Some(width), Some(keys)) = (sizes[0].last().copied(), sizes[1].iter().rev().nth(1).copied()) else {
        return Err(Refusal::new(RefusalKind::Shape, "an operand is not a batch of matrices"));
    };
    let scale = call.number(6)?.unwrap_or_else(|| f64::from(width).sqrt().recip());
    let mut shape = sizes[0].clone();
    shape.splice(shape.len() - 1.., [keys]);
    // The queries are scaled, which keeps products within fp16.
    let raw = builder.take(query, Encoding::Float, Order::RowMajor)?;
    let scaled = Stage { builder, name: query }.scaled(raw, scale);
    let key = builder.take(key, Encoding::Float, Order::RowMajor)?;
    let mut scores = Stage { builder, name: output }.scores([scaled, key], &shape);
    if let Some(mask) = call.optional_value(3)? {
        let mask = builder.take(mask, Encoding::Float, Order::RowMajor)?;
        scores = Stage { builder, name: output }.make("ElementWiseAdd", &[scores, mask], &shape);
    }
    let shares = Stage { builder, name: output }.softmax(scores);
    let value = builder.take(value, Encoding::Float, Order::RowMajor)?;
    builder.compute("MatMul", Vec::new(), vec![shares, value], (output, FLOAT));
    Ok(())
}
