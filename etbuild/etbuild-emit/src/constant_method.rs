//! Methods without instructions, with outputs that the file stores.

use et_format::write::{Chain, EValue, ExecutionPlan};

use crate::container::{constant, constant_list};

/// A method that returns fixed values, like the `constant_methods` of ExecuTorch's exporter.
#[derive(Clone, Debug, PartialEq)]
pub struct ConstantMethod {
    /// The name of the method.
    pub name: String,
    /// The outputs of the method.
    pub outputs: ConstantOutputs,
}

/// The outputs of a constant method.
#[derive(Clone, Debug, PartialEq)]
pub enum ConstantOutputs {
    /// A single value.
    One(ConstantScalar),
    /// A list: each item is a separate output.
    List(Vec<ConstantScalar>),
}

/// A value other than a tensor.
#[derive(Clone, Debug, PartialEq)]
pub enum ConstantScalar {
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A floating-point number.
    Float(f64),
    /// A text.
    Text(String),
}

impl ConstantMethod {
    /// The method as an execution plan of the file.
    pub(crate) fn execution_plan(&self) -> ExecutionPlan<'static> {
        let (scalars, container) = match &self.outputs {
            ConstantOutputs::One(scalar) => (std::slice::from_ref(scalar), constant()),
            ConstantOutputs::List(items) => (items.as_slice(), constant_list(items.len())),
        };
        ExecutionPlan {
            name: self.name.clone(),
            container,
            values: scalars.iter().map(value).collect(),
            outputs: (0..).zip(scalars).map(|(index, _)| index).collect(),
            chains: vec![Chain::default()],
            ..ExecutionPlan::default()
        }
    }
}

fn value(scalar: &ConstantScalar) -> EValue {
    match scalar {
        ConstantScalar::Bool(flag) => EValue::Bool(*flag),
        ConstantScalar::Int(number) => EValue::Int(*number),
        ConstantScalar::Float(number) => EValue::Double(*number),
        ConstantScalar::Text(text) => EValue::String(text.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_items_of_a_list_are_outputs() {
        let outputs = ConstantOutputs::List(vec![ConstantScalar::Int(1), ConstantScalar::Float(0.5)]);
        let plan = ConstantMethod { name: "get_eos".to_owned(), outputs }.execution_plan();
        assert_eq!((plan.values, plan.outputs), (vec![EValue::Int(1), EValue::Double(0.5)], vec![0, 1]));
        assert!(plan.inputs.is_empty() && plan.chains[0].instructions.is_empty());
    }
}
