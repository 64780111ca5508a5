//! The error of a value against a reference, with its place in the model's source.

use std::collections::BTreeMap;

use etbuild_inspect::{HostAnatomy, ValueError};
use etbuild_ir::Graph;
use serde::Serialize;

use super::values::quantized_forms;

/// The error of a value.
#[derive(Clone, Debug, Serialize)]
pub struct Drift {
    /// The value.
    pub value: String,
    /// The operator that computes the value.
    pub operator: String,
    /// The module of the model's source.
    pub module: Option<String>,
    /// The line of Python, as `model.py:7: y = self.conv(x)`.
    pub line: Option<String>,
    /// The signal-to-noise ratio in decibels; `None` without error, or where nothing is alike.
    pub sqnr: Option<f64>,
    /// The largest absolute error; `None` for an infinite error.
    pub max_error: Option<f64>,
    #[serde(skip)]
    ratio: f64,
}

impl Drift {
    /// The errors of values, with the lines of Python. The dequantized form of a value counts as the value.
    pub fn all(errors: Vec<ValueError>, method: &str, (graph, anatomy): (&Graph, &HostAnatomy)) -> Vec<Self> {
        let forms: BTreeMap<&str, &str> = quantized_forms(graph).into_iter().map(|(of, form)| (form, of)).collect();
        let mut operators = BTreeMap::new();
        for node in &graph.nodes {
            operators.extend(node.outputs.iter().map(|id| (graph.value(*id).name.as_str(), node.operator.as_str())));
        }
        let named = |mut error: ValueError| {
            if let Some(of) = forms.get(error.value.as_str()) {
                // An input has no operator.
                error.operator = format!("{} (quantized)", operators.get(of).unwrap_or(&"input"));
                error.value = (*of).to_owned();
            }
            Self::new(error, method, anatomy)
        };
        errors.into_iter().map(named).collect()
    }

    fn new(error: ValueError, method: &str, anatomy: &HostAnatomy) -> Self {
        let ValueError { value, operator, module, quantized: _, sqnr, max_error } = error;
        let line = anatomy.lines.line(method, &value).map(ToString::to_string);
        let finite = |number: f64| Some(number).filter(|number| number.is_finite());
        let module = Some(module).filter(|module| !module.is_empty());
        Self { value, operator, module, line, sqnr: finite(sqnr), max_error: finite(max_error), ratio: sqnr }
    }

    /// Whether the ratio is below the limit.
    pub fn drifts(&self, limit: f64) -> bool {
        self.ratio.is_nan() || self.ratio < limit
    }

    /// The ratio for people.
    pub fn decibels(&self) -> String {
        match self.ratio {
            ratio if ratio == f64::INFINITY => "exact".to_owned(),
            ratio if ratio.is_finite() => format!("{ratio:.1} dB"),
            _ => "nothing alike".to_owned(),
        }
    }

    /// The operator with its place in the source.
    pub fn place(&self) -> String {
        let mut place = format!("`{}`, a call of `{}`", self.value, self.operator);
        if let Some(module) = &self.module {
            place += &format!(" in `{module}`");
        }
        if let Some(line) = &self.line {
            place += &format!(" ({line})");
        }
        place + &format!(", {}", self.decibels())
    }
}
