//! The delegates of a method: one per graph of a blob.

use std::collections::BTreeMap;

use et_format::write::{BackendDelegate, CompileSpec};
use etbuild_ir::{DelegateCall, Digest, Graph};

use crate::EmitError;

/// Delegates in order of first call.
pub struct Delegates<'a> {
    /// The delegate ids of backends, by backend.
    ids: &'a BTreeMap<String, String>,
    list: Vec<BackendDelegate<'a>>,
    indices: BTreeMap<(&'a str, Digest, Option<i64>), i32>,
}

/// The compile spec with the number of a graph, 4 bytes.
const GRAPH: &str = "graph";

impl<'a> Delegates<'a> {
    pub fn new(ids: &'a BTreeMap<String, String>) -> Self {
        Self { ids, list: Vec::new(), indices: BTreeMap::new() }
    }

    /// The index of the delegate of a call. Calls of the same graph of equal blobs share a delegate.
    pub fn index(&mut self, call: DelegateCall<'a>, graph: &'a Graph) -> Result<i32, EmitError> {
        let missing = || EmitError::EngineMissing(call.backend.to_owned());
        let id = self.ids.get(call.backend).ok_or_else(missing)?;
        let blob = call.blob_data(graph).ok_or_else(missing)?;
        let list = &mut self.list;
        Ok(*self.indices.entry((id, blob.digest(), call.graph)).or_insert_with(|| {
            let number =
                |graph: i64| CompileSpec { key: GRAPH.to_owned(), value: (graph as u32).to_le_bytes().to_vec() };
            let compile_specs = call.graph.map(number).into_iter().collect();
            list.push(BackendDelegate { id: id.clone(), blob: blob.bytes(), compile_specs });
            list.len() as i32 - 1
        }))
    }

    pub fn into_list(self) -> Vec<BackendDelegate<'a>> {
        self.list
    }
}
