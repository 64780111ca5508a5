//! Rules that compute halves in `float32`, as PyTorch does: between their steps fp16 would overflow, or lose digits.

use et_core::ScalarType;
use etbuild_ir::{Argument, TensorSpec};

use super::plain_rule;
use crate::Reason;
use crate::edit::{Call, Editor, Rewritten};

/// The operators, without overloads, in the order of names.
pub const NAMES: &[&str] = &[
    "_scaled_dot_product_flash_attention_for_cpu",
    "_softmax_backward_data",
    "addcdiv",
    "addcmul",
    "baddbmm",
    "binary_cross_entropy",
    "cdist",
    "cosine_embedding_loss",
    "cosine_similarity",
    "dist",
    "embedding_renorm",
    "gradient",
    "huber_loss",
    "hypot",
    "instance_norm",
    "kl_div",
    "lerp",
    "linalg_matrix_exp",
    "linalg_norm",
    "linalg_vector_norm",
    "linspace",
    "log_softmax",
    "logaddexp",
    "logaddexp2",
    "mse_loss",
    "norm",
    "pairwise_distance",
    "poisson_nll_loss",
    "renorm",
    "sinc",
    "smooth_l1_loss",
    "soft_margin_loss",
    "triplet_margin_loss",
];

/// The rule of an operator of [`NAMES`], in `float32` if operands or results are in half precision.
pub fn rule(editor: &mut Editor, call: &Call) -> Rewritten {
    let rule = plain_rule(&call.operator).ok_or(Reason::NoDecomposition)?;
    let is_narrow = call.outputs.iter().any(|output| is_half(output.scalar_type));
    if !is_narrow {
        return rule(editor, call);
    }
    let mut wide = call.clone();
    for argument in &mut wide.arguments {
        match argument {
            Argument::Value(id) if is_half(editor.spec(*id).scalar_type) => {
                *id = editor.convert(*id, ScalarType::Float)?;
            }
            Argument::Type(scalar_type) if is_half(*scalar_type) => *scalar_type = ScalarType::Float,
            _ => {}
        }
    }
    wide.outputs.iter_mut().for_each(widen);
    let made = rule(editor, &wide)?;
    made.into_iter().zip(&call.outputs).map(|(value, output)| editor.convert(value, output.scalar_type)).collect()
}

fn widen(output: &mut TensorSpec) {
    if is_half(output.scalar_type) {
        output.scalar_type = ScalarType::Float;
    }
}

const fn is_half(scalar_type: ScalarType) -> bool {
    matches!(scalar_type, ScalarType::Half | ScalarType::BFloat16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_are_sorted() {
        assert!(NAMES.is_sorted());
    }
}
