//! The cargo features of the device crate that a blob needs.

use std::collections::BTreeSet;

use et_cpu::Blob;

/// The features of `et-cpu` that the instructions of a blob need.
pub fn features(bytes: &[u8]) -> BTreeSet<&'static str> {
    let instructions = Blob::read(bytes).into_iter().flat_map(|blob| blob.instructions()).map_while(Result::ok);
    instructions.filter_map(|instruction| instruction.feature()).collect()
}

#[cfg(test)]
mod tests {
    use et_core::ScalarType;
    use etbuild_backend::{Backend, TargetFacts};
    use etbuild_ir::{Argument, ConstantData, Graph, Node, OperatorName, TensorSpec, ValueKind};

    use super::*;
    use crate::BACKEND;

    /// The features of `operator(x, weights)` on matrices.
    fn needed(operator: &str, weights: bool) -> BTreeSet<&'static str> {
        let mut graph = Graph::default();
        let spec = || TensorSpec::contiguous(ScalarType::Float, vec![4, 4]);
        let input = graph.add_value("x", spec(), ValueKind::Input);
        let data = ConstantData::new(vec![0; 64]);
        let kind = ValueKind::Constant { qualified_name: "weights".to_owned(), data };
        let constant = graph.add_value("weights", spec(), kind);
        let output = graph.add_value("y", spec(), ValueKind::Computed);
        graph.inputs.push(input);
        graph.outputs.push(output);
        let others = [Argument::Value(constant), Argument::None].into_iter().filter(|_| weights);
        let arguments = [Argument::Value(input)].into_iter().chain(others).collect();
        graph.nodes.push(Node { operator: OperatorName::parse(operator).unwrap(), arguments, outputs: vec![output] });
        let features = ["avx2", "neon"].map(str::to_owned).to_vec();
        let target = TargetFacts { architecture: std::env::consts::ARCH.to_owned(), features, hosted: true };
        BACKEND.device_features(&BACKEND.lower(&graph, &target).unwrap().bytes)
    }

    #[test]
    fn what_all_binaries_have_is_no_feature() {
        assert_eq!(needed("aten.relu.default", false), BTreeSet::new());
        assert_eq!(needed("aten.linear.default", true), ["float-products"].into());
        assert_eq!(features(b"no blob"), BTreeSet::new());
    }
}
