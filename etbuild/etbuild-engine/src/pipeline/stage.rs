//! The stages of the pipeline.

use etbuild_store::KeyBuilder;

use super::version;

/// A stage of the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// A Python function becomes a model file, where the recipe names a function.
    Export,
    /// A model file becomes an ATen program.
    Import,
    /// The ATen program becomes an Edge program.
    Lower,
    /// The Edge program's weights and activations become integers, where the recipe asks for that.
    Quantize,
    /// Measuring the loss of quantization, where the recipe states a limit.
    Measure,
    /// Parts of the program become calls of engines.
    Delegate,
    /// Memory planning.
    Plan,
    /// The planned program becomes a program file.
    Emit,
    /// The program's kernels become a project, and the project's dependencies are resolved.
    Select,
    /// The project becomes a binary.
    Link,
    /// The binary is run.
    Verify,
}

impl Stage {
    /// All stages in the order of the graph.
    pub const ALL: [Self; 11] = [
        Self::Export,
        Self::Import,
        Self::Lower,
        Self::Quantize,
        Self::Measure,
        Self::Delegate,
        Self::Plan,
        Self::Emit,
        Self::Select,
        Self::Link,
        Self::Verify,
    ];

    /// The name in keys, tables and progress lines.
    pub const fn name(self) -> &'static str {
        self.row().0
    }

    /// The digest of the code that implements the stage.
    pub const fn code_version(self) -> &'static str {
        self.row().1
    }

    /// The beginning of a key of this stage: the stage and the version of the stage's code.
    pub fn key(self) -> KeyBuilder {
        KeyBuilder::new(self.name(), self.code_version())
    }

    /// Whether the stage computes on this machine all the time. A stage that runs cargo waits for a turn in the folder first, or
    /// has a worker run cargo, and takes a [place](etbuild_system::Slots) just for cargo.
    pub const fn is_work_here(self) -> bool {
        !matches!(self, Self::Select | Self::Link)
    }

    const fn row(self) -> (&'static str, &'static str) {
        match self {
            Self::Export => ("export", version::EXPORT),
            Self::Import => ("import", version::IMPORT),
            Self::Lower => ("lower", version::LOWER),
            Self::Quantize => ("quantize", version::QUANTIZE),
            Self::Measure => ("measure", version::MEASURE),
            Self::Delegate => ("delegate", version::DELEGATE),
            Self::Plan => ("plan", version::PLAN),
            Self::Emit => ("emit", version::EMIT),
            Self::Select => ("select", version::SELECT),
            Self::Link => ("link", version::LINK),
            Self::Verify => ("verify", version::VERIFY),
        }
    }
}
