//! Runs a method on many cases that were stacked along the first dimension.

use crate::TensorView;
use crate::module::missing;
use crate::{Array, Error, Module, Named, TensorType};

/// Runs the method once per case and stacks the outputs along their first dimension.
///
/// The number of cases is how often the method's first dimension fits in the first dimension of the inputs. An input of exactly the
/// method's shape is the same in every case, and so is an input whose shape may change. A tensor of rank 0 gets a dimension
/// for the cases.
pub fn run_cases(module: &mut Module, inputs: &Named<TensorView<'_>>) -> Result<Named<Array>, Error> {
    let mut count = 1;
    for (index, name) in module.input_names().iter().enumerate() {
        if let Some(wanted) = module.input_type(index)? {
            let view = inputs.get(name).ok_or_else(|| missing(name, inputs))?;
            count = count_of(name, count, cases_in(view, &wanted))?;
        }
    }
    if count == 1 {
        return module.run(inputs);
    }
    let mut stacked = Named::new();
    for case in 0..count {
        let part = inputs_of_case(module, inputs, case)?;
        stack(&mut stacked, module.run(&part)?)?;
    }
    Ok(stacked)
}

/// The number of cases that a tensor holds, given the type of a case; 1 for a tensor that is no stack of cases.
fn cases_in(view: &TensorView<'_>, wanted: &TensorType) -> usize {
    if wanted.dynamic {
        return 1;
    }
    match (view.shape.split_first(), wanted.shape.split_first()) {
        (Some((given, inner)), Some((wanted, wanted_inner)))
            if inner == wanted_inner && *wanted > 0 && given % wanted == 0 && *given > 0 =>
        {
            given / wanted
        }
        _ => 1,
    }
}

fn count_of(name: &str, count: usize, cases: usize) -> Result<usize, Error> {
    if count > 1 && cases > 1 && count != cases {
        let problem = format!("{cases} cases were given, {count} of the inputs before");
        return Err(Error::Input { name: name.to_owned(), problem });
    }
    Ok(count.max(cases))
}

fn inputs_of_case<'v>(
    module: &Module,
    inputs: &Named<TensorView<'v>>,
    case: usize,
) -> Result<Named<TensorView<'v>>, Error> {
    let mut part = Named::new();
    for (index, name) in module.input_names().iter().enumerate() {
        if let (Some(wanted), Some(view)) = (module.input_type(index)?, inputs.get(name)) {
            let stride = view.bytes.len() / cases_in(view, &wanted);
            let start = if stride == view.bytes.len() { 0 } else { case * stride };
            let bytes = view.bytes.get(start..start + stride).unwrap_or_default();
            let shape = if stride == view.bytes.len() { view.shape.clone() } else { wanted.shape };
            part.insert(name.clone(), TensorView { scalar_type: view.scalar_type, shape, bytes });
        }
    }
    Ok(part)
}

/// Appends the outputs of a case to the outputs of earlier cases.
fn stack(stacked: &mut Named<Array>, outputs: Named<Array>) -> Result<(), Error> {
    for (name, mut output) in outputs {
        if output.shape.is_empty() {
            output.shape.push(1);
        }
        match stacked.get_mut(&name) {
            Some(array) => append(&name, array, &output)?,
            None => drop(stacked.insert(name, output)),
        }
    }
    Ok(())
}

fn append(name: &str, array: &mut Array, output: &Array) -> Result<(), Error> {
    match (array.shape.split_first_mut(), output.shape.split_first()) {
        (Some((count, inner)), Some((more, more_inner))) if inner == more_inner => *count += more,
        _ => return Err(Error::Output(format!("{name} has another shape in every case: it cannot be stacked"))),
    }
    array.bytes.extend_from_slice(&output.bytes);
    Ok(())
}
