//! The NPU's compiler on this machine, for `etbuild doctor`.

use serde_json::{Value, json};

/// The vendor's kit, as JSON and as a line of text; without a kit, the reason.
pub fn describe() -> (Value, String) {
    match et_qnn::build::kit() {
        Ok(version) => (json!({ "kit": "QNN", "version": version }), format!("compiler of QNN {version}")),
        Err(problem) => (json!({ "problem": problem.sentence }), format!("none: {problem}")),
    }
}
