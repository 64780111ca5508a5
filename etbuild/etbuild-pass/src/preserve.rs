//! Preserved operators: operators with a decomposition that stay whole because a kernel computes them.

use etbuild_ir::OperatorName;

use crate::Reason;
use crate::decompose::{self, recurrent};
use crate::edit::{Call, Editor, Rewritten, Rule};

/// The rule of an operator: preservation, or else the decomposition.
pub fn rule(operator: &OperatorName) -> Option<Rule> {
    let name = operator.as_str().strip_prefix("aten.")?;
    let index = RULES.binary_search_by(|(known, _)| (*known).cmp(name));
    let preserved = index.ok().and_then(|index| RULES.get(index)).map(|(_, rule)| *rule);
    preserved.or_else(|| decompose::rule(operator))
}

/// The preserved operators, in the order of names.
const RULES: &[(&str, Rule)] = &[
    ("cumprod.default", as_it_is),
    ("group_norm.default", keep),
    ("gru.input", layers),
    ("hardsigmoid.default", as_it_is),
    ("hardswish.default", as_it_is),
    ("layer_norm.default", keep),
    ("linear.default", keep),
    ("lstm.input", layers),
    ("mish.default", as_it_is),
    ("rms_norm.default", keep),
    ("rnn_relu.input", layers),
    ("rnn_tanh.input", layers),
    ("scaled_dot_product_attention.default", attention),
    ("silu.default", as_it_is),
    ("sort.default", as_it_is),
    ("sort.stable", as_it_is),
];

/// Preserves a call with operands of a single type. The kernels do not mix types; decompositions promote.
fn keep(editor: &mut Editor, call: &Call) -> Rewritten {
    let mut types = call.uses().map(|id| editor.spec(id).scalar_type);
    let first = types.next();
    if types.all(|scalar_type| Some(scalar_type) == first) { as_it_is(editor, call) } else { decomposed(editor, call) }
}

/// Preserves attention without dropout.
fn attention(editor: &mut Editor, call: &Call) -> Rewritten {
    if call.number(4)? == 0.0 { as_it_is(editor, call) } else { Err(Reason::Training) }
}

/// A call per layer. A layer with a projected hidden state has no kernel and is decomposed.
fn layers(editor: &mut Editor, call: &Call) -> Rewritten {
    if recurrent::is_projected(editor, call)? {
        decomposed(editor, call)
    } else {
        recurrent::stack(editor, call, as_it_is)
    }
}

fn as_it_is(editor: &mut Editor, call: &Call) -> Rewritten {
    Ok(editor.keep(call.clone()))
}

fn decomposed(editor: &mut Editor, call: &Call) -> Rewritten {
    decompose::rule(&call.operator).ok_or(Reason::NoDecomposition)?(editor, call)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted() {
        assert!(RULES.is_sorted_by(|left, right| left.0 < right.0));
    }

    #[test]
    fn preserved_operators_have_a_kernel_and_a_decomposition() {
        for (name, _) in RULES {
            let operator = OperatorName::parse(&format!("aten.{name}")).unwrap();
            assert!(et_ops::find_functional(&operator.qualified()).is_some(), "{name}");
            assert!(decompose::rule(&operator).is_some(), "{name}");
        }
    }
}
