//! Distances between rows: the operators without checks.

use crate::edit::{Call, Editor, Rewritten};

/// `cdist(x1, x2, p, compute_mode)`.
pub fn of_pairs(editor: &mut Editor, call: &Call) -> Rewritten {
    Ok(vec![editor.call("_cdist_forward.default", call.arguments.clone(), call.output()?)?])
}

/// `pdist(self, p)`.
pub fn within(editor: &mut Editor, call: &Call) -> Rewritten {
    Ok(vec![editor.call("_pdist_forward.default", call.arguments.clone(), call.output()?)?])
}
