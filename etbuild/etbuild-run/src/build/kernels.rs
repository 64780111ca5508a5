//! The kernels that a program calls, each for the dtypes of the calls.

use std::collections::BTreeSet;

use et_core::{Dtypes, ScalarType};
use et_format::{ExecutionPlan, Instruction, Kind};

use super::Error;

/// The path of the crate of operators in generated code.
const OPERATORS: &str = "::etbuild_run::generated::";

/// A kernel of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelRow {
    /// The name in program files, with the overload.
    pub operator: String,
    /// The kernel in Rust, such as `et_ops::activations::relu::out` in generated code.
    pub path: String,
    /// The dtypes of the compiled kernel; `None` for the kernel of a primitive, which is not generic.
    pub dtypes: Option<Dtypes>,
}

/// The kernels of methods, in the order of the first operator tables that name them.
#[derive(Default)]
pub struct KernelTable {
    rows: Vec<KernelRow>,
    missing: BTreeSet<String>,
}

impl KernelTable {
    /// Adds the kernels of a method.
    ///
    /// # Errors
    /// A malformed program.
    pub fn add(&mut self, plan: ExecutionPlan<'_>) -> et_core::Result<()> {
        let mut names = Vec::new();
        for operator in plan.operators()?.iter() {
            let operator = operator?;
            let (name, overload) = (operator.name()?, operator.overload()?);
            names.push(if overload.is_empty() { name.to_owned() } else { format!("{name}.{overload}") });
        }
        names.iter().for_each(|name| self.select(name, Dtypes::NONE));
        for chain in plan.chains()?.iter() {
            let chain = chain?;
            for index in 0..chain.instruction_count()? {
                if let Instruction::KernelCall { operator, arguments } = chain.instruction(index)? {
                    let name = names.get(operator as usize).ok_or(et_core::Error::InvalidProgram)?;
                    let slots: Vec<i32> = arguments.iter().collect();
                    self.select(name, called(plan, name, &slots)?);
                }
            }
        }
        Ok(())
    }

    /// Adds a call of an operator that selects these dtypes.
    fn select(&mut self, name: &str, selected: Dtypes) {
        if let Some(row) = self.rows.iter_mut().find(|row| row.operator == name) {
            if let Some(dtypes) = &mut row.dtypes {
                *dtypes = Dtypes(dtypes.0 | selected.0);
            }
            return;
        }
        let primitive = et_ops::find_primitive(name).map(|primitive| (primitive.path, None));
        let Some((path, dtypes)) = primitive.or_else(|| et_ops::find(name).map(|found| (found.path, Some(selected))))
        else {
            self.missing.insert(name.to_owned());
            return;
        };
        self.rows.push(KernelRow { operator: name.to_owned(), path: format!("{OPERATORS}{path}"), dtypes });
    }

    /// The kernels.
    ///
    /// # Errors
    /// Operators without a kernel, or without one for the dtypes of the calls.
    pub fn into_rows(self) -> Result<Vec<KernelRow>, Error> {
        let mut missing: Vec<String> = self.missing.into_iter().collect();
        missing.extend(self.rows.iter().filter_map(lacking));
        if missing.is_empty() { Ok(self.rows) } else { Err(Error::Kernels(missing)) }
    }
}

/// The dtypes of calls that the kernel of an operator lacks, in words.
fn lacking(row: &KernelRow) -> Option<String> {
    let lacking = Dtypes(row.dtypes?.0 & !et_ops::find(&row.operator)?.dtypes.0);
    let names: Vec<&str> = lacking.iter().map(ScalarType::name).collect();
    (!names.is_empty()).then(|| format!("{} of {}", row.operator, names.join(" and ")))
}

/// The dtypes that a call selects.
fn called(plan: ExecutionPlan<'_>, name: &str, slots: &[i32]) -> et_core::Result<Dtypes> {
    let Some(operator) = et_ops::find(name) else { return Ok(Dtypes::NONE) };
    let (inputs, outputs) = slots.split_at_checked(operator.in_count()).ok_or(et_core::Error::InvalidProgram)?;
    Ok(et_ops::selection(operator.dtypes, types(plan, inputs)?, types(plan, outputs)?))
}

/// The types of the tensors in slots of the value table, and of those in lists.
fn types(plan: ExecutionPlan<'_>, slots: &[i32]) -> et_core::Result<Vec<ScalarType>> {
    let mut types = Vec::new();
    for slot in slots.iter().filter(|slot| **slot >= 0) {
        let index = usize::try_from(*slot).map_err(|_| et_core::Error::InvalidProgram)?;
        let value = plan.value(index)?;
        match value.kind()? {
            Kind::Tensor => types.push(plan.tensor(index)?.scalar_type()?),
            Kind::TensorList | Kind::OptionalTensorList => {
                for item in value.tensor_list()?.iter().filter(|item| *item >= 0) {
                    let item = usize::try_from(item).map_err(|_| et_core::Error::InvalidProgram)?;
                    types.push(plan.tensor(item)?.scalar_type()?);
                }
            }
            _ => {}
        }
    }
    Ok(types)
}
