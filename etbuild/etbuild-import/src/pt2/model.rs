//! `model.json`: the exported program, as `torch/_export/serde/schema.py` of torch 2.15 declares it.
//!
//! Unknown fields are skipped, because minor versions of the schema add fields. A union is an object with a single
//! key.

use std::collections::HashMap;

use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};

use super::archive::Archive;
use crate::ImportError;

/// The supported major version of the schema.
const SCHEMA_MAJOR: u64 = 8;
/// The member of the program.
pub const MODEL: &str = "models/model.json";

/// Reads the program of an archive.
pub fn read(archive: &Archive) -> Result<Model, ImportError> {
    let bytes = archive.member(MODEL)?;
    let model: Result<Model, _> = parse(MODEL, bytes);
    let version = match &model {
        Ok(model) => model.schema_version.major,
        Err(_) => parse::<OnlyVersion>(MODEL, bytes)?.schema_version.major,
    };
    if version != SCHEMA_MAJOR {
        return Err(ImportError::SchemaVersion { found: version, known: SCHEMA_MAJOR });
    }
    model
}

/// Reads a JSON member.
pub fn parse<T: DeserializeOwned>(member: &str, bytes: &[u8]) -> Result<T, ImportError> {
    serde_json::from_slice(bytes)
        .map_err(|error| ImportError::Malformed { member: member.to_owned(), reason: error.to_string() })
}

/// The program.
#[derive(Debug, Deserialize)]
pub struct Model {
    pub graph_module: GraphModule,
    #[serde(default)]
    pub range_constraints: HashMap<String, RangeConstraint>,
    schema_version: SchemaVersion,
}

/// The range of a symbol in sizes; an absent bound means no bound.
#[derive(Debug, Deserialize)]
pub struct RangeConstraint {
    pub min_val: Option<i64>,
    pub max_val: Option<i64>,
}

#[derive(Debug, Deserialize)]
struct OnlyVersion {
    schema_version: SchemaVersion,
}

#[derive(Debug, Deserialize)]
struct SchemaVersion {
    major: u64,
}

/// A graph and its signature.
#[derive(Debug, Deserialize)]
pub struct GraphModule {
    pub graph: GraphBody,
    pub signature: Signature,
}

/// Nodes in execution order, and the types of values.
#[derive(Debug, Deserialize)]
pub struct GraphBody {
    pub inputs: Vec<Argument>,
    pub outputs: Vec<Argument>,
    pub nodes: Vec<Node>,
    pub tensor_values: HashMap<String, TensorMeta>,
    #[serde(default)]
    pub sym_int_values: HashMap<String, SymInt>,
}

/// A nested graph.
#[derive(Debug, Deserialize)]
pub struct NestedGraph {
    pub graph: GraphBody,
}

/// A call of an operator.
#[derive(Debug, Deserialize)]
pub struct Node {
    pub target: String,
    pub inputs: Vec<NamedArgument>,
    pub outputs: Vec<Argument>,
    #[serde(default)]
    pub metadata: Metadata,
}

/// Metadata of a node.
#[derive(Debug, Default, Deserialize)]
pub struct Metadata {
    /// The modules around the call, outermost first, separated by `;`, each `key,path,class`.
    pub nn_module_stack: Option<String>,
    /// The Python frames of the call, outermost first, each `  File "model.py", line 7, in forward` and the line itself.
    pub stack_trace: Option<String>,
}

impl Metadata {
    /// The innermost frame of the call: the file with the line number, and the line.
    pub fn source_line(&self) -> Option<String> {
        let trace = self.stack_trace.as_deref()?;
        let frame = trace.get(trace.rfind("File \"")?..)?;
        let (place, code) = frame.split_once('\n').unwrap_or((frame, ""));
        let code = code.lines().next().unwrap_or_default().trim();
        Some(format!("{}: `{code}`", place.trim_end()))
    }
}

/// An argument with the name of its parameter.
#[derive(Debug, Deserialize)]
pub struct NamedArgument {
    pub name: String,
    pub arg: Argument,
}

/// A type and a shape.
#[derive(Debug, Deserialize)]
pub struct TensorMeta {
    pub dtype: i64,
    pub sizes: Vec<SymInt>,
    pub strides: Vec<SymInt>,
    pub storage_offset: SymInt,
}

/// An integer, or an expression of input sizes.
#[derive(Debug, Deserialize)]
pub enum SymInt {
    #[serde(rename = "as_int")]
    Int(i64),
    #[serde(rename = "as_expr")]
    Expression(Expression),
    #[serde(rename = "as_name")]
    Name(String),
}

/// An expression in the form of SymPy's `srepr`.
#[derive(Debug, Deserialize)]
pub struct Expression {
    pub expr_str: String,
}

/// A boolean, or an expression of input sizes.
#[derive(Debug, Deserialize)]
pub enum SymBool {
    #[serde(rename = "as_bool")]
    Bool(bool),
    #[serde(rename = "as_expr")]
    Expression(IgnoredAny),
    #[serde(rename = "as_name")]
    Name(String),
}

/// A number, or an expression of input sizes.
#[derive(Debug, Deserialize)]
pub enum SymFloat {
    #[serde(rename = "as_float")]
    Float(Float),
    #[serde(rename = "as_expr")]
    Expression(IgnoredAny),
    #[serde(rename = "as_name")]
    Name(String),
}

/// The name of a value.
#[derive(Debug, Deserialize)]
pub struct Named {
    pub name: String,
}

/// A tensor that may be absent.
#[derive(Debug, Deserialize)]
pub enum OptionalTensor {
    #[serde(rename = "as_tensor")]
    Tensor(Named),
    #[serde(rename = "as_none")]
    None(IgnoredAny),
}

/// A number, or the text of a number that JSON cannot write.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(untagged)]
pub enum Float {
    Finite(f64),
    Other(NonFinite),
}

/// A complex number.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Complex {
    pub real: Float,
    pub imag: Float,
}

impl Complex {
    /// The name of the number's constant. No value of an archive has a name with a colon.
    pub fn name(self) -> String {
        format!("complex:{}:{}", self.real.value(), self.imag.value())
    }
}

/// The numbers that JSON cannot write.
#[derive(Clone, Copy, Debug, Deserialize)]
pub enum NonFinite {
    Infinity,
    #[serde(rename = "-Infinity")]
    NegativeInfinity,
    NaN,
}

impl Float {
    /// The number.
    pub const fn value(self) -> f64 {
        match self {
            Self::Finite(value) => value,
            Self::Other(NonFinite::Infinity) => f64::INFINITY,
            Self::Other(NonFinite::NegativeInfinity) => f64::NEG_INFINITY,
            Self::Other(NonFinite::NaN) => f64::NAN,
        }
    }
}

/// An argument or result of a node.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::enum_variant_names)] // The schema's own names.
pub enum Argument {
    AsNone(IgnoredAny),
    AsTensor(Named),
    AsTensors(Vec<Named>),
    AsInt(i64),
    AsInts(Vec<i64>),
    AsFloat(Float),
    AsFloats(Vec<Float>),
    AsString(String),
    AsStrings(IgnoredAny),
    AsSymInt(SymInt),
    AsSymInts(Vec<SymInt>),
    AsScalarType(i64),
    AsMemoryFormat(i64),
    AsLayout(IgnoredAny),
    AsDevice(IgnoredAny),
    AsBool(bool),
    AsBools(Vec<bool>),
    AsSymBool(SymBool),
    AsSymBools(IgnoredAny),
    AsSymFloat(SymFloat),
    AsSymFloats(IgnoredAny),
    AsGraph(NestedGraph),
    AsOptionalTensor(OptionalTensor),
    AsOptionalTensors(Vec<OptionalTensor>),
    AsCustomObj(Named),
    AsOperator(IgnoredAny),
    AsComplex(Complex),
    AsNestedTensors(IgnoredAny),
    AsIntLists(IgnoredAny),
    AsFloatLists(IgnoredAny),
    AsStringToArgument(IgnoredAny),
}

impl Argument {
    /// The name of the number, if the argument is a number.
    pub fn number(&self) -> Option<&str> {
        match self {
            Self::AsSymInt(SymInt::Name(name))
            | Self::AsSymBool(SymBool::Name(name))
            | Self::AsSymFloat(SymFloat::Name(name)) => Some(name),
            _ => None,
        }
    }

    /// The names of the tensors in the argument.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let (one, many, optional) = match self {
            Self::AsTensor(named) | Self::AsOptionalTensor(OptionalTensor::Tensor(named)) => {
                (Some(named), &[][..], &[][..])
            }
            Self::AsTensors(items) => (None, &items[..], &[][..]),
            Self::AsOptionalTensors(items) => (None, &[][..], &items[..]),
            _ => (None, &[][..], &[][..]),
        };
        let optional = optional.iter().filter_map(|item| match item {
            OptionalTensor::Tensor(named) => Some(named),
            OptionalTensor::None(_) => None,
        });
        one.into_iter().chain(many).chain(optional).map(|named| named.name.as_str())
    }
}

/// The signature of the graph.
#[derive(Debug, Deserialize)]
pub struct Signature {
    pub input_specs: Vec<InputSpec>,
    pub output_specs: Vec<OutputSpec>,
}

/// The role of an input.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InputSpec {
    UserInput {
        arg: Argument,
    },
    Parameter {
        arg: Named,
        parameter_name: String,
    },
    Buffer {
        arg: Named,
        buffer_name: String,
        #[serde(default)]
        persistent: bool,
    },
    TensorConstant {
        arg: Named,
        tensor_constant_name: String,
    },
    ConstantInput(IgnoredAny),
    CustomObj {
        custom_obj_name: String,
    },
    Token(IgnoredAny),
}

/// The role of an output.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutputSpec {
    UserOutput { arg: Argument },
    BufferMutation { arg: Named, buffer_name: String },
    ParameterMutation { arg: Named, parameter_name: String },
    UserInputMutation { arg: Named, user_input_name: String },
    LossOutput(IgnoredAny),
    GradientToParameter(IgnoredAny),
    GradientToUserInput(IgnoredAny),
    Token(IgnoredAny),
}

impl InputSpec {
    /// The value of a weight, and the qualified name.
    pub fn weight(&self) -> Option<(&Named, &str)> {
        match self {
            Self::Parameter { arg, parameter_name: name }
            | Self::Buffer { arg, buffer_name: name, .. }
            | Self::TensorConstant { arg, tensor_constant_name: name } => Some((arg, name)),
            _ => None,
        }
    }
}

impl OutputSpec {
    /// The name of the weight that the output updates.
    pub fn updated_weight(&self) -> Option<&str> {
        match self {
            Self::BufferMutation { buffer_name: name, .. } | Self::ParameterMutation { parameter_name: name, .. } => {
                Some(name)
            }
            _ => None,
        }
    }
}
