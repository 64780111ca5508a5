//! Preserved operators: operators with a decomposition that stay whole because a kernel computes them.

use et_core::ScalarType;
use etbuild_ir::{Argument, OperatorName, TensorSpec};

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
    ("cumprod.default", keep),
    ("embedding_bag.default", bags),
    ("embedding_bag.padding_idx", bags),
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
    let is_single = types.all(|scalar_type| Some(scalar_type) == first);
    if is_single && !first.is_some_and(ScalarType::is_complex) {
        as_it_is(editor, call)
    } else {
        decomposed(editor, call)
    }
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

/// The reduction of embedding bags to the greatest element of each column.
const MAX: i64 = 2;

/// Embedding bags by the operator that PyTorch computes them with, which counts rows from the first one and whose `padding_idx` of -1 names
/// no row. Bags of dynamic sizes are decomposed.
fn bags(editor: &mut Editor, call: &Call) -> Rewritten {
    let output = call.output()?;
    let ([count, width], [total]) = (&output.sizes[..], &editor.sizes(call.value(1)?)[..]) else {
        return decomposed(editor, call);
    };
    if output.is_dynamic() || editor.spec(call.value(1)?).is_dynamic() {
        return decomposed(editor, call);
    }
    let rows = editor.sizes(call.value(0)?).first().copied().map_or(0, i64::from);
    let padding = match call.arguments.get(8) {
        Some(Argument::Int(row)) if *row < 0 => row + rows,
        Some(Argument::Int(row)) => *row,
        _ => -1,
    };
    let mut arguments: Vec<_> = call.arguments.iter().take(8).cloned().collect();
    arguments.push(Argument::Int(padding));
    // The bag of each index, the size of each bag, and the rows of maxima, which nothing reads.
    let integers = |sizes: &[i32]| TensorSpec::contiguous(ScalarType::Long, sizes.to_vec());
    let rows_of_maxima = if call.int(4)? == MAX { integers(&[*count, *width]) } else { integers(&[0]) };
    let outputs = vec![output.clone(), integers(&[*total]), integers(&[*count]), rows_of_maxima];
    let kept = Call { operator: call.operator.clone(), arguments, outputs };
    Ok(editor.keep_as("_embedding_bag.default", &kept, 9).into_iter().take(1).collect())
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
            let kernel =
                if name.starts_with("embedding_bag") { "aten::_embedding_bag".into() } else { operator.qualified() };
            assert!(et_ops::find_functional(&kernel).is_some(), "{name}");
            assert!(decompose::rule(&operator).is_some(), "{name}");
        }
    }
}
