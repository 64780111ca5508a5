//! The members of an ETRecord.

use std::borrow::Cow;
use std::collections::BTreeMap;

use et_module::Array;
use et_module::recording::Recording;
use etbuild_engine::import::{ExportedGraph, ExportedWeight, WeightRole};
use serde::Serialize;
use zip::result::{ZipError, ZipResult};

use super::archive::archive;
use super::inputs::{GivenInputs, representative};
use super::maps::Maps;
use super::pickle::{Tensor, dictionary, list};
use super::sizes::shape;
use crate::trace::profile::{Names, Profile};

/// The method that the Inspector looks up. A record is of one method, under this name.
const METHOD: &str = "forward";

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

impl<'t> Tensor<'t> {
    fn of(weight: &'t ExportedWeight) -> Self {
        Self {
            scalar_type: weight.spec.scalar_type,
            shape: shape(&weight.spec),
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
