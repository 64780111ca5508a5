//! Errors of importers.

use etbuild_ir::Violation;

/// An error of an importer. A reader collects as many errors as it can before it stops.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// The bytes are no zip container, or a broken container.
    #[error("the file is not a zip archive: {0}")]
    NotZip(String),
    /// A zip container of another kind.
    #[error("the archive is not an exported program: {0}; write it with `torch.export.save`")]
    NotPt2(String),
    /// A required member is missing.
    #[error("the archive has no member `{0}`")]
    MemberMissing(String),
    /// A compressed member: the contents cannot be mapped.
    #[error("member `{0}` is compressed; `torch.export.save` stores members as they are, so the file was packed again")]
    MemberCompressed(String),
    /// JSON that does not follow the schema.
    #[error("member `{member}` is malformed: {reason}")]
    Malformed {
        /// The name in the archive.
        member: String,
        /// The message of the parser, with line and column.
        reason: String,
    },
    /// An unsupported schema version.
    #[error("the program has schema version {found}, this reader knows {known}; save it with another release of torch")]
    SchemaVersion {
        /// The major version in the file.
        found: u64,
        /// The supported major version.
        known: u64,
    },
    /// A size that is an unsupported expression of input sizes.
    #[error("the size of `{0}` is an unsupported expression of the input sizes")]
    DynamicShape(String),
    /// A size without an upper bound.
    #[error(
        "the size of `{0}` is unbounded; set an upper bound at export: `Dim(name, max=...)`, or `torch._check(size <= ...)` in the model for a size that depends on elements"
    )]
    Unbounded(String),
    /// Unsupported control flow or higher-order operator.
    #[error("unsupported control flow: {0}")]
    HigherOrder(String),
    /// A weight that is stored as a Python object.
    #[error(
        "weight `{0}` is stored as a pickled tensor subclass; call `unwrap_tensor_subclass(model)` before export, or \
         `program = program.run_decompositions({{}})` after it"
    )]
    PickledWeight(String),
    /// An object of a class of the exporting process.
    #[error("`{0}` is a custom object, which is not supported")]
    CustomObject(String),
    /// An operator without a schema.
    #[error("the operator `{operator}` is unknown")]
    UnknownOperator {
        /// The target of the call, as in `torch.ops.mylib.swish.default`.
        operator: String,
        /// The line of the model's source with the call, where the archive holds the line.
        source_line: Option<String>,
    },
    /// Arguments that do not match the schema.
    #[error("operator `{operator}`: argument `{argument}` {reason}")]
    Argument {
        /// The dotted name of the operator.
        operator: String,
        /// The name of the argument in the schema.
        argument: String,
        /// The mismatch.
        reason: String,
    },
    /// Another number of results than in the schema of a custom operator.
    #[error("operator `{operator}` has {expected} results in its schema, and {found} in the archive")]
    Results {
        /// The dotted name of the operator.
        operator: String,
        /// The number in the schema.
        expected: usize,
        /// The number in the archive.
        found: usize,
    },
    /// A lowering that does not fit a call of the operator.
    #[error("the lowering of `{operator}`, line {line}: {reason}")]
    Lowering {
        /// The name of the operator.
        operator: String,
        /// The line of the lowering, from 1.
        line: usize,
        /// The mistake.
        reason: String,
    },
    /// An unsupported element type.
    #[error("`{value}` has elements of type {number} of the export schema, which is not supported")]
    ScalarType {
        /// The name of the value.
        value: String,
        /// The number of the type in the archive.
        number: i64,
    },
    /// An impossible shape.
    #[error("`{0}` has an invalid shape: a negative size, too many dimensions, or too many elements")]
    Shape(String),
    /// A weight with elements outside of the archive.
    #[error("weight `{0}` is truncated: its elements lie outside its member of the archive")]
    TruncatedWeight(String),
    /// Weights that would take far more memory than the file.
    #[error("weight `{0}` repeats elements of the archive until they would take far more memory than the file")]
    InflatedWeight(String),
    /// A weight that the archive lacks.
    #[error("the program reads `{0}`, which the archive does not hold")]
    MissingWeight(String),
    /// An undefined or ambiguous name.
    #[error("value `{0}` is undefined or defined twice")]
    Undefined(String),
    /// An input or output that is not a tensor.
    #[error("{0} is not a tensor")]
    NotTensor(String),
    /// An output of a training step.
    #[error("output {0} is one of a training step; export the model for inference")]
    Training(usize),
    /// A write without a functional equivalent.
    #[error("operator `{operator}` writes to `{value}`, {reason}")]
    Mutation {
        /// The dotted name of the operator.
        operator: String,
        /// The written value.
        value: String,
        /// The reason.
        reason: &'static str,
    },
    /// A write to memory that may or may not be shared.
    #[error("the program writes to memory that `{0}` may share in a way that cannot be followed; `clone` it first")]
    Aliased(String),
    /// The imported program is invalid: a fault of the importer.
    #[error(transparent)]
    Invalid(#[from] Violation),
}

impl ImportError {
    /// The same error with the line of the model's source.
    pub(crate) fn with_source_line(self, line: Option<String>) -> Self {
        match self {
            Self::UnknownOperator { operator, .. } => Self::UnknownOperator { operator, source_line: line },
            other => other,
        }
    }
}
