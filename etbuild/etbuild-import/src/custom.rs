//! Schemas of custom operators, which crates of the user state in the words of PyTorch.

use std::collections::BTreeMap;

use etbuild_ir::OperatorName;

use crate::lowering::{self, Lowering, LoweringMistake};
use crate::schema::{self, Kind, Schema, items};

/// A schema that an importer accepts: `mylib::gate(Tensor x, float alpha=1.0) -> Tensor`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CustomSchema {
    line: String,
    operator: OperatorName,
    results: usize,
    /// The lines of the lowering, if any.
    lowering: Option<Vec<String>>,
    /// Whether a kernel computes the operator.
    has_kernel: bool,
}

/// The custom operators that a program may call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CustomSchemas(BTreeMap<OperatorName, CustomSchema>);

impl CustomSchema {
    /// Reads a schema.
    ///
    /// # Errors
    /// The reason why an importer cannot use the schema, as the end of a sentence about the schema.
    pub fn parse(line: &str) -> Result<Self, String> {
        let parts = line.split_once('(').zip(line.rsplit_once("->"));
        let ((name, _), (_, returns)) = parts.ok_or("has no argument list or no results")?;
        let operator = operator(name)?;
        let schema = Schema::parse(line).ok_or("cannot be read")?;
        schema.parameters.iter().try_for_each(|parameter| match parameter.kind {
            _ if parameter.written || parameter.aliased => {
                Err(format!("shares the memory of `{}`; a custom operator computes new tensors", parameter.name))
            }
            Kind::Place | Kind::MemoryFormat => Err(format!("has `{}`, whose type no kernel takes", parameter.name)),
            _ => Ok(()),
        })?;
        if line.contains("Tensor?[") {
            return Err("has a list of optional tensors, which no custom operator takes".to_owned());
        }
        Ok(Self { line: line.to_owned(), operator, results: results(returns)?, lowering: None, has_kernel: true })
    }

    /// The same with a lowering, for an operator that a kernel computes too, or not.
    ///
    /// # Errors
    /// The first mistake in the lines that shows without a program.
    pub fn lowered(self, lines: Vec<String>, has_kernel: bool) -> Result<Self, LoweringMistake> {
        let schema = Schema::parse(&self.line).unwrap_or_default();
        lowering::parse(&lines, &schema, self.results)?;
        Ok(Self { lowering: Some(lines), has_kernel, ..self })
    }

    /// The lines of the lowering; none without a lowering.
    pub fn lowering(&self) -> &[String] {
        self.lowering.as_deref().unwrap_or_default()
    }

    /// Whether a kernel computes the operator.
    pub const fn has_kernel(&self) -> bool {
        self.has_kernel
    }

    /// The schema as the crate states it.
    pub fn line(&self) -> &str {
        &self.line
    }

    /// The operator.
    pub const fn operator(&self) -> &OperatorName {
        &self.operator
    }
}

impl CustomSchemas {
    /// The schema of an operator of torch or of a crate.
    pub fn find(&self, operator: &OperatorName) -> Option<Schema<'_>> {
        schema::find(operator).or_else(|| Schema::parse(&self.0.get(operator)?.line))
    }

    /// Whether an operator has a lowering.
    pub fn has_lowerings(&self) -> bool {
        self.0.values().any(|schema| schema.lowering.is_some())
    }

    /// The lowering of an operator, if any.
    pub fn lowering(&self, operator: &OperatorName) -> Option<Lowering<'_>> {
        let schema = self.0.get(operator)?;
        let lines = schema.lowering.as_deref()?;
        lowering::parse(lines, &Schema::parse(&schema.line)?, schema.results).ok()
    }

    /// Whether a kernel computes a custom operator.
    pub fn has_kernel(&self, operator: &OperatorName) -> bool {
        self.0.get(operator).is_some_and(|schema| schema.has_kernel)
    }

    /// The number of tensors that a custom operator computes; `None` for another operator.
    pub fn results(&self, operator: &OperatorName) -> Option<usize> {
        self.0.get(operator).map(|schema| schema.results)
    }
}

impl FromIterator<CustomSchema> for CustomSchemas {
    fn from_iter<I: IntoIterator<Item = CustomSchema>>(schemas: I) -> Self {
        Self(schemas.into_iter().map(|schema| (schema.operator.clone(), schema)).collect())
    }
}

/// The operator `mylib::gate` or `mylib::gate.Tensor`.
fn operator(name: &str) -> Result<OperatorName, String> {
    let (namespace, rest) = name.split_once("::").ok_or("has no namespace, such as `mylib::`")?;
    let (name, overload) = rest.split_once('.').unwrap_or((rest, "default"));
    let is_identifier = |text: &str| {
        let letters = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_') && text.chars().all(letters)
    };
    if ![namespace, name, overload].into_iter().all(is_identifier) {
        return Err("has a name that is no identifier".to_owned());
    }
    if name.ends_with('_') {
        return Err("has a name with `_` at the end, as of an operator that writes in place".to_owned());
    }
    let operator = OperatorName::parse(&format!("{namespace}.{name}.{overload}"));
    let operator = operator.filter(OperatorName::is_custom);
    operator.ok_or_else(|| format!("is in the namespace `{namespace}`, which is not the user's"))
}

/// The number of results of `Tensor` or `(Tensor, Tensor indices)`.
fn results(returns: &str) -> Result<usize, String> {
    let returns = returns.trim();
    let list = returns.strip_prefix('(').and_then(|list| list.strip_suffix(')')).unwrap_or(returns);
    let is_tensor = |item: &str| item == "Tensor" || item.starts_with("Tensor ");
    match items(list).count() {
        0 => Err("has no results".to_owned()),
        count if items(list).all(is_tensor) => Ok(count),
        _ => Err("has a result that is no new tensor".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_functional_schema_is_read() {
        let line =
            "mylib::gate.Tensor(Tensor x, Tensor? y, SymInt[] sizes, *, float alpha=1.0) -> (Tensor, Tensor rest)";
        let schema = CustomSchema::parse(line).unwrap();
        assert_eq!((schema.operator().as_str(), schema.results), ("mylib.gate.Tensor", 2));
        let schemas = CustomSchemas::from_iter([schema.clone()]);
        assert_eq!(schemas.find(schema.operator()).unwrap().parameters.len(), 4);
        assert!(schemas.find(&OperatorName::aten("relu", "default")).is_some());
    }

    #[test]
    fn a_schema_that_no_custom_operator_has_is_refused() {
        for (line, reason) in [
            ("gate(Tensor x) -> Tensor", "no namespace"),
            ("mylib::gate", "no argument list"),
            ("mylib::gate() -> ()", "no results"),
            ("aten::gate(Tensor x) -> Tensor", "not the user's"),
            ("mylib::gate_(Tensor x) -> Tensor", "in place"),
            ("mylib::a-b(Tensor x) -> Tensor", "no identifier"),
            ("mylib::gate(Tensor(a!) x) -> Tensor", "shares the memory of `x`"),
            ("mylib::gate(Tensor(a) x) -> Tensor(a)", "shares the memory of `x`"),
            ("mylib::gate(Tensor x) -> Tensor[]", "no new tensor"),
            ("mylib::gate(Tensor x) -> (Tensor, int)", "no new tensor"),
            ("mylib::gate(Tensor?[] x) -> Tensor", "optional tensors"),
            ("mylib::gate(Generator g) -> Tensor", "`g`"),
            ("mylib::gate(int[x] y) -> Tensor", "cannot be read"),
        ] {
            let found = CustomSchema::parse(line).unwrap_err();
            assert!(found.contains(reason), "{line}: {found}");
        }
    }
}
