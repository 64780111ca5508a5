//! Operators with a second name.

use etbuild_ir::{Argument, OperatorName};

use crate::Reason;
use crate::edit::{Call, Editor, Rewritten, Rule};

/// Second names without overloads, sorted, with the first names.
const NAMES: &[(&str, &str)] = &[
    ("__and__", "bitwise_and"),
    ("__or__", "bitwise_or"),
    ("__xor__", "bitwise_xor"),
    ("_unsafe_index", "index"),
    ("_unsafe_index_put", "index_put"),
    ("absolute", "abs"),
    ("arccos", "acos"),
    ("arccosh", "acosh"),
    ("arcsin", "asin"),
    ("arcsinh", "asinh"),
    ("arctan", "atan"),
    ("arctan2", "atan2"),
    ("arctanh", "atanh"),
    ("argwhere", "nonzero"),
    ("cdist", "_cdist_forward"),
    ("cholesky", "linalg_cholesky"),
    ("clip", "clamp"),
    ("det", "linalg_det"),
    ("divide", "div"),
    ("fix", "trunc"),
    ("greater", "gt"),
    ("greater_equal", "ge"),
    ("grid_sampler", "grid_sampler_2d"),
    ("inverse", "linalg_inv"),
    ("less", "lt"),
    ("less_equal", "le"),
    ("linalg_diagonal", "diagonal"),
    ("matrix_exp", "linalg_matrix_exp"),
    ("matrix_power", "linalg_matrix_power"),
    ("moveaxis", "movedim"),
    ("multiply", "mul"),
    ("negative", "neg"),
    ("nll_loss", "nll_loss_nd"),
    ("nll_loss2d", "nll_loss_nd"),
    ("not_equal", "ne"),
    ("orgqr", "linalg_householder_product"),
    ("slogdet", "linalg_slogdet"),
    ("special_digamma", "digamma"),
    ("special_erf", "erf"),
    ("special_erfc", "erfc"),
    ("special_erfinv", "erfinv"),
    ("special_exp2", "exp2"),
    ("special_expit", "sigmoid"),
    ("special_expm1", "expm1"),
    ("special_gammainc", "igamma"),
    ("special_gammaincc", "igammac"),
    ("special_gammaln", "lgamma"),
    ("special_i0", "i0"),
    ("special_log1p", "log1p"),
    ("special_logit", "logit"),
    ("special_logsumexp", "logsumexp"),
    ("special_multigammaln", "mvlgamma"),
    ("special_polygamma", "polygamma"),
    ("special_psi", "digamma"),
    ("special_sinc", "sinc"),
    ("squeeze_copy", "squeeze"),
    ("subtract", "sub"),
    ("trapz", "trapezoid"),
    ("true_divide", "div"),
];

/// The rule of a second name.
pub fn rule(operator: &OperatorName) -> Option<Rule> {
    first_name(operator).map(|_| renamed as Rule)
}

fn first_name(operator: &OperatorName) -> Option<&'static str> {
    let found = NAMES.binary_search_by(|(second, _)| (*second).cmp(operator.name()));
    found.ok().and_then(|index| NAMES.get(index)).map(|(_, name)| *name)
}

/// The call with the first name.
fn renamed(editor: &mut Editor, call: &Call) -> Rewritten {
    let name = first_name(&call.operator).ok_or(Reason::NoDecomposition)?;
    let name = format!("{name}.{}", call.operator.overload());
    editor.call_many(&name, call.arguments.clone(), call.outputs.clone())
}

/// `max(self, other)`, `clamp_min(self, min)` and `min(self, other)`, `clamp_max(self, max)` of tensors.
pub fn extremum(editor: &mut Editor, call: &Call) -> Rewritten {
    let name = if matches!(call.operator.name(), "max" | "clamp_min") { "maximum.default" } else { "minimum.default" };
    Ok(vec![editor.call(name, call.arguments.clone(), call.output()?)?])
}

/// `self << other` and `self >> other`.
pub fn shift(editor: &mut Editor, call: &Call) -> Rewritten {
    let direction = if call.operator.name() == "__lshift__" { "left" } else { "right" };
    let is_tensor = matches!(call.argument(1)?, Argument::Value(id) if !editor.is_number(*id));
    let overload = if is_tensor { "Tensor" } else { "Tensor_Scalar" };
    let name = format!("bitwise_{direction}_shift.{overload}");
    Ok(vec![editor.call(&name, call.arguments.clone(), call.output()?)?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted() {
        assert!(NAMES.is_sorted_by(|left, right| left.0 < right.0));
    }
}
