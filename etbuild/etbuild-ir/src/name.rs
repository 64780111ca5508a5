//! Names of operators in programs.

use std::fmt;
use std::sync::Arc;

use et_ops::Primitive;

/// The namespaces of the operators that etbuild, torch and ExecuTorch define; operators of other namespaces are custom operators.
const DEFINED: &[&str] = &[
    "_operator",
    "aten",
    "control",
    "delegate",
    "dim_order_ops",
    "et_copy",
    "etbuild",
    "executorch_prim",
    "higher_order",
    "prim",
    "prims",
    "quantized_decomposed",
    "torchao",
    "torchvision",
];

/// `namespace.name.overload`, such as `aten.conv2d.default`: the path in `torch.ops`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OperatorName(Arc<str>);

impl OperatorName {
    /// Parses the dotted form; `None` unless the name has three non-empty parts.
    pub fn parse(dotted: &str) -> Option<Self> {
        let parts = dotted.split('.').collect::<Vec<_>>();
        let well_formed = parts.len() == 3 && parts.iter().all(|part| !part.is_empty());
        well_formed.then(|| Self(dotted.into()))
    }

    /// A name that is a constant of this crate.
    pub(crate) fn known(dotted: &'static str) -> Self {
        Self(dotted.into())
    }

    /// The name of an overload of an ATen operator; the overload without a name is `default`.
    pub fn aten(name: &str, overload: &str) -> Self {
        Self(format!("aten.{name}.{overload}").into())
    }

    /// The dotted form.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// `aten`.
    pub fn namespace(&self) -> &str {
        self.part(0)
    }

    /// `conv2d`.
    pub fn name(&self) -> &str {
        self.part(1)
    }

    /// `default`.
    pub fn overload(&self) -> &str {
        self.part(2)
    }

    /// The name in schemas and in the kernel catalogue: `aten::conv2d`, `aten::add.Tensor`.
    pub fn qualified(&self) -> String {
        match self.overload() {
            "default" => format!("{}::{}", self.namespace(), self.name()),
            overload => format!("{}::{}.{overload}", self.namespace(), self.name()),
        }
    }

    /// Whether the operator is a higher-order operator, with nested graphs as arguments.
    pub fn runs_graphs(&self) -> bool {
        self.namespace() == "higher_order"
    }

    /// The primitive with this name: an operator on numbers.
    pub fn primitive(&self) -> Option<&'static Primitive> {
        et_ops::find_primitive(&self.qualified())
    }

    /// Whether a crate of the user defines the operator. A custom operator is opaque: a verifier takes the types and shapes of its results
    /// from the program, and no host evaluates a call.
    pub fn is_custom(&self) -> bool {
        !DEFINED.contains(&self.namespace())
    }

    /// The name in program files of the variant that writes to out tensors, as ExecuTorch names the variant of a custom operator:
    /// `mylib::fused_gate.out`, `mylib::fused_gate.Tensor_out`.
    pub fn out_variant(&self) -> String {
        match self.overload() {
            "default" => format!("{}.out", self.qualified()),
            _ => format!("{}_out", self.qualified()),
        }
    }

    fn part(&self, index: usize) -> &str {
        self.0.split('.').nth(index).unwrap_or_default()
    }
}

impl fmt::Display for OperatorName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_overload_has_no_suffix_in_schemas() {
        assert_eq!(OperatorName::parse("aten.relu.default").unwrap().qualified(), "aten::relu");
        assert_eq!(OperatorName::aten("add", "Tensor").qualified(), "aten::add.Tensor");
        assert_eq!(OperatorName::parse("aten.relu"), None);
    }

    #[test]
    fn no_operator_of_the_catalogue_is_custom() {
        let names = et_ops::OPERATORS.iter().map(|operator| operator.name());
        for name in names.chain(et_ops::PRIMITIVES.iter().map(|primitive| primitive.name())) {
            assert!(DEFINED.contains(&name.split_once("::").unwrap().0), "{name}");
        }
    }

    #[test]
    fn a_custom_operator_has_an_out_variant() {
        let name = |dotted| OperatorName::parse(dotted).unwrap();
        assert!(name("mylib.gate.default").is_custom());
        assert_eq!(name("mylib.gate.default").out_variant(), "mylib::gate.out");
        assert_eq!(name("mylib.gate.Tensor").out_variant(), "mylib::gate.Tensor_out");
    }
}
