//! Why a file cannot become a program.

use etbuild_ir::Violation;

/// One reason. A reader reports as many as it can find before it gives up.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// The bytes are no zip container, or a broken one.
    #[error("the file is not a zip archive: {0}")]
    NotZip(String),
    /// A zip container of something else.
    #[error("the archive is not an exported program: {0}; write it with `torch.export.save`")]
    NotPt2(String),
    /// A member that the archive must have.
    #[error("the archive has no member `{0}`")]
    MemberMissing(String),
    /// A member that cannot be used in place.
    #[error("member `{0}` is compressed; `torch.export.save` stores members as they are, so the file was packed again")]
    MemberCompressed(String),
    /// JSON that does not follow the schema.
    #[error("member `{member}` is malformed: {reason}")]
    Malformed {
        /// The name in the archive.
        member: String,
        /// What the parser says, with line and column.
        reason: String,
    },
    /// A schema that this reader does not know.
    #[error("the program has schema version {found}, this reader knows {known}; save it with another release of torch")]
    SchemaVersion {
        /// The major version in the file.
        found: u64,
        /// The major version that is understood.
        known: u64,
    },
    /// A size that depends on the inputs in a way that is not known.
    #[error("`{0}` has a size that depends on the inputs in a way that is not understood")]
    DynamicShape(String),
    /// A size without an upper bound.
    #[error("`{0}` can be of any size; give its dimensions an upper bound at export: `Dim(name, max=...)`")]
    Unbounded(String),
    /// Control flow or another operator that takes graphs.
    #[error("`{0}` calls a part of the program, which is not supported")]
    HigherOrder(String),
    /// A weight that is stored as a Python object.
    #[error(
        "weight `{0}` is stored as a pickled tensor subclass; call `unwrap_tensor_subclass(model)` before export, or \
         `program = program.run_decompositions({{}})` after it"
    )]
    PickledWeight(String),
    /// An object of a class that only the exporting process knows.
    #[error("`{0}` is a custom object, which is not supported")]
    CustomObject(String),
    /// An operator without a schema.
    #[error("operator `{0}` is unknown")]
    UnknownOperator(String),
    /// Arguments that do not fit the schema.
    #[error("operator `{operator}`: argument `{argument}` {reason}")]
    Argument {
        /// The operator's dotted name.
        operator: String,
        /// The argument's name in the schema.
        argument: String,
        /// What is wrong with it.
        reason: String,
    },
    /// An element type that nothing here computes with.
    #[error("`{value}` has elements of type {number} of the export schema, which is not supported")]
    ScalarType {
        /// The value's name.
        value: String,
        /// The type's number in the archive.
        number: i64,
    },
    /// A shape that no tensor can have.
    #[error("`{0}` has an impossible shape: negative, of too many dimensions, or too large")]
    Shape(String),
    /// A weight whose elements lie outside what the archive holds.
    #[error("weight `{0}` is truncated: its elements lie outside its member of the archive")]
    TruncatedWeight(String),
    /// Weights that would take far more memory than the file.
    #[error("weight `{0}` repeats elements of the archive until they would take far more memory than the file")]
    InflatedWeight(String),
    /// A weight that the archive does not have.
    #[error("the program reads `{0}`, which the archive does not hold")]
    MissingWeight(String),
    /// A name without meaning, or with several.
    #[error("value `{0}` is not defined, or defined twice")]
    Undefined(String),
    /// An input or output that is no tensor.
    #[error("{0} is not a tensor")]
    NotTensor(String),
    /// A step of training.
    #[error("output {0} is one of a training step; export the model for inference")]
    Training(usize),
    /// A write that has no functional equivalent here.
    #[error("operator `{operator}` writes to `{value}`, {reason}")]
    Mutation {
        /// The operator's dotted name.
        operator: String,
        /// The value that is written to.
        value: String,
        /// Why that cannot be made functional.
        reason: &'static str,
    },
    /// Memory that the exporting process may have shared, or not.
    #[error("the program writes to memory that `{0}` may share in a way that cannot be followed; `clone` it first")]
    Aliased(String),
    /// The importer built a program that breaks the rules of its dialect.
    #[error(transparent)]
    Invalid(#[from] Violation),
}
