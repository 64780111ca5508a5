//! The test cases of bundled programs (`.bpte`).

use et_core::{Storage, Tensor, Value};
use et_format::{BundledCase, BundledProgram, BundledSlot, BundledTensor, BundledValue};

use crate::array::to_array;
use crate::closeness::{Tolerance, difference};
use crate::outputs::Outputs;
use crate::{Array, Constant, Error, Module};

/// The result of a bundled case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseResult {
    /// The outputs of the method.
    pub outputs: Outputs,
    /// The mismatch in words; empty for a case that passed.
    pub differences: Vec<String>,
}

/// Runs every case of the bundle for the method, in order, in `module`, whose state the cases share.
pub fn run_bundled(
    module: &mut Module,
    bundle: &[u8],
    method: &str,
    tolerance: Tolerance,
) -> Result<Vec<CaseResult>, Error> {
    let mut results = Vec::new();
    for suite in BundledProgram::parse(bundle)?.suites()?.iter() {
        let suite = suite?;
        if suite.method_name()? == method {
            for case in suite.cases()?.iter() {
                results.push(run_case(module, case?, tolerance)?);
            }
        }
    }
    Ok(results)
}

fn run_case(module: &mut Module, case: BundledCase<'_>, tolerance: Tolerance) -> Result<CaseResult, Error> {
    let inputs = case.inputs()?;
    if inputs.len() != module.input_names().len() {
        let problem = format!("{} inputs are bundled, the method takes {}", inputs.len(), module.input_names().len());
        return Err(Error::Input { name: "of a bundled case".to_owned(), problem });
    }
    for (index, input) in inputs.iter().enumerate() {
        set_input(module, index, input?)?;
    }
    module.execute()?;
    let outputs = module.outputs()?;
    let differences = compare(&outputs, case, tolerance)?;
    Ok(CaseResult { outputs, differences })
}

fn set_input(module: &mut Module, index: usize, input: BundledSlot<'_>) -> Result<(), Error> {
    match input.read()? {
        BundledValue::Tensor(bundled) => module.set_tensor(index, &tensor(bundled)?),
        BundledValue::Int(value) => module.set_constant(index, &Constant::Int(value)),
        BundledValue::Bool(value) => module.set_constant(index, &Constant::Bool(value)),
        BundledValue::Double(value) => module.set_constant(index, &Constant::Double(value)),
    }
}

/// The differences between outputs and the expected outputs; a case without expected outputs has no differences.
fn compare(outputs: &Outputs, case: BundledCase<'_>, tolerance: Tolerance) -> Result<Vec<String>, Error> {
    let mut differences = Vec::new();
    for (index, expected) in case.expected_outputs()?.iter().enumerate() {
        let name = format!("output_{index}");
        let expected = array(expected?)?;
        let found = match outputs.arrays.get(&name) {
            Some(got) => difference(&expected, got, tolerance),
            None => Some("missing".to_owned()),
        };
        differences.extend(found.map(|found| format!("{name}: {found}")));
    }
    Ok(differences)
}

fn array(value: BundledSlot<'_>) -> Result<Array, Error> {
    let scalar = |scalar_type, bytes: &[u8]| Array { scalar_type, shape: vec![], bytes: bytes.to_vec() };
    Ok(match value.read()? {
        BundledValue::Tensor(bundled) => to_array(&tensor(bundled)?)?,
        BundledValue::Int(value) => scalar(et_core::ScalarType::Long, &value.to_le_bytes()),
        BundledValue::Bool(value) => scalar(et_core::ScalarType::Bool, &[u8::from(value)]),
        BundledValue::Double(value) => scalar(et_core::ScalarType::Double, &value.to_le_bytes()),
    })
}

fn tensor(bundled: BundledTensor<'_>) -> et_core::Result<Tensor<'_>> {
    Tensor::place(bundled.layout()?, Storage::Constant(bundled.data()?), None)
}

impl Module {
    /// Copies a tensor that lies in the method's own order into input `index`.
    pub(crate) fn set_tensor(&mut self, index: usize, tensor: &Tensor<'_>) -> Result<(), Error> {
        let set = self.loaded.method().set_input(index, &Value::Tensor(*tensor));
        let shape: Vec<usize> = tensor.shape().sizes().iter().map(|size| *size as usize).collect();
        set.map_err(|error| self.input_error(index, tensor.scalar_type(), &shape, error))
    }
}
