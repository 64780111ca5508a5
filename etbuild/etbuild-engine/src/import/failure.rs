//! Errors of the importer as diagnostics.

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_import::ImportError;

use crate::failure::decompose;

/// A model file cannot be imported.
pub fn import(error: &ImportError) -> Diagnostic {
    let code = match error {
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
        Code::ModelMalformed | Code::ModelVersion => diagnostic.help("save the model again with `torch.export.save`"),
        _ => diagnostic,
    }
}
