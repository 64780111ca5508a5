//! Losses of classifiers: the terms of classes, picked by index.

use et_core::ScalarType;
use etbuild_ir::{Argument, TensorSpec, ValueId};

use super::loss::{above_zero, reduced};
use crate::Reason;
use crate::edit::{Call, Editor, Rewritten};

type Made = Result<ValueId, Reason>;

/// Log-probabilities with a batch dimension, and the class dimension behind; targets; a weight for each class.
struct Classes {
    logs: ValueId,
    targets: ValueId,
    weight: Option<ValueId>,
    ignored: i64,
}

/// The factors of the targets: the weight of the class of each target, and 0 for an ignored target.
struct Share {
    mask: ValueId,
    safe: ValueId,
    weight: ValueId,
}

/// `nll_loss_nd(self, target, weight, reduction, ignore_index)`, `nll_loss` and `nll_loss2d`.
pub fn negative_log(editor: &mut Editor, call: &Call) -> Rewritten {
    let sizes = call.output()?.sizes;
    let classes = Classes::new(editor, call, call.value(0)?, call.int(4)?)?;
    let share = classes.share(editor)?;
    let picked = classes.picked(editor, &share)?;
    let loss = classes.finish(editor, picked, &share, call.int(3)?)?;
    Ok(vec![editor.view(loss, &sizes)?])
}

/// `cross_entropy_loss(self, target, weight, reduction, ignore_index, label_smoothing)`.
pub fn cross_entropy(editor: &mut Editor, call: &Call) -> Rewritten {
    let (input, output) = (call.value(0)?, call.output()?);
    let dim = usize::from(editor.spec(input).rank() > 1);
    let logs = editor.map("log_softmax.int", input, vec![Argument::Int(dim as i64), Argument::None])?;
    let smoothing = call.number(5)?;
    if editor.spec(call.value(1)?).scalar_type.is_float() {
        return of_probabilities(editor, call, logs, smoothing);
    }
    let classes = Classes::new(editor, call, logs, call.int(4)?)?;
    let share = classes.share(editor)?;
    let picked = classes.picked(editor, &share)?;
    let mut loss = classes.finish(editor, picked, &share, call.int(3)?)?;
    if smoothing != 0.0 {
        let count = f64::from(*editor.sizes(classes.logs).get(1).ok_or(Reason::Arguments)?);
        let all = classes.all(editor, &share)?;
        let smooth = classes.finish(editor, all, &share, call.int(3)?)?;
        let (sharp, smooth) = (editor.times(loss, 1.0 - smoothing)?, editor.times(smooth, smoothing / count)?);
        loss = editor.pair("add", sharp, smooth)?;
    }
    Ok(vec![editor.view(loss, &output.sizes)?])
}

fn of_probabilities(editor: &mut Editor, call: &Call, logs: ValueId, smoothing: f64) -> Rewritten {
    let mut target = call.value(1)?;
    let sizes = editor.static_sizes(logs)?;
    let dim = usize::from(sizes.len() > 1);
    let count = f64::from(*sizes.get(dim).ok_or(Reason::Arguments)?);
    if smoothing != 0.0 {
        target = editor.times(target, 1.0 - smoothing)?;
        target = editor.plus(target, smoothing / count)?;
    }
    let mut each = editor.pair("mul", logs, target)?;
    if let Some(weight) = call.optional_value(2)? {
        let weight = editor.along(weight, dim, sizes.len())?;
        each = editor.pair("mul", each, weight)?;
    }
    let sum = editor.sum(each, &[dim], false)?;
    let loss = editor.apply("neg", sum)?;
    reduced(editor, loss, call.int(3)?)
}

impl Classes {
    fn new(editor: &mut Editor, call: &Call, mut logs: ValueId, ignored: i64) -> Result<Self, Reason> {
        let mut targets = call.value(1)?;
        let sizes = editor.static_sizes(logs)?;
        if let [count] = sizes[..] {
            (logs, targets) = (editor.view(logs, &[1, count])?, editor.view(targets, &[1])?);
        }
        Ok(Self { logs, targets, weight: call.optional_value(2)?, ignored })
    }

    fn share(&self, editor: &mut Editor) -> Result<Share, Reason> {
        let spec = editor.spec(self.targets).clone();
        let mask = editor.compare("eq.Scalar", self.targets, Argument::Int(self.ignored))?;
        let zero = editor.number(Argument::Int(0), spec.scalar_type)?;
        let safe = editor.choose(mask, zero, self.targets, spec.clone())?;
        let scalar_type = editor.spec(self.logs).scalar_type;
        let each = TensorSpec { scalar_type, ..spec };
        let own = match self.weight {
            None => editor.number(Argument::Int(1), scalar_type)?,
            Some(weight) => {
                let flat = editor.flattened(safe)?;
                let output = TensorSpec::contiguous(scalar_type, editor.sizes(flat));
                let arguments = vec![Argument::Value(weight), Argument::Int(0), Argument::Value(flat)];
                let weights = editor.call("index_select.default", arguments, output)?;
                editor.view(weights, &each.sizes)?
            }
        };
        let nothing = editor.number(Argument::Int(0), scalar_type)?;
        let weight = editor.choose(mask, nothing, own, each)?;
        Ok(Share { mask, safe, weight })
    }

    /// The weighted negative log-probability of each target.
    fn picked(&self, editor: &mut Editor, share: &Share) -> Made {
        let index = editor.unsqueezed(share.safe, 1)?;
        let picked = editor.gather(self.logs, 1, index)?;
        let picked = editor.squeezed(picked, 1)?;
        let each = editor.pair("mul", picked, share.weight)?;
        self.negated(editor, each, share)
    }

    /// The weighted sum of the negative log-probabilities of all classes, for each target.
    fn all(&self, editor: &mut Editor, share: &Share) -> Made {
        let rank = editor.spec(self.logs).rank();
        let mut each = self.logs;
        if let Some(weight) = self.weight {
            let weight = editor.along(weight, 1, rank)?;
            each = editor.pair("mul", each, weight)?;
        }
        let sum = editor.sum(each, &[1], false)?;
        self.negated(editor, sum, share)
    }

    /// The negated terms, 0 at ignored targets.
    fn negated(&self, editor: &mut Editor, each: ValueId, share: &Share) -> Made {
        let (negated, spec) = (editor.apply("neg", each)?, editor.spec(each).clone());
        let zero = editor.number(Argument::Int(0), spec.scalar_type)?;
        editor.choose(share.mask, zero, negated, spec)
    }

    /// The terms, their sum, or their sum divided by the weights.
    fn finish(&self, editor: &mut Editor, each: ValueId, share: &Share, reduction: i64) -> Made {
        if reduction == 0 {
            return Ok(each);
        }
        let dims: Vec<usize> = (0..editor.spec(each).rank()).collect();
        let sum = editor.sum(each, &dims, false)?;
        if reduction == 2 {
            return Ok(sum);
        }
        let total = editor.sum(share.weight, &dims, false)?;
        editor.pair("div", sum, total)
    }
}

/// `multi_margin_loss(self, target, p, margin, weight, reduction)`: `max(0, margin - self[target] + self[class])^p` of all
/// classes but the target, divided by the number of classes.
pub fn multi_margin(editor: &mut Editor, call: &Call) -> Rewritten {
    let (mut input, mut target, sizes) = (call.value(0)?, call.value(1)?, call.output()?.sizes);
    if editor.spec(input).rank() < 2 {
        input = editor.flattened(input)?;
        input = editor.unsqueezed(input, 0)?;
    }
    let [rows, count] = editor.static_sizes(input)?[..] else { return Err(Reason::Arguments) };
    target = editor.view(target, &[rows, 1])?;
    let picked = editor.gather(input, 1, target)?;
    let difference = editor.pair("sub", input, picked)?;
    let mut each = above_zero(editor, difference, call.number(3)?)?;
    if call.number(2)? == 2.0 {
        each = editor.pair("mul", each, each)?;
    }
    if let Some(weight) = call.optional_value(4)? {
        let weight = editor.view(weight, &[1, count])?;
        let weight = editor.expand(weight, &[rows, count])?;
        let own = editor.gather(weight, 1, target)?;
        each = editor.pair("mul", each, own)?;
    }
    let classes = editor.counting(count, 1, 2)?;
    let own = editor.compare("eq.Tensor", classes, Argument::Value(target))?;
    let (zero, spec) = (editor.number(Argument::Int(0), editor.spec(each).scalar_type)?, editor.spec(each).clone());
    let each = editor.choose(own, zero, each, spec)?;
    let sum = editor.sum(each, &[1], false)?;
    let mean = editor.times(sum, 1.0 / f64::from(count))?;
    let loss = reduced(editor, mean, call.int(5)?)?;
    loss.into_iter().map(|loss| editor.view(loss, &sizes)).collect()
}

/// `multilabel_margin_loss(self, target, reduction)`: `max(0, 1 - self[target] + self[class])` of all targets before the
/// first negative one and all classes that are no target, divided by the number of classes.
pub fn multilabel_margin(editor: &mut Editor, call: &Call) -> Rewritten {
    let (mut input, mut target, sizes) = (call.value(0)?, call.value(1)?, call.output()?.sizes);
    let own = editor.static_sizes(input)?;
    let [rows, count] = match own[..] {
        [] => [1, 1],
        [count] => [1, count],
        [rows, count] => [rows, count],
        _ => return Err(Reason::Arguments),
    };
    (input, target) = (editor.view(input, &[rows, count])?, editor.view(target, &[rows, count])?);
    let scalar_type = editor.spec(input).scalar_type;
    let below = editor.compare("lt.Scalar", target, Argument::Int(0))?;
    let below = editor.convert(below, ScalarType::Long)?;
    let ended = editor.map("cumsum.default", below, vec![Argument::Int(1), Argument::None])?;
    let valid = editor.compare("eq.Scalar", ended, Argument::Int(0))?;
    let safe = editor.map("clamp.default", target, vec![Argument::Int(0), Argument::None])?;
    let picked = editor.gather(input, 1, safe)?;
    // [rows, targets, classes]
    let (picked, valid_here) = (editor.unsqueezed(picked, 2)?, editor.unsqueezed(valid, 2)?);
    let (all, safe) = (editor.unsqueezed(input, 1)?, editor.unsqueezed(safe, 2)?);
    let difference = editor.pair("sub", all, picked)?;
    let hinge = above_zero(editor, difference, 1.0)?;
    let classes = editor.counting(count, 2, 3)?;
    let same = editor.compare("eq.Tensor", classes, Argument::Value(safe))?;
    let is_target = editor.combine("logical_and.default", [same, valid_here])?;
    let is_target = editor.reduce("any.dims", is_target, &[1], true, vec![])?;
    let other = editor.test("logical_not", is_target)?;
    let counted = editor.combine("logical_and.default", [valid_here, other])?;
    let (zero, spec) = (editor.number(Argument::Int(0), scalar_type)?, editor.spec(hinge).clone());
    let each = editor.choose(counted, hinge, zero, spec)?;
    let sum = editor.sum(each, &[1, 2], false)?;
    let mean = editor.times(sum, 1.0 / f64::from(count))?;
    let loss = reduced(editor, mean, call.int(2)?)?;
    loss.into_iter().map(|loss| editor.view(loss, &sizes)).collect()
}

/// `poisson_nll_loss(input, target, log_input, full, eps, reduction)`; in full, with Stirling's approximation of the
/// target's factorial.
pub fn poisson(editor: &mut Editor, call: &Call) -> Rewritten {
    let [input, target] = super::formula::operands(editor, call)?;
    let mut each = if call.flag(2)? {
        let (rate, product) = (editor.apply("exp", input)?, editor.pair("mul", target, input)?);
        editor.pair("sub", rate, product)?
    } else {
        let safe = editor.plus(input, call.number(4)?)?;
        let log = editor.apply("log", safe)?;
        let product = editor.pair("mul", target, log)?;
        editor.pair("sub", input, product)?
    };
    if call.flag(3)? {
        let log = editor.apply("log", target)?;
        let product = editor.pair("mul", target, log)?;
        let stirling = editor.pair("sub", product, target)?;
        let scaled = editor.times(target, 2.0 * std::f64::consts::PI)?;
        let log = editor.apply("log", scaled)?;
        let half = editor.times(log, 0.5)?;
        let stirling = editor.pair("add", stirling, half)?;
        let small = editor.compare("le.Scalar", target, Argument::Float(1.0))?;
        let (zero, spec) =
            (editor.number(Argument::Int(0), editor.spec(target).scalar_type)?, editor.spec(stirling).clone());
        let stirling = editor.choose(small, zero, stirling, spec)?;
        each = editor.pair("add", each, stirling)?;
    }
    reduced(editor, each, call.int(5)?)
}

/// `cosine_embedding_loss(input1, input2, target, margin, reduction)`: `1 - cosine` where the target is 1, `max(0, cosine -
/// margin)` where the target is -1.
pub fn cosine_embedding(editor: &mut Editor, call: &Call) -> Rewritten {
    let scalar_type = call.output()?.scalar_type;
    let [left, right] = super::formula::operands(editor, call)?;
    let target = call.value(2)?;
    let last = editor.spec(left).rank().checked_sub(1).ok_or(Reason::Arguments)?;
    let dot = |editor: &mut Editor, one: ValueId, other: ValueId| {
        let product = editor.pair("mul", one, other)?;
        editor.sum(product, &[last], false)
    };
    let [product, first, second] = [dot(editor, left, right)?, dot(editor, left, left)?, dot(editor, right, right)?];
    let (first, second) = (editor.plus(first, 1e-12)?, editor.plus(second, 1e-12)?);
    let squares = editor.pair("mul", first, second)?;
    let length = editor.apply("sqrt", squares)?;
    let cosine = editor.pair("div", product, length)?;
    let negated = editor.apply("neg", cosine)?;
    let near = editor.plus(negated, 1.0)?;
    let apart = above_zero(editor, cosine, -call.number(3)?)?;
    let zero = editor.number(Argument::Int(0), scalar_type)?;
    let is_near = editor.compare("eq.Scalar", target, Argument::Int(1))?;
    let is_apart = editor.compare("eq.Scalar", target, Argument::Int(-1))?;
    let spec = editor.spec(cosine).clone();
    let near = editor.choose(is_near, near, zero, spec.clone())?;
    let apart = editor.choose(is_apart, apart, zero, spec)?;
    let each = editor.pair("add", near, apart)?;
    reduced(editor, each, call.int(4)?)
}
