//! `aten.scaled_dot_product_attention`: `softmax(query * key' * scale + mask) * value` (Vaswani et al. 2017).

use et_core::ScalarType;
use etbuild_ir::{Argument, TensorSpec, ValueId};

use crate::Reason;
use crate::edit::{Call, Dim, Editor, Rewritten};

/// The largest number of elements of a constant mask.
const LARGEST_MASK: usize = 1 << 22;

/// `scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa)`.
pub fn attention(editor: &mut Editor, call: &Call) -> Rewritten {
    let (query, mut key, mut value) = (call.value(0)?, call.value(1)?, call.value(2)?);
    if call.number(4)? != 0.0 {
        return Err(Reason::Training);
    }
    if call.flag(7)? {
        (key, value) = (share_heads(editor, query, key)?, share_heads(editor, query, value)?);
    }
    let scaled = scaled(editor, call, query)?;
    let key = editor.transpose(key)?;
    let spec = scores(editor, query, key)?;
    let scores = editor.call("matmul.default", vec![Argument::Value(scaled), Argument::Value(key)], spec)?;
    let masked = mask(editor, call, scores)?;
    let weights = editor.map("_softmax.default", masked, vec![Argument::Int(-1), Argument::Bool(false)])?;
    let arguments = vec![Argument::Value(weights), Argument::Value(value)];
    Ok(vec![editor.call("matmul.default", arguments, call.output()?)?])
}

/// `_scaled_dot_product_flash_attention_for_cpu(query, key, value, dropout_p, is_causal, attn_mask, scale)`, whose second
/// output is the logarithm of the sum of the exponentials of each row of scores.
pub fn flash(editor: &mut Editor, call: &Call) -> Rewritten {
    let order = [0, 1, 2, 5, 3, 4, 6].map(|index| call.argument(index).cloned());
    let mut arguments = order.into_iter().collect::<Result<Vec<_>, _>>()?;
    arguments.push(Argument::Bool(false));
    let plain = Call { arguments, ..call.clone() };
    let output = editor.call("scaled_dot_product_attention.default", plain.arguments.clone(), call.output()?)?;
    let query = scaled(editor, &plain, call.value(0)?)?;
    let key = editor.transpose(call.value(1)?)?;
    let scores = editor.product(query, key)?;
    let masked = mask(editor, &plain, scores)?;
    let sums = call.outputs.get(1).cloned().ok_or(Reason::Arguments)?;
    let arguments = vec![Argument::Value(masked), Argument::Ints(vec![-1]), Argument::Bool(false)];
    let sums = editor
        .call(
            "logsumexp.default",
            arguments,
            TensorSpec { scalar_type: editor.spec(masked).scalar_type, ..sums.clone() },
        )
        .and_then(|of| editor.convert(of, sums.scalar_type))?;
    Ok(vec![output, sums])
}

/// Repeats the key or value heads that several query heads share (grouped-query attention).
fn share_heads(editor: &mut Editor, query: ValueId, of: ValueId) -> Result<ValueId, Reason> {
    let (query, dims) = (editor.dims(query), editor.dims(of));
    let ([.., all, _, _], [outer @ .., own, rows, columns]) = (&query[..], &dims[..]) else {
        return Err(Reason::Arguments);
    };
    let (all, own) = (all.fixed()?, own.fixed()?);
    let times = all.checked_div(own).filter(|times| times * own == all).ok_or(Reason::Arguments)?;
    let with = |inner: &[Dim]| [outer, inner].concat();
    let single = editor.view_as(of, &with(&[own.into(), 1.into(), *rows, *columns]))?;
    let repeated = editor.expand_as(single, &with(&[own.into(), times.into(), *rows, *columns]))?;
    editor.view_as(repeated, &with(&[all.into(), *rows, *columns]))
}

/// The query times the scale; by default `1 / sqrt(head size)`.
fn scaled(editor: &mut Editor, call: &Call, query: ValueId) -> Result<ValueId, Reason> {
    let scale = match call.argument(6)? {
        Argument::None => 1.0 / f64::from(*editor.spec(query).sizes.last().ok_or(Reason::Arguments)?).sqrt(),
        _ => call.number(6)?,
    };
    editor.map("mul.Scalar", query, vec![Argument::Float(scale)])
}

/// The spec of the scores: like the query, with a score per key.
fn scores(editor: &Editor, query: ValueId, key: ValueId) -> Result<TensorSpec, Reason> {
    let mut dims = editor.dims(query);
    *dims.last_mut().ok_or(Reason::Arguments)? = *editor.dims(key).last().ok_or(Reason::Arguments)?;
    Ok(Dim::spec(editor.spec(query).scalar_type, &dims))
}

fn mask(editor: &mut Editor, call: &Call, scores: ValueId) -> Result<ValueId, Reason> {
    let mask = match (call.optional_value(3)?, call.flag(5)?) {
        (Some(mask), false) => mask,
        (None, true) => causal(editor, scores)?,
        (None, false) => return Ok(scores),
        (Some(_), true) => return Err(Reason::Arguments),
    };
    if editor.spec(mask).scalar_type != ScalarType::Bool {
        return editor.map("add.Tensor", scores, vec![Argument::Value(mask), Argument::Int(1)]);
    }
    let output = editor.spec(scores).clone();
    let nothing = TensorSpec::contiguous(output.scalar_type, []);
    let nothing = editor.full(Argument::Float(f64::NEG_INFINITY), nothing)?;
    editor.call("where.self", [mask, scores, nothing].map(Argument::Value).to_vec(), output)
}

/// The causal mask: a query attends to keys at the same or an earlier position. The mask is a constant for the largest
/// sizes; smaller sizes read a part.
fn causal(editor: &mut Editor, scores: ValueId) -> Result<ValueId, Reason> {
    let dims = editor.dims(scores);
    let [.., rows, columns] = dims[..] else { return Err(Reason::Arguments) };
    let [queries, keys] = [rows, columns].map(|dim| dim.most);
    let spec = TensorSpec::contiguous(ScalarType::Bool, [queries, keys]);
    if spec.numel() > LARGEST_MASK {
        return Err(Reason::Unsupported("a causal mask of more than four million elements"));
    }
    let seen = (0..queries).flat_map(|query| (0..keys).map(move |key| u8::from(key <= query)));
    let whole = editor.constant(spec, seen.collect());
    editor.corner(whole, [rows, columns])
}
