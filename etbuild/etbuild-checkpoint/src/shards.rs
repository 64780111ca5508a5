//! The tensors of a checkpoint: parts of one or many files, used where they lie. Files are safetensors, or those of `torch.save`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use et_core::ScalarType;
use et_module::safetensors::SafeTensors;
use etbuild_ir::Buffer;
use etbuild_torch::{Contents, Elements};
use etbuild_weights::{Encoded, Tensor};

use crate::CheckpointError;
use crate::class::Class;

/// The name of the only file with weights of a checkpoint without shards.
pub const SHARD: &str = "model.safetensors";
/// The name of the only file with weights of a checkpoint that `torch.save` wrote without shards.
pub const PICKLED_SHARD: &str = "pytorch_model.bin";

/// The files with the weights of a checkpoint, by form: a single file, and the file that names the shard of each tensor, where there are many.
pub const WEIGHTS: [WeightFiles; 2] = [
    WeightFiles { single: SHARD, index: "model.safetensors.index.json" },
    WeightFiles { single: PICKLED_SHARD, index: "pytorch_model.bin.index.json" },
];

/// How files of `torch.save` end.
pub const PICKLED: &str = ".bin";

/// The names of the files with weights in a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WeightFiles {
    /// The name of the only file of a checkpoint without shards.
    pub single: &'static str,
    /// The file that names the shard of each tensor, where there are many.
    pub index: &'static str,
}

/// How many names a message lists.
const LISTED: usize = 8;

impl WeightFiles {
    /// The shards that the index names.
    ///
    /// # Errors
    /// A malformed index; a shard in another folder.
    pub fn shards(self, index: &[u8]) -> Result<Vec<String>, CheckpointError> {
        let malformed = |reason: String| CheckpointError::Json { file: self.index, reason };
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
}

/// A tensor as a checkpoint stores it.
#[derive(Clone)]
pub enum Stored {
    /// An array of numbers.
    Plain(Tensor),
    /// Rows in a form of another tool.
    Encoded(Encoded),
}

/// The matrices of a form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FormCount {
    /// How many matrices.
    pub matrices: usize,
    /// How many numbers these have.
    pub numbers: usize,
}

/// All tensors by name. What is taken is remembered, so that what nobody wants can be told.
#[derive(Default)]
pub struct Tensors {
    tensors: BTreeMap<String, Tensor>,
    /// Tensors in forms of other tools, with the shapes.
    encoded: BTreeMap<String, (Vec<usize>, Encoded)>,
    classes: BTreeMap<String, Class>,
    taken: BTreeSet<String>,
    /// The names in the files, of tensors with another name.
    names_in_files: BTreeMap<String, String>,
}

impl Tensors {
    /// Reads the headers of all shards.
    pub fn open(shards: &BTreeMap<String, Arc<dyn Buffer>>) -> Result<Self, Vec<CheckpointError>> {
        let (mut tensors, mut classes, mut errors) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
        for (name, shard) in shards {
            match headed(name, shard, &mut classes) {
                Ok(found) => errors.extend(place(found, &mut tensors)),
                Err(error) => errors.push(error),
            }
        }
        if errors.is_empty() { Ok(Self { tensors, classes, ..Self::default() }) } else { Err(errors) }
    }

    /// The classes of tensors that are stored in parts, by the names of the tensors in the files. None are left.
    pub fn take_classes(&mut self) -> BTreeMap<String, Class> {
        std::mem::take(&mut self.classes)
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
        let mut renamed = Self { tensors: BTreeMap::new(), encoded: BTreeMap::new(), ..self };
        for (name, tensor) in self.tensors {
            let new = rename(&name);
            renamed.add(new.clone(), tensor)?;
            renamed.names_in_files.insert(new, name);
        }
        for (name, (shape, tensor)) in self.encoded {
            let new = rename(&name);
            renamed.add_encoded(new.clone(), shape, tensor)?;
            renamed.names_in_files.insert(new, name);
        }
        Ok(renamed)
    }

    /// The name that a tensor has in its file.
    pub fn name_in_file<'n>(&'n self, name: &'n str) -> &'n str {
        self.names_in_files.get(name).map_or(name, String::as_str)
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

    /// The matrix of this name and shape in a form of another tool, if any.
    pub fn encoded(&self, name: &str, wanted: &[usize]) -> Option<&Encoded> {
        let (_, (shape, matrix)) = find(&self.encoded, name)?;
        (shape == wanted).then_some(matrix)
    }

    /// Takes an array out, so that no module has the tensor of the name.
    pub fn remove(&mut self, name: &str) -> Option<Tensor> {
        self.tensors.remove(name)
    }

    /// The matrices of each form of another tool, and whether `keeps` lets their integers stay, by the name of the form.
    pub fn forms(&self, keeps: impl Fn(&Encoded) -> bool) -> BTreeMap<(bool, &'static str), FormCount> {
        let mut forms = BTreeMap::<_, FormCount>::new();
        for (shape, matrix) in self.encoded.values() {
            let count = forms.entry((keeps(matrix), matrix.form.name())).or_default();
            count.matrices += 1;
            count.numbers += shape.iter().product::<usize>();
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

/// The tensors of a shard by name. The classes of tensors that the shard states are added to `classes`.
fn headed(
    name: &str,
    shard: &Arc<dyn Buffer>,
    classes: &mut BTreeMap<String, Class>,
) -> Result<Vec<(String, Tensor)>, CheckpointError> {
    if name.ends_with(PICKLED) {
        return pickled(name, shard, classes);
    }
    let malformed = |error: et_module::safetensors::Error| CheckpointError::ShardMalformed {
        shard: name.to_owned(),
        reason: error.to_string(),
    };
    let file = SafeTensors::parse(shard.bytes()).map_err(malformed)?;
    let stated = file.metadata.iter().filter_map(|(name, text)| Some((name.clone(), Class::of_header(text)?)));
    classes.extend(stated);
    let first = shard.bytes().as_ptr().addr();
    let tensors = file.tensors.iter().map(|(name, view)| {
        let start = view.bytes.as_ptr().addr().saturating_sub(first);
        let (scalar_type, shape) = (view.scalar_type, view.shape.clone());
        (name.clone(), Tensor { scalar_type, shape, shard: shard.clone(), start })
    });
    Ok(tensors.collect())
}

/// The tensors of a file of `torch.save` by name. Strided tensors are gathered; others lie in the file.
fn pickled(
    name: &str,
    shard: &Arc<dyn Buffer>,
    classes: &mut BTreeMap<String, Class>,
) -> Result<Vec<(String, Tensor)>, CheckpointError> {
    let refused = |error| CheckpointError::ShardRefused { shard: name.to_owned(), error };
    let Contents { tensors, classes: found } = etbuild_torch::read(shard.bytes()).map_err(refused)?;
    classes.extend(found.into_iter().map(|found| (found.tensor.clone(), Class::of_pickle(&found))));
    let tensors = tensors.into_iter().map(|tensor| {
        let etbuild_torch::Tensor { name, scalar_type, shape, elements } = tensor;
        let (shard, start): (Arc<dyn Buffer>, usize) = match elements {
            Elements::InPlace(start) => (shard.clone(), start),
            Elements::Gathered(bytes) => (Arc::new(bytes), 0),
        };
        (name, Tensor { scalar_type, shape, shard, start })
    });
    Ok(tensors.collect())
}

/// Notes the tensors of a shard.
fn place(found: Vec<(String, Tensor)>, tensors: &mut BTreeMap<String, Tensor>) -> Vec<CheckpointError> {
    let mut errors = Vec::new();
    for (name, tensor) in found {
        if tensors.insert(name.clone(), tensor).is_some() {
            errors.push(CheckpointError::TensorTwice(name));
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
        let files = WEIGHTS[0];
        assert_eq!(files.shards(index).unwrap(), ["1.safetensors", "2.safetensors"]);
        assert!(files.shards(br#"{"weight_map": {"a": "../x.safetensors"}}"#).is_err());
        assert!(files.shards(br"{}").is_err());
    }
}
