//! The tensors of a checkpoint: parts of one or many safetensors files, used where they lie.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use et_core::ScalarType;
use et_module::safetensors::SafeTensors;
use etbuild_ir::Buffer;

use crate::encoded::Encoded;
use crate::{CheckpointError, reals};

/// The file of a checkpoint that has one.
pub const SHARD: &str = "model.safetensors";
/// The file that names the shard of each tensor, where there are many.
pub const SHARD_INDEX: &str = "model.safetensors.index.json";

/// How many names a message lists.
const LISTED: usize = 8;

/// The shards that an index names.
pub fn shard_names(index: &[u8]) -> Result<Vec<String>, CheckpointError> {
    let malformed = |reason: String| CheckpointError::Json { file: SHARD_INDEX, reason };
    let index: serde_json::Value = serde_json::from_slice(index).map_err(|error| malformed(error.to_string()))?;
    let map = index.get("weight_map").and_then(serde_json::Value::as_object);
    let map = map.ok_or_else(|| malformed("it has no map `weight_map`".to_owned()))?;
    let names: Option<BTreeSet<&str>> = map.values().map(serde_json::Value::as_str).collect();
    let names = names.ok_or_else(|| malformed("a shard in `weight_map` is not a text".to_owned()))?;
    if let Some(outside) = names.iter().find(|name| name.is_empty() || name.contains(['/', '\\'])) {
        return Err(malformed(format!("the shard `{outside}` is not a file beside it")));
    }
    Ok(names.into_iter().map(str::to_owned).collect())
}

/// Where the elements of a tensor lie.
#[derive(Clone)]
pub struct Tensor {
    /// The type of the elements.
    pub scalar_type: ScalarType,
    /// The size of each dimension.
    pub shape: Vec<usize>,
    /// The shard.
    pub shard: Arc<dyn Buffer>,
    /// Where in it the elements begin.
    pub start: usize,
}

/// A tensor as a checkpoint stores it.
#[derive(Clone)]
pub enum Stored {
    /// An array of numbers.
    Plain(Tensor),
    /// Rows in a form of another tool.
    Encoded(Encoded),
}

/// So many elements are compared at a time.
const COMPARED: usize = 1 << 16;

impl Tensor {
    /// Whether the numbers are those of another tensor, of whichever type.
    pub fn has_numbers_of(&self, other: &Self) -> bool {
        let same = |(left, right): (&[u8], &[u8])| {
            reals::read(self.scalar_type, left) == reals::read(other.scalar_type, right)
        };
        self.shape == other.shape && self.pieces().zip(other.pieces()).all(same)
    }

    /// The bytes, in pieces of whole elements.
    pub fn pieces(&self) -> impl Iterator<Item = &[u8]> {
        let size = self.scalar_type.size();
        let length = self.shape.iter().product::<usize>() * size;
        let bytes = self.shard.bytes().get(self.start..self.start + length).unwrap_or_default();
        bytes.chunks(COMPARED * size)
    }
}

/// All tensors by name. What is taken is remembered, so that what nobody wants can be told.
#[derive(Default)]
pub struct Tensors {
    tensors: BTreeMap<String, Tensor>,
    /// Tensors in forms of other tools, with the shapes.
    encoded: BTreeMap<String, (Vec<usize>, Encoded)>,
    taken: BTreeSet<String>,
}

impl Tensors {
    /// Reads the headers of all shards.
    pub fn open(shards: &BTreeMap<String, Arc<dyn Buffer>>) -> Result<Self, Vec<CheckpointError>> {
        let (mut tensors, mut errors) = (BTreeMap::new(), Vec::new());
        for (name, shard) in shards {
            match SafeTensors::parse(shard.bytes()) {
                Ok(file) => errors.extend(place(shard, &file, &mut tensors)),
                Err(error) => {
                    errors.push(CheckpointError::ShardMalformed { shard: name.clone(), reason: error.to_string() });
                }
            }
        }
        if errors.is_empty() { Ok(Self { tensors, ..Self::default() }) } else { Err(errors) }
    }

    /// Adds a tensor.
    ///
    /// # Errors
    /// A second tensor of the same name.
    pub fn add(&mut self, name: String, tensor: Tensor) -> Result<(), CheckpointError> {
        if self.has(&name) {
            return Err(CheckpointError::TensorTwice(name));
        }
        self.tensors.insert(name, tensor);
        Ok(())
    }

    /// The same tensors under other names.
    ///
    /// # Errors
    /// Two tensors of the same new name.
    pub fn renamed(self, rename: impl Fn(&str) -> String) -> Result<Self, CheckpointError> {
        let mut renamed = Self { tensors: BTreeMap::new(), ..self };
        for (name, tensor) in self.tensors {
            renamed.add(rename(&name), tensor)?;
        }
        Ok(renamed)
    }

    /// Adds a tensor in a form of another tool, with the shape.
    ///
    /// # Errors
    /// A second tensor of the same name.
    pub fn add_encoded(&mut self, name: String, shape: Vec<usize>, tensor: Encoded) -> Result<(), CheckpointError> {
        if self.has(&name) {
            return Err(CheckpointError::TensorTwice(name));
        }
        self.encoded.insert(name, (shape, tensor));
        Ok(())
    }

    /// The tensor of a name, which must have this shape and floating-point numbers, in an array.
    pub fn take(&mut self, name: &str, wanted: &[usize]) -> Result<Tensor, CheckpointError> {
        match self.take_stored(name, wanted)? {
            Stored::Plain(tensor) => Ok(tensor),
            Stored::Encoded(matrix) => {
                Err(CheckpointError::ElementType { tensor: name.to_owned(), found: matrix.form.name() })
            }
        }
    }

    /// The tensor of a name, which must have this shape, and numbers in an array or in a form of another tool.
    pub fn take_stored(&mut self, name: &str, wanted: &[usize]) -> Result<Stored, CheckpointError> {
        let checked = |name: &str, shape: &[usize]| match shape == wanted {
            true => Ok(()),
            false => {
                let (tensor, found, wanted) = (name.to_owned(), shape.to_vec(), wanted.to_vec());
                Err(CheckpointError::Shape { tensor, found, wanted })
            }
        };
        if let Some((name, (shape, matrix))) = find(&self.encoded, name) {
            checked(name, shape)?;
            self.taken.insert(name.to_owned());
            return Ok(Stored::Encoded(matrix.clone()));
        }
        let found = find(&self.tensors, name);
        let (name, tensor) = found.ok_or_else(|| CheckpointError::TensorMissing(name.to_owned()))?;
        checked(name, &tensor.shape)?;
        if !matches!(tensor.scalar_type, ScalarType::Float | ScalarType::Half | ScalarType::BFloat16) {
            return Err(CheckpointError::ElementType { tensor: name.to_owned(), found: tensor.scalar_type.name() });
        }
        self.taken.insert(name.to_owned());
        Ok(Stored::Plain(tensor.clone()))
    }

    /// Takes an array out, so that no module has the tensor of the name.
    pub fn remove(&mut self, name: &str) -> Option<Tensor> {
        self.tensors.remove(name)
    }

    /// How many matrices have each form of another tool, and whether `keeps` lets their integers stay, by the name of the form.
    pub fn forms(&self, keeps: impl Fn(&Encoded) -> bool) -> BTreeMap<(bool, &'static str), usize> {
        let mut forms = BTreeMap::new();
        for (_, matrix) in self.encoded.values() {
            *forms.entry((keeps(matrix), matrix.form.name())).or_default() += 1;
        }
        forms
    }

    /// The names of all arrays.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tensors.keys().map(String::as_str)
    }

    /// The names of all tensors, in whichever form.
    pub fn all_names(&self) -> impl Iterator<Item = &str> {
        self.tensors.keys().chain(self.encoded.keys()).map(String::as_str)
    }

    /// Forgets the tensor of a name.
    pub fn discard(&mut self, name: &str) {
        self.tensors.remove(name);
        self.encoded.remove(name);
    }

    /// Whether the tensor of a name is in a form of another tool.
    pub fn has_encoded(&self, name: &str) -> bool {
        self.encoded.contains_key(name)
    }

    /// Whether a tensor has this name.
    pub fn has(&self, name: &str) -> bool {
        find(&self.tensors, name).is_some() || find(&self.encoded, name).is_some()
    }

    /// The array of a name, as it is.
    pub fn get(&self, name: &str) -> Option<&Tensor> {
        find(&self.tensors, name).map(|(_, tensor)| tensor)
    }

    /// The names of tensors that were not taken, without those that `follows` derives from other tensors; the first of many names.
    pub fn left(&self, follows: impl Fn(&str) -> bool) -> Vec<String> {
        let all = self.tensors.keys().chain(self.encoded.keys());
        let left = all.filter(|name| !self.taken.contains(*name) && !follows(name));
        let mut names: Vec<String> = left.cloned().collect();
        if names.len() > LISTED {
            let more = names.len() - LISTED;
            names.truncate(LISTED);
            names.push(format!("and {more} more"));
        }
        names
    }
}

/// The tensor of a name. Checkpoints without a head, such as GPT-2's, lack the first module of the name.
fn find<'n, 't, T>(tensors: &'t BTreeMap<String, T>, name: &'n str) -> Option<(&'n str, &'t T)> {
    let within = || name.split_once('.').and_then(|(_, rest)| Some((rest, tensors.get(rest)?)));
    tensors.get(name).map(|tensor| (name, tensor)).or_else(within)
}

/// Notes where the tensors of a shard lie.
fn place(
    shard: &Arc<dyn Buffer>,
    file: &SafeTensors<'_>,
    tensors: &mut BTreeMap<String, Tensor>,
) -> Vec<CheckpointError> {
    let mut errors = Vec::new();
    let first = shard.bytes().as_ptr().addr();
    for (name, view) in &file.tensors {
        let tensor = Tensor {
            scalar_type: view.scalar_type,
            shape: view.shape.clone(),
            shard: shard.clone(),
            start: view.bytes.as_ptr().addr().saturating_sub(first),
        };
        if tensors.insert(name.clone(), tensor).is_some() {
            errors.push(CheckpointError::TensorTwice(name.clone()));
        }
    }
    errors
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_names_each_shard_once_and_none_elsewhere() {
        let index = br#"{"weight_map": {"a": "2.safetensors", "b": "1.safetensors", "c": "2.safetensors"}}"#;
        assert_eq!(shard_names(index).unwrap(), ["1.safetensors", "2.safetensors"]);
        assert!(shard_names(br#"{"weight_map": {"a": "../x.safetensors"}}"#).is_err());
        assert!(shard_names(br"{}").is_err());
    }
}
