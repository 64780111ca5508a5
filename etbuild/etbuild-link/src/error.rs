//! Failures between a program file and a binary.

use std::path::PathBuf;

use etbuild_diagnostic::{Code, Diagnostic};

use crate::missing::{self, MissingKernel};

/// The message of every program on a full disk.
pub const DISK_FULL: &str = "No space left on device";

/// The reason why a binary is missing.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// The catalogue lacks kernels that the program calls. No compiler has run.
    #[error("{}", missing::list(.0))]
    KernelsMissing(Vec<MissingKernel>),
    /// No template has this name.
    #[error("no template is called `{0}`")]
    UnknownTemplate(String),
    /// A template, or an embedded manifest, is not well-formed or asks for a fact that the target lacks.
    #[error("{0}")]
    Template(String),
    /// A program that is needed is not installed.
    #[error("`{program}` is not installed: {reason}")]
    ToolMissing {
        /// The program.
        program: String,
        /// The failure of the start.
        reason: String,
    },
    /// Rust is installed and cannot build for the target.
    #[error("the Rust toolchain in {} cannot build for {triple}", sysroot.display())]
    TargetMissing {
        /// The target triple.
        triple: String,
        /// The toolchain.
        sysroot: PathBuf,
        /// The command that installs the missing part.
        command: String,
    },
    /// Third-party crates cannot be had.
    #[error("crates that the binary needs cannot be fetched:\n{0}")]
    Fetch(String),
    /// The compiler refused the generated project.
    #[error("the generated project does not compile:\n{0}")]
    Compile(String),
    /// The compiler refused the generated project, which has crates of the user.
    #[error("a crate of custom operators does not compile:\n{0}")]
    Operators(String),
    /// The target names a processor that does not fit.
    #[error("{sentence}")]
    Processor {
        /// The mistake.
        sentence: String,
        /// The target triple.
        triple: String,
    },
    /// The linker refused the generated project.
    #[error("the generated project does not link:\n{0}")]
    Link(String),
    /// The program calls functions that the libraries of the system lack.
    #[error("{system} has no {}", quoted(.names))]
    SymbolsMissing {
        /// The system and its version.
        system: &'static str,
        /// The functions.
        names: Vec<String>,
    },
    /// The compiler was stopped by the machine: a signal, or a full disk.
    #[error("the compiler was stopped:\n{0}")]
    Stopped(String),
    /// The contents of a memory bank do not fit.
    #[error("`{bank}` is too small by {excess} bytes")]
    BankTooSmall {
        /// The bank.
        bank: String,
        /// The number of bytes too many.
        excess: u64,
    },
    /// The program and the verification data do not fit in a memory bank.
    #[error(
        "bank `{bank}` has {size} bytes, and the program takes {program} and the verification data {verify} ({cases} cases)"
    )]
    ConstantsTooLarge {
        /// The bank.
        bank: String,
        /// Its bytes.
        size: u64,
        /// The bytes of weights, blobs and lists of the program file.
        program: u64,
        /// The bytes of the inputs and outputs of all cases.
        verify: u64,
        /// The number of cases.
        cases: usize,
    },
    /// The calls of the firmware take more stack than the target keeps.
    #[error("calls take up to {need} bytes of the stack, and the target keeps {kept}: {}", .calls.join(", which calls "))]
    StackTooSmall {
        /// The most bytes that are in use.
        need: u64,
        /// The bytes of the target.
        kept: u64,
        /// The functions that take them, the outermost first.
        calls: Vec<String>,
    },
    /// Verification data does not have the size that the method's inputs and outputs have.
    #[error("{0}")]
    VerifyData(String),
    /// A linked image is malformed.
    #[error("{0}")]
    Image(String),
    /// Firmware wrote a malformed report.
    #[error("this is no line of a report: {0}")]
    Report(String),
    /// A file cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
}

impl LinkError {
    /// Whether the same inputs can give another result: a part of the machine is missing or full, not wrong.
    pub fn is_transient(&self) -> bool {
        use LinkError::{Fetch, Io, Stopped, TargetMissing, ToolMissing};
        matches!(self, ToolMissing { .. } | TargetMissing { .. } | Fetch(_) | Stopped(_) | Io { .. })
    }

    fn code(&self) -> Code {
        match self {
            Self::KernelsMissing(missing) if missing.iter().all(|kernel| !kernel.available.is_empty()) => {
                Code::DtypeUnavailable
            }
            Self::KernelsMissing(_) => Code::OperatorUnavailable,
            Self::UnknownTemplate(_) | Self::Template(_) => Code::TemplateInvalid,
            Self::ToolMissing { .. } | Self::Fetch(_) => Code::ToolMissing,
            Self::TargetMissing { .. } => Code::ToolchainMissing,
            Self::Compile(_) => Code::CompileFailed,
            Self::Operators(_) => Code::OperatorCompile,
            Self::Processor { .. } => Code::TargetInconsistent,
            Self::Link(_) | Self::SymbolsMissing { .. } => Code::LinkFailed,
            Self::Stopped(text) if text.contains(DISK_FULL) => Code::DiskFull,
            Self::Stopped(_) => Code::CompileFailed,
            Self::BankTooSmall { .. } | Self::ConstantsTooLarge { .. } | Self::StackTooSmall { .. } => {
                Code::BankTooSmall
            }
            Self::VerifyData(_) => Code::InputsMismatch,
            Self::Image(_) => Code::ImageInvalid,
            Self::Report(_) => Code::RunFailed,
            Self::Io { source, .. } if source.kind() == std::io::ErrorKind::StorageFull => Code::DiskFull,
            Self::Io { .. } => Code::StoreUnavailable,
        }
    }
}

impl From<&LinkError> for Diagnostic {
    fn from(error: &LinkError) -> Self {
        let diagnostic = Self::error(error.code(), error.to_string());
        match error {
            LinkError::TargetMissing { command, .. } => diagnostic.help(format!("run `{command}`")),
            LinkError::Processor { triple, .. } => diagnostic.help(format!(
                "name another `cpu` or `triple`; `rustc --print target-cpus --target {triple}` lists the processors"
            )),
            LinkError::ConstantsTooLarge { size, program, verify, cases, .. } => {
                let each = verify / (*cases).max(1) as u64;
                diagnostic.help(match size.saturating_sub(*program) / each.max(1) {
                    0 => "choose a target with more memory, or quantize the weights".to_owned(),
                    most => format!("verify fewer cases: one takes {each} bytes, and at most {most} fit"),
                })
            }
            LinkError::StackTooSmall { need, .. } => {
                diagnostic.help(format!("set `stack` in `memory` of the target to at least {need} bytes"))
            }
            LinkError::SymbolsMissing { .. } => diagnostic.help(
                "link with the system's own compiler (Android's NDK, MinGW): name it in the target's `rust: { linker: ... }`",
            ),
            LinkError::Operators(_) => diagnostic.help(
                "mend the sources of the crate, or the path of the kernel in its `operators.yaml`: a kernel is \
                 `pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()>`, in a crate with `#![no_std]`",
            ),
            LinkError::Fetch(_) => diagnostic.help("connect to a registry once; later builds use what it gave"),
            _ => diagnostic,
        }
    }
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missing(operator: &str, available: Vec<&'static str>) -> MissingKernel {
        MissingKernel { operator: operator.to_owned(), dtypes: vec!["bool"], available }
    }

    #[test]
    fn a_missing_type_is_told_from_a_missing_operator() {
        let code = |missing| Diagnostic::from(&LinkError::KernelsMissing(missing)).code;
        assert_eq!(code(vec![missing("a", vec!["int8"])]), Code::DtypeUnavailable);
        assert_eq!(code(vec![missing("a", vec!["int8"]), missing("b", vec![])]), Code::OperatorUnavailable);
    }

    #[test]
    fn the_command_that_helps_is_the_hint() {
        let (triple, sysroot, command) = ("t".to_owned(), "/r".into(), "rustup target add t".to_owned());
        let diagnostic = Diagnostic::from(&LinkError::TargetMissing { triple, sysroot, command });
        assert_eq!(diagnostic.help.as_deref(), Some("run `rustup target add t`"));
    }
}
