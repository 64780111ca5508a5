//! Kernel selection: the program's operators and types become a table of exactly these kernels.

use std::collections::BTreeSet;

use et_core::{Dtypes, ScalarType};
use et_ops::Operator;

use crate::missing::MissingKernel;
use crate::{LinkError, OperatorCrate};

/// An operator that a program calls, and the types of the compiled kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelUse {
    /// The name in the program file, with the overload: `aten::add.out`.
    pub operator: String,
    /// The types that the calls select ([`et_ops::selection`]).
    pub dtypes: Dtypes,
}

/// The kernels of a program, in the order of the program's operators.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelTable {
    kernels: Vec<SelectedKernel>,
}

/// One kernel of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectedKernel {
    /// The operator's name.
    pub operator: String,
    /// The path of the kernel in Rust.
    pub path: String,
    /// The types of the compiled kernel; empty for a primitive, whose kernel is not generic.
    pub dtypes: Vec<ScalarType>,
}

/// Looks every use up in `catalogue`, among the primitives, and in the crates of custom operators.
///
/// # Errors
/// [`LinkError::KernelsMissing`] with all missing kernels, not only the first.
pub fn select(uses: &[KernelUse], catalogue: &[&Operator], custom: &[OperatorCrate]) -> Result<KernelTable, LinkError> {
    let found: Vec<Result<SelectedKernel, MissingKernel>> =
        uses.iter().map(|wanted| select_one(wanted, catalogue, custom)).collect();
    let missing: BTreeSet<MissingKernel> = found.iter().filter_map(|found| found.as_ref().err().cloned()).collect();
    if missing.is_empty() {
        return Ok(KernelTable { kernels: found.into_iter().flatten().collect() });
    }
    Err(LinkError::KernelsMissing(missing.into_iter().collect()))
}

fn select_one(
    wanted: &KernelUse,
    catalogue: &[&Operator],
    custom: &[OperatorCrate],
) -> Result<SelectedKernel, MissingKernel> {
    if let Some(primitive) = et_ops::find_primitive(&wanted.operator) {
        let (operator, path) = (wanted.operator.clone(), primitive.path.to_owned());
        return Ok(SelectedKernel { operator, path, dtypes: Vec::new() });
    }
    let missing = |dtypes, available| MissingKernel { operator: wanted.operator.clone(), dtypes, available };
    let operator = catalogue.iter().find(|operator| operator.name() == wanted.operator);
    let ours = operator.map(|operator| (operator.path.to_owned(), operator.dtypes));
    let of_crate =
        |found: &OperatorCrate| found.kernel(&wanted.operator).map(|kernel| (found.path(kernel), kernel.dtypes));
    let found = ours.or_else(|| custom.iter().find_map(of_crate));
    let (path, dtypes) = found.ok_or_else(|| missing(Vec::new(), Vec::new()))?;
    let lacking = Dtypes(wanted.dtypes.0 & !dtypes.0);
    if lacking != Dtypes::NONE {
        return Err(missing(names(lacking), names(dtypes)));
    }
    Ok(SelectedKernel { operator: wanted.operator.clone(), path, dtypes: wanted.dtypes.iter().collect() })
}

impl SelectedKernel {
    /// The folder of `et-ops` with the kernel, which is a feature of that crate: `pooling` of `et_ops::pooling::avg_pool2d::out`. `None` for
    /// the kernel of a custom operator.
    pub fn folder(&self) -> Option<&str> {
        self.path.strip_prefix("et_ops::")?.split("::").next()
    }
}

fn names(dtypes: Dtypes) -> Vec<&'static str> {
    dtypes.iter().map(ScalarType::name).collect()
}

impl KernelTable {
    /// The kernels in order.
    pub fn kernels(&self) -> &[SelectedKernel] {
        &self.kernels
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(operator: &str, dtypes: &[ScalarType]) -> KernelUse {
        KernelUse { operator: operator.to_owned(), dtypes: Dtypes::of(dtypes) }
    }

    #[test]
    fn the_table_keeps_the_order_of_the_program() {
        let uses = [wanted("aten::relu.out", &[ScalarType::Float]), wanted("aten::add.out", &[ScalarType::Int])];
        let table = select(&uses, et_ops::OPERATORS, &[]).unwrap();
        let rows: Vec<_> = table.kernels().iter().map(|row| (row.path.as_str(), row.dtypes.clone())).collect();
        assert_eq!(
            rows,
            [
                ("et_ops::activations::relu::out", vec![ScalarType::Float]),
                ("et_ops::elementwise::add::out", vec![ScalarType::Int])
            ]
        );
    }

    #[test]
    fn the_folder_of_every_kernel_is_a_feature_of_the_operators() {
        let manifest: toml::Table = include_str!("../../../kernel-library/et-ops/Cargo.toml").parse().unwrap();
        let uses: Vec<KernelUse> = et_ops::OPERATORS.iter().map(|operator| wanted(operator.name(), &[])).collect();
        let primitives = et_ops::PRIMITIVES.iter().map(|primitive| wanted(primitive.name(), &[]));
        let uses: Vec<KernelUse> = uses.into_iter().chain(primitives).collect();
        for kernel in select(&uses, et_ops::OPERATORS, &[]).unwrap().kernels() {
            assert!(manifest["features"].get(kernel.folder().unwrap()).is_some(), "{kernel:?}");
        }
    }

    #[test]
    fn a_primitive_has_one_kernel_for_all_types() {
        let table = select(&[wanted("executorch_prim::add.Scalar", &[])], et_ops::OPERATORS, &[]).unwrap();
        let row = &table.kernels()[0];
        assert_eq!((row.path.as_str(), row.dtypes.len()), ("et_ops::prim::arithmetic::add", 0));
    }

    #[test]
    fn everything_that_is_missing_is_named_with_what_exists() {
        let uses = [wanted("aten::relu.out", &[ScalarType::Bool, ScalarType::Float]), wanted("aten::nope.out", &[])];
        let error = select(&uses, et_ops::OPERATORS, &[]).unwrap_err().to_string();
        assert!(error.contains("`aten::nope.out` has no kernel; "), "{error}");
        assert!(error.contains("`aten::relu.out` has no kernel for bool; it has uint8, int8"), "{error}");
    }
}
