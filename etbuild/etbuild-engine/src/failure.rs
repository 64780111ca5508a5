//! Errors of stages as diagnostics. Each stage's crate describes the error; the code and the help are added here.

use std::path::Path;

use etbuild_checkpoint::CheckpointError;
use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_emit::EmitError;
use etbuild_import::ImportError;
use etbuild_ir::Violation;
use etbuild_memory::MemoryError;
use etbuild_pass::{PassError, Reason, Refusal};
use serde::Serialize;

use crate::stage::{Blocked, Transient, interrupt};

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
        ImportError::UnknownOperator(_) => Code::OperatorUnavailable,
        ImportError::ScalarType { .. } => Code::DtypeUnavailable,
        ImportError::Invalid(_) => Code::ProgramInvalid,
        _ => Code::ModelUnsupported,
    };
    let diagnostic = Diagnostic::error(code, error.to_string());
    match code {
        Code::ModelMalformed | Code::ModelVersion => diagnostic.help("save the model again with `torch.export.save`"),
        Code::OperatorUnavailable => {
            diagnostic.help("replace the operator in the model by others that compute the same")
        }
        _ => diagnostic,
    }
}

/// A checkpoint cannot be imported, or an adapter does not fit the checkpoint.
pub fn checkpoint(error: &CheckpointError) -> Diagnostic {
    let code = checkpoint_code(error);
    let diagnostic = Diagnostic::error(code, error.to_string());
    match (code, error) {
        (Code::TensorMismatch, CheckpointError::Adapter(_)) => {
            diagnostic.help("is the adapter one over this checkpoint, and of this configuration?")
        }
        (Code::ModelUnsupported, CheckpointError::Adapter(_)) => diagnostic
            .help("merge such an adapter into the model with PEFT: `merge_and_unload`, then `save_pretrained`"),
        (Code::ArchitectureUnknown, _) => {
            diagnostic.help("export such a model with `torch.export.save`: `model: { pt2: ... }`")
        }
        (Code::ShardMissing | Code::ModelMalformed, _) => diagnostic.help("is the download complete?"),
        (Code::TensorMismatch, _) => diagnostic.help("are `config.json` and the safetensors of the same model?"),
        (Code::SchemeUnavailable, _) => diagnostic.help("leave `quantize.rotate` out"),
        (Code::FeatureMissing, _) => diagnostic.help(
            "use a released etbuild, or `cargo run --release --features text --` in place of `cargo run --release --`",
        ),
        (Code::ContextTooLong, _) => diagnostic.help("make `export: { context: ... }` smaller, or leave it out"),
        _ => diagnostic,
    }
}

fn checkpoint_code(error: &CheckpointError) -> Code {
    match error {
        CheckpointError::Adapter(error) => checkpoint_code(error),
        CheckpointError::AdapterKind { .. } => Code::ModelUnsupported,
        CheckpointError::PatternsLeftOut { .. } => Code::FeatureMissing,
        CheckpointError::AdapterTargets { .. } | CheckpointError::AdapterTensors(_) => Code::TensorMismatch,
        CheckpointError::Architecture { .. } => Code::ArchitectureUnknown,
        CheckpointError::Context { .. } => Code::ContextTooLong,
        CheckpointError::ShardMissing(_) => Code::ShardMissing,
        CheckpointError::TensorMissing(_)
        | CheckpointError::TensorsUnknown(_)
        | CheckpointError::TensorTwice(_)
        | CheckpointError::Shape { .. } => Code::TensorMismatch,
        CheckpointError::ElementType { .. } => Code::DtypeUnavailable,
        CheckpointError::Rotation(_) => Code::SchemeUnavailable,
        CheckpointError::Invalid(_) => Code::ProgramInvalid,
        CheckpointError::Json { .. } | CheckpointError::Key { .. } | CheckpointError::ShardMalformed { .. } => {
            Code::ModelMalformed
        }
    }
}

/// A verifier refused a program of an etbuild stage.
pub fn violations(violations: Vec<Violation>) -> Vec<Diagnostic> {
    violations.into_iter().map(|violation| Diagnostic::error(Code::ProgramInvalid, violation.to_string())).collect()
}

/// A program cannot be lowered. Each refused call is a separate finding.
pub fn pass(error: PassError) -> Vec<Diagnostic> {
    match error {
        PassError::Refused(refusals) => refusals.iter().map(refusal).collect(),
        PassError::Invalid { violations: found, .. } => violations(found),
    }
}

/// A call that no pass and no kernel can deal with.
pub fn refusal(refusal: &Refusal) -> Diagnostic {
    let diagnostic = |code| Diagnostic::error(code, refusal.to_string());
    match refusal.reason {
        Reason::NoDecomposition | Reason::NoKernel => diagnostic(Code::OperatorUnavailable)
            .help("replace the operator in the model by others that compute the same"),
        Reason::NotUpstream => diagnostic(Code::OperatorNotUpstream).help(
            "leave `runtime: executorch` out, or replace the operator in the model by others that compute the same",
        ),
        Reason::NoKernelForType(_) => diagnostic(Code::DtypeUnavailable),
        _ => diagnostic(Code::ArgumentUnsupported),
    }
}

/// A program has no memory plan.
pub fn memory(error: MemoryError) -> Vec<Diagnostic> {
    let message = error.to_string();
    vec![match error {
        MemoryError::DoesNotFit { peak, .. } => {
            let largest = peak.iter().map(|tensor| format!("`{}` takes {} bytes", tensor.name, tensor.bytes));
            let diagnostic = Diagnostic::error(Code::BankTooSmall, message);
            let help = "choose a target with more memory, or make the model's activations smaller";
            largest.fold(diagnostic, Diagnostic::note).help(help)
        }
        MemoryError::StateDiffers { .. } => Diagnostic::error(Code::StateDiffers, message)
            .help("state of the same name is shared: make it the same in all methods, or rename one of them"),
        _ => Diagnostic::error(Code::PlanInvalid, message),
    }]
}

/// No program file was written. A write that fails is the machine's fault and is tried again another time.
pub fn emit(error: EmitError) -> Vec<Diagnostic> {
    let message = error.to_string();
    match error {
        EmitError::Write(error) if error.kind() == std::io::ErrorKind::StorageFull => {
            interrupt(Transient::Environment(Box::new(Diagnostic::error(Code::DiskFull, message))))
        }
        EmitError::OperatorMissing(_) => vec![Diagnostic::error(Code::OperatorUnavailable, message)],
        EmitError::Write(_) => {
            interrupt(Transient::Environment(Box::new(Diagnostic::error(Code::StoreUnavailable, message))))
        }
        _ => vec![Diagnostic::error(Code::ProgramInvalid, message)],
    }
}

/// A value of ours as JSON.
pub fn json(value: &impl Serialize) -> Result<Vec<u8>, Vec<Diagnostic>> {
    serde_json::to_vec(value).map_err(|error| vec![Diagnostic::error(Code::Internal, error.to_string())])
}

/// An internal rule is broken.
pub fn internal(message: &str) -> Vec<Diagnostic> {
    vec![Diagnostic::error(Code::Internal, message)]
}

/// The failure of a computation. Stages know no recipe: `place` gives places to diagnostics without a place.
pub fn blocked(blocked: &Blocked, place: impl Fn(&Diagnostic) -> Diagnostic) -> Vec<Diagnostic> {
    match blocked {
        Blocked::Failed(failed) => failed.diagnostics.iter().map(place).collect(),
        Blocked::Missing(_) | Blocked::Waiting => internal("a stage did not run"),
    }
}

/// A file that was there before cannot be read any more.
pub fn unreadable(path: &Path, error: &std::io::Error) -> Vec<Diagnostic> {
    vec![Diagnostic::error(Code::FileUnreadable, format!("`{}` cannot be read: {error}", path.display()))]
}
