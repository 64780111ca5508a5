//! An ETRecord, with which ExecuTorch's Inspector finds the operators, the modules and the lines of Python behind the events of an
//! ETDump, and computes the operators again to compare results.
//!
//! An ETRecord is a zip file (`devtools/etrecord/_etrecord.py` of ExecuTorch 1.4) with a program, and with maps from instructions to
//! the debug handles of the program's nodes. Upstream stores the program in the edge dialect; here the program is the graph that
//! `torch.export` captured, which the archive of the model has, and the operators are those of ATen.

mod handles;
mod maps;
mod pickle;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{Cursor, Write};

use et_module::recording::Recording;
use et_module::{Array, Named};
use etbuild_engine::import::{ExportedGraph, ExportedInput, ExportedWeight, WeightRole};
use maps::Maps;
use pickle::{Tensor, dictionary, list};
use serde::Serialize;
use zip::result::{ZipError, ZipResult};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use super::profile::{Names, Profile};

/// The method that the Inspector looks up. A record is of one method, under this name.
const METHOD: &str = "forward";

/// The inputs of the recorded executions.
pub enum GivenInputs {
    /// Zeros of the method's shapes.
    Zeros,
    /// Tensors by name, each of one case or of several.
    Tensors(Named<Array>),
    /// Not known here, as on a device.
    Unknown,
}

/// The bytes of an ETRecord for the ETDump of the same recording.
///
/// # Errors
/// A file of 4 GiB or more in the record.
pub fn etrecord(
    graph: &ExportedGraph,
    (recording, profile, names): (&Recording, &Profile, &Names<'_>),
    inputs: &GivenInputs,
) -> ZipResult<Vec<u8>> {
    let maps = Maps::of(graph, recording, profile, names);
    let program = format!("edge_dialect_exported_program/{METHOD}");
    let weights = |are_constants: bool| {
        let weights = graph.weights.iter().filter(|weight| (weight.role == WeightRole::Constant) == are_constants);
        dictionary(weights.map(|weight| (weight.name.as_str(), Tensor::of(weight))))
    };
    let file = |name: &str, bytes: Vec<u8>| (name.to_owned(), Cow::from(bytes));
    let mut members = vec![
        file("ETRECORD_V0", Vec::new()),
        (program.clone(), Cow::from(graph.serialized.as_bytes())),
        file(&format!("{program}_state_dict"), weights(false)?),
        file(&format!("{program}_constants"), weights(true)?),
        file(&format!("{program}_example_inputs"), Vec::new()),
        file("debug_handle_map", of_method(&maps.of_instructions)?),
        file("delegate_map", of_method(&maps.of_delegates)?),
        file("instruction_id_to_num_outs_map", of_method(&BTreeMap::<u32, usize>::new())?),
    ];
    if let Some(arrays) = representative(graph, inputs) {
        members.push(file("representative_inputs", list(arrays.iter().map(Tensor::from))?));
    }
    archive(&members)
}

/// A map of the method as JSON.
fn of_method(map: &impl Serialize) -> ZipResult<Vec<u8>> {
    serde_json::to_vec(&BTreeMap::from([(METHOD, map)])).map_err(|error| ZipError::Io(error.into()))
}

/// The inputs of the first execution, in the order of the graph; `None` where these are not those of the graph.
fn representative(graph: &ExportedGraph, inputs: &GivenInputs) -> Option<Vec<Array>> {
    let array = |input: &ExportedInput| {
        let shape: Vec<usize> = input.spec.sizes.iter().map(|size| *size as usize).collect();
        match inputs {
            GivenInputs::Unknown => None,
            GivenInputs::Zeros => Some(Array::zeros(input.spec.scalar_type, &shape)),
            GivenInputs::Tensors(tensors) => {
                let given = tensors.get(&input.name).filter(|given| given.scalar_type == input.spec.scalar_type)?;
                first_case(given, shape)
            }
        }
    };
    graph.inputs.iter().map(array).collect()
}

/// The first of the cases that a tensor holds, where a case has a shape of at most these sizes.
fn first_case(given: &Array, shape: Vec<usize>) -> Option<Array> {
    let is_case = given.shape.len() == shape.len() && given.shape.iter().zip(&shape).all(|(size, most)| size <= most);
    if is_case {
        return Some(given.clone());
    }
    let length = shape.iter().product::<usize>().checked_mul(given.scalar_type.size())?;
    Some(Array { scalar_type: given.scalar_type, shape, bytes: given.bytes.get(..length)?.to_vec() })
}

/// A zip file of stored members, the same for the same members.
fn archive(members: &[(String, Cow<'_, [u8]>)]) -> ZipResult<Vec<u8>> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let stored = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .last_modified_time(DateTime::default());
    for (name, bytes) in members {
        writer.start_file(name.as_str(), stored.large_file(bytes.len() >= u32::MAX as usize))?;
        writer.write_all(bytes)?;
    }
    Ok(writer.finish()?.into_inner())
}

impl<'t> Tensor<'t> {
    fn of(weight: &'t ExportedWeight) -> Self {
        let shape = weight.spec.sizes.iter().map(|size| *size as usize).collect();
        Self {
            scalar_type: weight.spec.scalar_type,
            shape,
            bytes: weight.data.bytes(),
            is_parameter: weight.role == WeightRole::Parameter,
        }
    }
}

impl<'t> From<&'t Array> for Tensor<'t> {
    fn from(array: &'t Array) -> Self {
        Self { scalar_type: array.scalar_type, shape: array.shape.clone(), bytes: &array.bytes, is_parameter: false }
    }
}

#[cfg(test)]
mod tests {
    use et_core::ScalarType;

    use super::*;

    #[test]
    fn the_first_of_several_cases_is_taken() {
        let given = Array { scalar_type: ScalarType::Byte, shape: vec![3, 2], bytes: vec![1, 2, 3, 4, 5, 6] };
        let first = |shape: &[usize]| first_case(&given, shape.to_vec()).map(|array| (array.shape, array.bytes));
        assert_eq!(first(&[1, 2]), Some((vec![1, 2], vec![1, 2])));
        // A dynamic size: the tensor is one case.
        assert_eq!(first(&[8, 2]), Some((vec![3, 2], given.bytes.clone())));
        assert_eq!(first(&[4, 4]), None);
    }
}
