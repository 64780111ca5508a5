//! Reductions over all dimensions, with explicit dimensions.

use etbuild_ir::Argument;

use crate::edit::{Call, Editor, Rewritten};

/// `mean(self, dtype)`.
pub fn mean(editor: &mut Editor, call: &Call) -> Rewritten {
    over_all(editor, call, "mean.dim", vec![Argument::Bool(false), call.argument(1)?.clone()])
}

/// `sum(self, dtype)`.
pub fn sum(editor: &mut Editor, call: &Call) -> Rewritten {
    over_all(editor, call, "sum.dim_IntList", vec![Argument::Bool(false), call.argument(1)?.clone()])
}

/// `max(self)`.
pub fn max(editor: &mut Editor, call: &Call) -> Rewritten {
    over_all(editor, call, "amax.default", vec![Argument::Bool(false)])
}

/// `min(self)`.
pub fn min(editor: &mut Editor, call: &Call) -> Rewritten {
    over_all(editor, call, "amin.default", vec![Argument::Bool(false)])
}

fn over_all(editor: &mut Editor, call: &Call, name: &str, rest: Vec<Argument>) -> Rewritten {
    let input = call.value(0)?;
    let dims = Argument::Ints((0..editor.spec(input).rank() as i64).collect());
    let arguments = [Argument::Value(input), dims].into_iter().chain(rest).collect();
    Ok(vec![editor.call(name, arguments, call.output()?)?])
}
