//! The elements of parameters, buffers and constants: slices of the archive, or gathered according to strides.

use std::collections::HashMap;

use etbuild_ir::{ConstantData, TensorSpec};
use etbuild_torch::gather;
use serde::Deserialize;

use super::archive::Archive;
use super::model::{self, TensorMeta};
use super::spec::Layout;
use super::symbol::Symbols;
use crate::ImportError;

/// The weight lists, each with the folder of the weight files.
const LISTS: [(&str, &str); 2] = [
    ("data/weights/model_weights_config.json", "data/weights/"),
    ("data/constants/model_constants_config.json", "data/constants/"),
];
/// Gathered weights may take this many times the size of the archive.
const INFLATION: usize = 16;

/// The weights of an archive by qualified name.
pub struct Weights<'a> {
    archive: &'a Archive,
    /// Accessed by key only: iteration order is random.
    entries: HashMap<String, Entry>,
    gathered: usize,
}

#[derive(Deserialize)]
struct List {
    config: HashMap<String, Payload>,
}

#[derive(Deserialize)]
struct Payload {
    path_name: String,
    #[serde(default)]
    use_pickle: bool,
    tensor_meta: Option<TensorMeta>,
}

struct Entry {
    folder: &'static str,
    payload: Payload,
}

impl<'a> Weights<'a> {
    /// Reads the weight lists.
    pub fn open(archive: &'a Archive) -> Result<Self, ImportError> {
        let mut entries = HashMap::new();
        for (list, folder) in LISTS {
            let bytes = match archive.member(list) {
                Err(ImportError::MemberMissing(_)) => continue,
                found => found?,
            };
            let list: List = model::parse(list, bytes)?;
            entries.extend(list.config.into_iter().map(|(name, payload)| (name, Entry { folder, payload })));
        }
        Ok(Self { archive, entries, gathered: 0 })
    }

    /// Type, shape and elements of a weight, row-major.
    pub fn load(&mut self, name: &str, symbols: &Symbols) -> Result<(TensorSpec, ConstantData), ImportError> {
        let entry = self.entries.get(name).ok_or_else(|| ImportError::MissingWeight(name.to_owned()))?;
        let meta = match &entry.payload {
            Payload { use_pickle: false, tensor_meta: Some(meta), .. } => meta,
            _ => return Err(ImportError::PickledWeight(name.to_owned())),
        };
        let layout = Layout::read(name, meta, symbols)?;
        let member = self.archive.range(&format!("{}{}", entry.folder, entry.payload.path_name))?;
        let data = if layout.is_row_major() {
            part(self.archive, member, &layout)
        } else {
            self.gathered = self.room_for(name, layout.spec.nbytes())?;
            gathered(self.archive.buffer().bytes().get(member), &layout).map(ConstantData::new)
        };
        Ok((layout.spec, data.ok_or_else(|| ImportError::TruncatedWeight(name.to_owned()))?))
    }

    /// The bytes of all gathered weights with `more`.
    ///
    /// # Errors
    /// More bytes than [`INFLATION`] allows.
    fn room_for(&self, name: &str, more: usize) -> Result<usize, ImportError> {
        let total = self.gathered.saturating_add(more);
        let limit = self.archive.buffer().bytes().len().saturating_mul(INFLATION);
        if total > limit { Err(ImportError::InflatedWeight(name.to_owned())) } else { Ok(total) }
    }
}

/// Row-major elements as a slice of the archive.
fn part(archive: &Archive, member: std::ops::Range<usize>, layout: &Layout) -> Option<ConstantData> {
    let skipped = usize::try_from(layout.offset).ok()?.checked_mul(layout.spec.scalar_type.size())?;
    let start = member.start.checked_add(skipped)?;
    let len = layout.spec.nbytes();
    (start.checked_add(len)? <= member.end).then(|| ConstantData::part_of(archive.buffer().clone(), start, len))?
}

/// The elements in row-major order, gathered from the storage.
fn gathered(storage: Option<&[u8]>, layout: &Layout) -> Option<Vec<u8>> {
    let sizes = layout.spec.sizes.iter().map(|size| usize::try_from(*size)).collect::<Result<Vec<usize>, _>>().ok()?;
    gather(storage?, layout.spec.scalar_type.size(), &sizes, &layout.strides, layout.offset)
}
