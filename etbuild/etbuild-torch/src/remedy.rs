//! How a refused file of `torch.save` becomes a file that etbuild reads.

use crate::TorchError;

/// How a user gets a file that etbuild reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// `torch.load` with `weights_only=True` reads the tensors.
    Tensors,
    /// `torch.load` reads the tensors, and executes what the file names: its maker must be trusted.
    Executed,
    /// Nothing: the file names a function that no weights need.
    Refused,
    /// The tensors lack names.
    Named,
    /// Another copy of the file: this one is damaged, or a pointer of Git LFS.
    Copy,
}

/// Modules whose functions reach the machine.
const REACHING: [&str; 11] =
    ["builtins", "__builtin__", "os", "posix", "nt", "subprocess", "sys", "runpy", "shutil", "socket", "importlib"];

/// Objects of [`REACHING`] that are data.
const DATA: [&str; 5] = ["set", "frozenset", "bytearray", "complex", "slice"];

/// What `weights_only=True` knows besides the types and sizes directly in `torch`.
const KNOWN: [&str; 6] =
    ["torch._utils", "torch._tensor", "torch.storage", "torch.serialization", "torch.nn.parameter", "collections"];

impl TorchError {
    /// Whether the file is a sound one, in a form that is not read.
    pub const fn is_of_other_form(&self) -> bool {
        matches!(self, Self::Legacy | Self::MemberCompressed(_) | Self::Global { .. })
    }

    /// How a user gets a file that etbuild reads.
    pub fn remedy(&self) -> Remedy {
        match self {
            Self::Legacy | Self::MemberCompressed(_) | Self::BigEndian | Self::Entry { .. } => Remedy::Tensors,
            Self::Global { module, name, .. } => of_global(module, name),
            Self::Operation(_) => Remedy::Executed,
            Self::Unnamed(_) | Self::NoTensors(_) => Remedy::Named,
            Self::NotZip(_) | Self::MemberMissing(_) | Self::Pickle { .. } | Self::Outside(_) => Remedy::Copy,
        }
    }
}

fn of_global(module: &str, name: &str) -> Remedy {
    match module {
        "torch" => Remedy::Tensors,
        _ if KNOWN.contains(&module) => Remedy::Tensors,
        _ if REACHING.contains(&module) && DATA.contains(&name) => Remedy::Tensors,
        _ if module.split('.').next().is_some_and(|root| REACHING.contains(&root)) => Remedy::Refused,
        _ => Remedy::Executed,
    }
}
