//! Losses: a term for each element or row, and the reduction of the terms.

use etbuild_ir::{Argument, ValueId};

use super::formula::operands;
use super::statistics::norm_of;
use crate::Reason;
use crate::edit::{Call, Editor, Rewritten};

type Made = Result<ValueId, Reason>;

/// `mse_loss(self, target, reduction)` and `l1_loss(self, target, reduction)`.
pub fn difference(editor: &mut Editor, call: &Call) -> Rewritten {
    let [left, right] = operands(editor, call)?;
    let difference = editor.pair("sub", left, right)?;
    let each = match call.operator.name() {
        "mse_loss" => editor.pair("mul", difference, difference)?,
        _ => editor.apply("abs", difference)?,
    };
    reduced(editor, each, call.int(2)?)
}

/// `huber_loss(self, target, reduction, delta)` and `smooth_l1_loss(self, target, reduction, beta)`: quadratic below the
/// threshold, linear above; `smooth_l1_loss` is divided by the threshold.
pub fn huber(editor: &mut Editor, call: &Call) -> Rewritten {
    let ([left, right], threshold) = (operands(editor, call)?, call.number(3)?);
    let difference = editor.pair("sub", left, right)?;
    let size = editor.apply("abs", difference)?;
    if threshold == 0.0 {
        return reduced(editor, size, call.int(2)?);
    }
    let scale = if call.operator.name() == "huber_loss" { threshold } else { 1.0 };
    let square = editor.pair("mul", size, size)?;
    let square = editor.times(square, 0.5 * scale / threshold)?;
    let line = editor.plus(size, -0.5 * threshold)?;
    let line = editor.times(line, scale)?;
    let below = editor.compare("lt.Scalar", size, Argument::Float(threshold))?;
    let spec = editor.spec(size).clone();
    let each = editor.choose(below, square, line, spec)?;
    reduced(editor, each, call.int(2)?)
}

/// `hinge_embedding_loss(self, target, margin, reduction)`: `self` where the target is 1, `max(0, margin - self)` where
/// the target is -1.
pub fn hinge_embedding(editor: &mut Editor, call: &Call) -> Rewritten {
    let [input, target] = operands(editor, call)?;
    let negated = editor.apply("neg", input)?;
    let hinge = above_zero(editor, negated, call.number(2)?)?;
    let zero = editor.times(input, 0.0)?;
    let spec = editor.spec(hinge).clone();
    let is_one = editor.compare("eq.Scalar", target, Argument::Int(1))?;
    let is_opposite = editor.compare("eq.Scalar", target, Argument::Int(-1))?;
    // Other targets count both parts, like PyTorch's.
    let apart = editor.choose(is_one, zero, hinge, spec.clone())?;
    let near = editor.choose(is_opposite, zero, input, spec)?;
    let each = editor.pair("add", apart, near)?;
    reduced(editor, each, call.int(3)?)
}

/// `kl_div(self, target, reduction, log_target)`: `target * (log(target) - self)`.
pub fn divergence(editor: &mut Editor, call: &Call) -> Rewritten {
    let [input, target] = operands(editor, call)?;
    let each = if call.flag(3)? {
        let difference = editor.pair("sub", target, input)?;
        let probability = editor.apply("exp", target)?;
        editor.pair("mul", probability, difference)?
    } else {
        let entropy = editor.combine("xlogy.Tensor", [target, target])?;
        let product = editor.pair("mul", target, input)?;
        editor.pair("sub", entropy, product)?
    };
    reduced(editor, each, call.int(2)?)
}

/// `soft_margin_loss(self, target, reduction)`: `log(1 + exp(-target * self))`.
pub fn soft_margin(editor: &mut Editor, call: &Call) -> Rewritten {
    let [input, target] = operands(editor, call)?;
    let product = editor.pair("mul", input, target)?;
    let negated = editor.apply("neg", product)?;
    let each = softplus(editor, negated)?;
    reduced(editor, each, call.int(2)?)
}

/// `margin_ranking_loss(input1, input2, target, margin, reduction)`: `max(0, -target * (input1 - input2) + margin)`.
pub fn margin_ranking(editor: &mut Editor, call: &Call) -> Rewritten {
    let ([left, right], target) = (operands(editor, call)?, call.value(2)?);
    let difference = editor.pair("sub", left, right)?;
    let target = editor.convert(target, call.output()?.scalar_type)?;
    let product = editor.pair("mul", target, difference)?;
    let negated = editor.apply("neg", product)?;
    let each = above_zero(editor, negated, call.number(3)?)?;
    reduced(editor, each, call.int(4)?)
}

/// `triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction)`.
pub fn triplet_margin(editor: &mut Editor, call: &Call) -> Rewritten {
    let scalar_type = call.output()?.scalar_type;
    let [anchor, positive] = operands(editor, call)?;
    let negative = editor.convert(call.value(2)?, scalar_type)?;
    let (power, epsilon) = (call.number(4)?, call.number(5)?);
    let near = row_distance(editor, [anchor, positive], (power, epsilon), false)?;
    let mut far = row_distance(editor, [anchor, negative], (power, epsilon), false)?;
    if call.flag(6)? {
        let swapped = row_distance(editor, [positive, negative], (power, epsilon), false)?;
        far = editor.combine("minimum.default", [far, swapped])?;
    }
    let difference = editor.pair("sub", near, far)?;
    let each = above_zero(editor, difference, call.number(3)?)?;
    reduced(editor, each, call.int(7)?)
}

/// `pairwise_distance(x1, x2, p, eps, keepdim)`.
pub fn pairwise_distance(editor: &mut Editor, call: &Call) -> Rewritten {
    let norm = (call.number(2)?, call.number(3)?);
    let pair = operands(editor, call)?;
    Ok(vec![row_distance(editor, pair, norm, call.flag(4)?)?])
}

/// The norm of `left - right + epsilon` along the last dimension.
fn row_distance(editor: &mut Editor, [left, right]: [ValueId; 2], (power, epsilon): (f64, f64), keep: bool) -> Made {
    let difference = editor.pair("sub", left, right)?;
    let difference = editor.plus(difference, epsilon)?;
    let last = editor.spec(difference).rank().checked_sub(1).ok_or(Reason::Arguments)?;
    norm_of(editor, difference, power, &[last], keep)
}

/// `binary_cross_entropy(self, target, weight, reduction)`: logarithms are at least -100, like PyTorch's.
pub fn binary_cross_entropy(editor: &mut Editor, call: &Call) -> Rewritten {
    let [input, target] = operands(editor, call)?;
    let log = log_at_least(editor, input)?;
    let opposite = one_minus(editor, input)?;
    let log_opposite = log_at_least(editor, opposite)?;
    let yes = editor.pair("mul", target, log)?;
    let rest = one_minus(editor, target)?;
    let no = editor.pair("mul", rest, log_opposite)?;
    let sum = editor.pair("add", yes, no)?;
    let each = editor.apply("neg", sum)?;
    let each = weighted(editor, each, call.optional_value(2)?)?;
    reduced(editor, each, call.int(3)?)
}

/// `binary_cross_entropy_with_logits(self, target, weight, pos_weight, reduction)`:
/// `(1 - target) * self + (1 + (pos_weight - 1) * target) * softplus(-self)`.
pub fn binary_cross_entropy_of_logits(editor: &mut Editor, call: &Call) -> Rewritten {
    let [input, target] = operands(editor, call)?;
    let rest = one_minus(editor, target)?;
    let linear = editor.pair("mul", rest, input)?;
    let negated = editor.apply("neg", input)?;
    let mut log = softplus(editor, negated)?;
    if let Some(positive) = call.optional_value(3)? {
        let factor = editor.plus(positive, -1.0)?;
        let factor = editor.pair("mul", factor, target)?;
        let factor = editor.plus(factor, 1.0)?;
        log = editor.pair("mul", factor, log)?;
    }
    let each = editor.pair("add", linear, log)?;
    let each = weighted(editor, each, call.optional_value(2)?)?;
    reduced(editor, each, call.int(4)?)
}

fn weighted(editor: &mut Editor, each: ValueId, weight: Option<ValueId>) -> Made {
    weight.map_or(Ok(each), |weight| editor.pair("mul", each, weight))
}

fn one_minus(editor: &mut Editor, of: ValueId) -> Made {
    let negated = editor.apply("neg", of)?;
    editor.plus(negated, 1.0)
}

fn log_at_least(editor: &mut Editor, of: ValueId) -> Made {
    let log = editor.apply("log", of)?;
    editor.map("clamp.default", log, vec![Argument::Float(-100.0), Argument::None])
}

/// `log(1 + exp(of))` as `max(of, 0) + log1p(exp(-|of|))`, which does not overflow.
fn softplus(editor: &mut Editor, of: ValueId) -> Made {
    let size = editor.apply("abs", of)?;
    let negated = editor.apply("neg", size)?;
    let power = editor.apply("exp", negated)?;
    let log = editor.apply("log1p", power)?;
    let positive = editor.apply("relu", of)?;
    editor.pair("add", positive, log)
}

/// `max(0, of + margin)`.
pub fn above_zero(editor: &mut Editor, of: ValueId, margin: f64) -> Made {
    let moved = editor.plus(of, margin)?;
    editor.map("clamp.default", moved, vec![Argument::Float(0.0), Argument::None])
}

/// The terms, their mean or their sum, by PyTorch's number of the reduction.
pub fn reduced(editor: &mut Editor, each: ValueId, reduction: i64) -> Rewritten {
    let dims: Vec<usize> = (0..editor.spec(each).rank()).collect();
    Ok(vec![match reduction {
        0 => each,
        1 => editor.reduce("mean.dim", each, &dims, false, vec![Argument::None])?,
        _ => editor.sum(each, &dims, false)?,
    }])
}
