//! Reading the lines of a lowering, with all that follows from schemas alone.

use std::collections::BTreeMap;

use et_core::{Dtypes, ScalarType};
use etbuild_ir::{Argument, OperatorName, ResultRule};

use super::{Given, Lowering, LoweringMistake, Name, Step};
use crate::schema::{Kind, Parameter, Schema, find, items, literal};

/// The longest lowering, in lines.
const LONGEST: usize = 256;

/// The operator of a size.
const SIZE: &str = "aten.sym_size.int";

/// Reads the lines of the lowering of an operator with a schema and so many results.
///
/// # Errors
/// The first mistake.
pub fn parse<'l>(lines: &'l [String], schema: &Schema<'l>, results: usize) -> Result<Lowering<'l>, LoweringMistake> {
    if lines.len() > LONGEST {
        let reason = format!("the lowering has {} lines, and at most {LONGEST} are read", lines.len());
        return Err(LoweringMistake { line: LONGEST, reason });
    }
    let parameters = schema.parameters.iter().map(|known| (Name::Written(known.name), known.kind));
    let mut reader = Reader { known: parameters.collect(), lowering: Lowering::default() };
    for (line, text) in lines.iter().enumerate() {
        if !reader.lowering.results.is_empty() {
            return Err(LoweringMistake { line, reason: "a line follows `return`".to_owned() });
        }
        reader.line(line, text, results).map_err(|reason| LoweringMistake { line, reason })?;
    }
    match reader.lowering.results.len() {
        found if found == results => Ok(reader.lowering),
        0 => Err(LoweringMistake {
            line: lines.len().saturating_sub(1),
            reason: "the last line of a lowering begins with `return`".to_owned(),
        }),
        found => Err(LoweringMistake {
            line: lines.len().saturating_sub(1),
            reason: format!("the lowering returns {found} tensors, and the schema has {results}"),
        }),
    }
}

struct Reader<'l> {
    /// The kinds of the values that a line can name.
    known: BTreeMap<Name<'l>, Kind>,
    lowering: Lowering<'l>,
}

impl<'l> Reader<'l> {
    fn line(&mut self, line: usize, text: &'l str, results: usize) -> Result<(), String> {
        if let Some(returned) = text.trim().strip_prefix("return ") {
            return self.results(line, returned.trim(), results);
        }
        let written = text.split_once('=').filter(|(names, _)| !names.contains('('));
        let (names, call) =
            written.ok_or("a line is `NAME = aten::OPERATOR(...)`, or `return` with a call or names of tensors")?;
        let names: Vec<Name<'l>> = names.split(',').map(|name| Name::Written(name.trim())).collect();
        for name in &names {
            let Name::Written(text) = name else { continue };
            if !is_identifier(text) {
                return Err(format!("`{text}` is no name"));
            }
            if self.known.contains_key(name) {
                return Err(format!("`{text}` is named twice"));
            }
        }
        self.call(line, call.trim(), names)
    }

    /// The results: a call, or names of tensors.
    fn results(&mut self, line: usize, text: &'l str, results: usize) -> Result<(), String> {
        if text.contains('(') {
            let names: Vec<Name<'l>> = (0..results).map(Name::Returned).collect();
            self.lowering.results.clone_from(&names);
            return self.call(line, text, names);
        }
        for name in text.split(',').map(str::trim) {
            let name = Name::Written(name);
            match (self.known.get(&name), &name) {
                (Some(Kind::Tensor), _) => self.lowering.results.push(name),
                (_, Name::Written(text)) => return Err(format!("`{text}` is no tensor of the lowering")),
                (_, Name::Returned(_)) => {}
            }
        }
        Ok(())
    }

    fn call(&mut self, line: usize, text: &'l str, names: Vec<Name<'l>>) -> Result<(), String> {
        let call = text.strip_suffix(')').and_then(|text| text.split_once('('));
        let (name, given) = call.ok_or_else(|| format!("`{text}` is no call of an operator"))?;
        let operator = operator(name.trim())?;
        let schema =
            find(&operator).ok_or_else(|| format!("`{name}` is no operator of torch, or has another overload"))?;
        if schema.parameters.iter().any(|parameter| parameter.written) {
            return Err(format!("`{name}` writes to an argument, and a lowering computes new tensors"));
        }
        let (kind, count) = match (operator.as_str(), ResultRule::of(&operator)) {
            (SIZE, _) => (Kind::Int, 1),
            (_, Some(rule)) => (Kind::Tensor, rule.count()),
            (_, None) => {
                return Err(format!(
                    "`{name}` has no rule for the shapes of its results; write operators of docs/reference/operators.md, or the functional \
                     ones that these are variants of"
                ));
            }
        };
        if names.len() > count {
            return Err(format!("`{name}` computes {count}, and {} are named", names.len()));
        }
        let arguments = self.arguments(name, &schema, given)?;
        self.known.extend(names.iter().cloned().map(|name| (name, kind)));
        self.lowering.steps.push(Step { line, operator, arguments, parameters: schema.parameters, names });
        Ok(())
    }

    /// An argument for each parameter: by place, then by name, then the defaults.
    fn arguments(&self, operator: &str, schema: &Schema<'static>, text: &'l str) -> Result<Vec<Given<'l>>, String> {
        let mut given: BTreeMap<&str, Given<'l>> = BTreeMap::new();
        for (place, item) in items(text).enumerate() {
            let named = item.split_once('=').filter(|(name, _)| is_identifier(name.trim()));
            let (parameter, text) = match named {
                Some((name, text)) => {
                    let found = schema.parameters.iter().find(|parameter| parameter.name == name.trim());
                    (found.ok_or_else(|| format!("`{operator}` has no argument `{}`", name.trim()))?, text.trim())
                }
                None => {
                    let found = schema.parameters.get(place);
                    let count = schema.parameters.len();
                    (found.ok_or_else(|| format!("`{operator}` has {count} arguments, and more are given"))?, item)
                }
            };
            if given.insert(parameter.name, self.argument(operator, parameter, text)?).is_some() {
                return Err(format!("argument `{}` of `{operator}` is given twice", parameter.name));
            }
        }
        let complete = schema.parameters.iter().map(|parameter| {
            let default = || parameter.default.clone().map(Given::Literal);
            let missing = || format!("argument `{}` of `{operator}` is missing", parameter.name);
            given.get(parameter.name).cloned().or_else(default).ok_or_else(missing)
        });
        complete.collect()
    }

    fn argument(&self, operator: &str, parameter: &Parameter<'_>, text: &'l str) -> Result<Given<'l>, String> {
        let wrong = || format!("argument `{}` of `{operator}` cannot be `{text}`", parameter.name);
        if let Some(kind) = self.known.get(&Name::Written(text)) {
            let fits = takes(parameter.kind, *kind);
            return if fits { Ok(Given::Name(Name::Written(text))) } else { Err(wrong()) };
        }
        let list = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
        if let Some(list) = list.filter(|list| items(list).any(|item| self.known.contains_key(&Name::Written(item)))) {
            let of_list = |item: &'l str| match self.known.get(&Name::Written(item)) {
                Some(kind) if takes(parameter.kind.item(), *kind) => Some(Given::Name(Name::Written(item))),
                Some(_) => None,
                None => literal(item, parameter.kind.item(), None).map(Given::Literal),
            };
            return items(list).map(of_list).collect::<Option<_>>().map(Given::List).ok_or_else(wrong);
        }
        let dtype = (parameter.kind == Kind::ScalarType).then(|| dtype(text)).flatten();
        let found = match dtype {
            Some(dtype) => Some(Argument::Type(dtype)),
            None => literal(text, parameter.kind, parameter.length),
        };
        match found {
            Some(Argument::None) if !parameter.optional => Err(wrong()),
            Some(found) => Ok(Given::Literal(found)),
            None if is_identifier(text) => {
                Err(format!("`{text}` is neither an argument of the operator nor a result above"))
            }
            None => Err(wrong()),
        }
    }
}

/// Whether a parameter takes a named value.
fn takes(parameter: Kind, value: Kind) -> bool {
    let is_number = matches!(value, Kind::Int | Kind::Float | Kind::Bool | Kind::Scalar);
    match parameter {
        Kind::Scalar => is_number,
        Kind::Float => matches!(value, Kind::Int | Kind::Float | Kind::Scalar),
        other => other == value,
    }
}

/// The operator of `aten::mul.Tensor`, or of `torch.ops.aten.mul.Tensor`.
fn operator(name: &str) -> Result<OperatorName, String> {
    let dotted = name.strip_prefix("torch.ops.").unwrap_or(name).replace("::", ".");
    let parts = dotted.matches('.').count();
    let whole = if parts == 1 { format!("{dotted}.default") } else { dotted };
    let operator = OperatorName::parse(&whole)
        .ok_or_else(|| format!("`{name}` is no name of an operator, such as `aten::mul.Tensor`"))?;
    match operator.is_custom() {
        true => Err(format!("`{name}` is a custom operator: a lowering calls operators of torch")),
        false => Ok(operator),
    }
}

/// The dtype of `float32` or `torch.float32`.
fn dtype(text: &str) -> Option<ScalarType> {
    let name = text.strip_prefix("torch.").unwrap_or(text);
    Dtypes::STORED.iter().find(|scalar_type| scalar_type.name() == name)
}

fn is_identifier(text: &str) -> bool {
    let letters = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_') && text.chars().all(letters)
}
