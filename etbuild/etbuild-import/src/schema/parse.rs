//! The grammar of schemas: `aten::add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)`.

use etbuild_ir::Argument;

use super::default;
use super::kind::Kind;

/// A parsed schema.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schema<'a> {
    /// The parameters in order, including the parameters after `*`.
    pub parameters: Vec<Parameter<'a>>,
    /// Whether the operator has a result.
    pub returns: bool,
}

/// A parameter of an operator.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter<'a> {
    /// The name of the parameter.
    pub name: &'a str,
    /// The type of the parameter.
    pub kind: Kind,
    /// The length of a list that a single item may stand for: 2 for `int[2]`.
    pub length: Option<usize>,
    /// Whether the parameter may be absent.
    pub optional: bool,
    /// Whether the operator writes to the parameter: `Tensor(a!)`.
    pub written: bool,
    /// Whether results may share the memory of the parameter: `Tensor(a)`.
    pub aliased: bool,
    /// The default value.
    pub default: Option<Argument>,
}

impl<'a> Schema<'a> {
    /// Reads a schema.
    pub fn parse(line: &'a str) -> Option<Self> {
        let (_, rest) = line.split_once('(')?;
        let (parameters, returns) = rest.rsplit_once(") -> ")?;
        let parameters = items(parameters).filter(|item| *item != "*").map(parameter).collect::<Option<_>>()?;
        Some(Self { parameters, returns: returns.trim() != "()" })
    }
}

/// Splits at commas outside of brackets and quotes.
pub fn items(list: &str) -> impl Iterator<Item = &str> {
    let (mut depth, mut quoted, mut escaped) = (0_i32, false, false);
    list.split(move |character| {
        quoted ^= character == '"' && !escaped;
        escaped = character == '\\' && !escaped;
        depth += i32::from(matches!(character, '(' | '[')) - i32::from(matches!(character, ')' | ']'));
        character == ',' && depth == 0 && !quoted
    })
    .map(str::trim)
    .filter(|item| !item.is_empty())
}

/// Reads `Tensor(a!)? name=default`.
fn parameter(item: &str) -> Option<Parameter<'_>> {
    let (declaration, default) = match item.split_once('=') {
        Some((declaration, default)) => (declaration, Some(default)),
        None => (item, None),
    };
    let (type_text, name) = declaration.rsplit_once(' ')?;
    let written = type_text.contains("!)");
    let aliased = !written && type_text.contains('(');
    let (kind, length, optional) = type_of(type_text)?;
    let default = match default {
        Some(text) => Some(default::parse(text, kind, length)?),
        None => None,
    };
    Some(Parameter { name, kind, length, optional, written, aliased, default })
}

/// Kind, length and optionality of `SymInt[2]?`.
fn type_of(text: &str) -> Option<(Kind, Option<usize>, bool)> {
    let (text, optional) = text.strip_suffix('?').map_or((text, false), |text| (text, true));
    let Some((item, length)) = text.strip_suffix(']').and_then(|text| text.rsplit_once('[')) else {
        return Some((single(without_aliases(text)), None, optional));
    };
    let length = if length.is_empty() { None } else { Some(length.parse().ok()?) };
    Some((list(without_aliases(item.trim_end_matches('?')))?, length, optional))
}

/// `Tensor` of `Tensor(a!)`.
fn without_aliases(text: &str) -> &str {
    text.split_once('(').map_or(text, |(name, _)| name)
}

fn single(name: &str) -> Kind {
    match name {
        "Tensor" => Kind::Tensor,
        "int" | "SymInt" => Kind::Int,
        "float" => Kind::Float,
        "bool" => Kind::Bool,
        "Scalar" => Kind::Scalar,
        "str" => Kind::Text,
        "ScalarType" => Kind::ScalarType,
        "MemoryFormat" => Kind::MemoryFormat,
        _ => Kind::Place,
    }
}

fn list(item: &str) -> Option<Kind> {
    match item {
        "Tensor" => Some(Kind::Tensors),
        "int" | "SymInt" => Some(Kind::Ints),
        "float" | "Scalar" => Some(Kind::Floats),
        "bool" => Some(Kind::Bools),
        "CellParamsBase" | "__torch__.torch.classes.rnn.CellParamsBase" => Some(Kind::Place),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema(line: &str) -> Schema<'_> {
        Schema::parse(line).unwrap()
    }

    #[test]
    fn parameters_keep_their_order_across_the_star() {
        let schema = schema("aten::add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)");
        let names: Vec<_> = schema.parameters.iter().map(|parameter| parameter.name).collect();
        assert_eq!(names, ["self", "other", "alpha"]);
        assert_eq!(schema.parameters[2].default, Some(Argument::Int(1)));
    }

    #[test]
    fn only_an_exclamation_mark_declares_a_write() {
        let schema = schema("aten::f(Tensor(a) self, Tensor(b!) out, Tensor(a -> *) x) -> Tensor(a)");
        let written: Vec<_> = schema.parameters.iter().map(|parameter| parameter.written).collect();
        assert_eq!(written, [false, true, false]);
    }

    #[test]
    fn lists_of_known_length_and_optional_lists() {
        let schema = schema("aten::f(int[2] padding=0, SymInt[1]? dim=None, Tensor?[] indices) -> ()");
        let [padding, dim, indices] = &schema.parameters[..] else { unreachable!("three were written") };
        assert_eq!((padding.kind, &padding.default), (Kind::Ints, &Some(Argument::Ints(vec![0, 0]))));
        assert_eq!((dim.optional, &dim.default), (true, &Some(Argument::None)));
        assert_eq!((indices.kind, indices.optional, schema.returns), (Kind::Tensors, false, false));
    }

    #[test]
    fn commas_in_text_do_not_separate() {
        assert_eq!(schema(r#"aten::f(str sep=", ", int n=3) -> ()"#).parameters.len(), 2);
    }
}
