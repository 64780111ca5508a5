//! Errors of quantization and of measurements as diagnostics.

use et_core::Error;
use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_ir::Interruption;
use etbuild_quantize::QuantizeError;

use crate::failure;

/// The failure of quantization or of the measurement.
pub fn failed(error: QuantizeError) -> Vec<Diagnostic> {
    let message = error.to_string();
    let diagnostic = |code| Diagnostic::error(code, message.clone());
    vec![match error {
        QuantizeError::NoSamples { .. } => no_data(),
        QuantizeError::MissingInput { found, .. } => {
            diagnostic(Code::CalibrationMismatch).help(format!("it has {}", found.join(", ")))
        }
        QuantizeError::OtherShape { .. } | QuantizeError::OtherCount { .. } => {
            diagnostic(Code::CalibrationMismatch).help("write one sample after the other along the first dimension")
        }
        QuantizeError::Unmatched { known, .. } => {
            diagnostic(Code::LayerUnmatched).help(format!("there are {}, ...", known.join(", ")))
        }
        QuantizeError::NotStatic(_) => diagnostic(Code::SchemeUnavailable)
            .help("write `scheme: dynamic-int8` or `int8-weights`, which need no ranges"),
        QuantizeError::Invalid(found) => return failure::violations(found),
        QuantizeError::OtherLabels { .. } | QuantizeError::NoAnswer => diagnostic(Code::LabelsMismatch),
        QuantizeError::Interrupted(Interruption::Node { error: Error::OperatorMissing, .. }) => {
            diagnostic(Code::SchemeUnavailable).help(
                "kernels of custom operators run on targets only; write `scheme: dynamic-int8` or a scheme of weights, which run nothing on this machine",
            )
        }
        QuantizeError::NotFinite(_) | QuantizeError::Unmeasured(_) | QuantizeError::Interrupted(_) => {
            diagnostic(Code::SchemeUnavailable)
        }
    }]
}

/// A static scheme without data.
pub fn no_data() -> Diagnostic {
    let message = "calibration data is needed, and the recipe names none";
    Diagnostic::error(Code::CalibrationMissing, message)
        .help("write `calibrate: FILE.safetensors` with example inputs, or choose what needs none: `dynamic-int8`")
}

/// Mistakes in labels are reported at the labels.
pub fn unlabelled(error: QuantizeError) -> Vec<Diagnostic> {
    match error {
        QuantizeError::OtherLabels { .. } | QuantizeError::NoAnswer => {
            let diagnostic = Diagnostic::error(Code::LabelsMismatch, error.to_string());
            vec![
                diagnostic
                    .help("`top1` takes a label for each case, and a first output with a row of classes for each"),
            ]
        }
        other => failed(other),
    }
}
