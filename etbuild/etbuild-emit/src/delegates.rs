//! The delegates of a method: one per blob.

use std::collections::BTreeMap;

use et_format::write::BackendDelegate;
use etbuild_ir::{DelegateCall, Digest, Graph};

use crate::EmitError;

/// Delegates in order of first call.
pub struct Delegates<'a> {
    /// The delegate ids of backends, by backend.
    ids: &'a BTreeMap<String, String>,
    list: Vec<BackendDelegate<'a>>,
    indices: BTreeMap<(&'a str, Digest), i32>,
}

impl<'a> Delegates<'a> {
    pub fn new(ids: &'a BTreeMap<String, String>) -> Self {
        Self { ids, list: Vec::new(), indices: BTreeMap::new() }
    }

    /// The index of the delegate of a call. Calls with equal blobs share a delegate.
    pub fn index(&mut self, call: DelegateCall<'a>, graph: &'a Graph) -> Result<i32, EmitError> {
        let missing = || EmitError::EngineMissing(call.backend.to_owned());
        let id = self.ids.get(call.backend).ok_or_else(missing)?;
        let blob = call.blob_data(graph).ok_or_else(missing)?;
        let list = &mut self.list;
        Ok(*self.indices.entry((id, blob.digest())).or_insert_with(|| {
            list.push(BackendDelegate { id: id.clone(), blob: blob.bytes(), compile_specs: Vec::new() });
            list.len() as i32 - 1
        }))
    }

    pub fn into_list(self) -> Vec<BackendDelegate<'a>> {
        self.list
    }
}
