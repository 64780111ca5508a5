//! Errors of the importer as diagnostics.

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_import::ImportError;
use etbuild_ir::OperatorName;

use crate::failure::decompose;

/// Whether a crate of the user states the schema of an operator.
fn is_custom(operator: &str) -> bool {
    OperatorName::parse(operator).is_some_and(|operator| operator.is_custom())
}

/// A model file cannot be imported.
pub fn import(error: &ImportError) -> Diagnostic {
    let code = match error {
        ImportError::Argument { operator, .. } | ImportError::Results { operator, .. } if is_custom(operator) => {
            Code::OperatorCrate
        }
        ImportError::Lowering { .. } => Code::OperatorCrate,
        ImportError::NotZip(_)
        | ImportError::NotPt2(_)
        | ImportError::MemberMissing(_)
        | ImportError::MemberCompressed(_)
        | ImportError::Malformed { .. }
        | ImportError::Argument { .. }
        | ImportError::Shape(_)
        | ImportError::TruncatedWeight(_)
        | ImportError::InflatedWeight(_)
        | ImportError::MissingWeight(_)
        | ImportError::Undefined(_) => Code::ModelMalformed,
        ImportError::SchemaVersion { .. } => Code::ModelVersion,
        ImportError::UnknownOperator { .. } => Code::OperatorUnavailable,
        ImportError::ScalarType { .. } => Code::DtypeUnavailable,
        ImportError::Invalid(_) => Code::ProgramInvalid,
        _ => Code::ModelUnsupported,
    };
    let diagnostic = Diagnostic::error(code, error.to_string());
    if let ImportError::UnknownOperator { operator, source_line } = error {
        let line = source_line.iter().map(|line| format!("the model calls it in {line}"));
        return line.fold(diagnostic.help(decompose(operator)), Diagnostic::note);
    }
    match code {
        _ if matches!(error, ImportError::NotZip(_)) => diagnostic.help(
            "the end of the archive is missing: is the download complete? Otherwise save the model again with `torch.export.save`",
        ),
        _ if matches!(error, ImportError::Lowering { .. }) => diagnostic.help(
            "mend the lines under `lowering` in `operators.yaml`; docs/custom-operators.md has what they may be",
        ),
        Code::OperatorCrate => diagnostic.help(
            "the schema in `operators.yaml` is another than that of the exported operator: write it as PyTorch prints it, \
             `torch.ops.mylib.my_op.default._schema`",
        ),
        Code::ModelMalformed | Code::ModelVersion => diagnostic.help("save the model again with `torch.export.save`"),
        _ => diagnostic,
    }
}
