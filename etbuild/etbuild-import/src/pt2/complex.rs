//! Complex numbers as arguments: constants of the graph, of rank 0.

use et_core::ScalarType;
use etbuild_ir::{ConstantData, TensorSpec, ValueKind};

use super::body::Body;
use super::model::{Argument, Node};
use crate::ImportError;

impl Body<'_> {
    /// Defines the complex numbers among the arguments of a node.
    pub fn complex_numbers(&mut self, node: &Node) -> Result<(), ImportError> {
        for input in &node.inputs {
            let Argument::AsComplex(number) = input.arg else { continue };
            let name = number.name();
            if self.scope.find(&name).is_ok() {
                continue;
            }
            let parts = [number.real, number.imag].map(|part| part.value().to_le_bytes());
            let data = ConstantData::new(parts.concat());
            let kind = ValueKind::Constant { qualified_name: data.distinct_name("complex"), data };
            let spec = TensorSpec::contiguous(ScalarType::ComplexDouble, []);
            let id = self.captured.graph.add_value("complex", spec, kind);
            self.captured.row_major.insert(id, true);
            self.scope.define(&name, id)?;
        }
        Ok(())
    }
}
