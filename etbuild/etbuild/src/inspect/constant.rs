//! Tensors with elements before the first execution: weights, initial values, tensors of other files.

use std::collections::BTreeMap;

use et_core::{Error, Result};
use et_format::{DataEntry, DataFile, Kind, ProgramFile, Tensor, TensorLocation};
use etbuild_store::Digest;
use serde::Serialize;

use super::tensor::TensorType;

/// Elements that a file holds or names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Constant {
    /// The name in the model, where the file holds the name.
    pub name: Option<String>,
    /// The type in words, such as `float32[1, 10]`; `blob` for bytes without type.
    pub r#type: String,
    /// Bytes.
    pub size: u64,
    /// The digest of the bytes; `None` for bytes in another file.
    pub digest: Option<String>,
    /// `constant`, `initial` (the first value of state) or `external`.
    pub place: &'static str,
}

/// Where a tensor's elements come from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// The constant with this index.
    Constant(usize),
    /// The initial value with this index.
    Initial(usize),
    /// Another file, by this name.
    External(String),
}

impl Source {
    /// The source of a tensor's elements; `None` for a computed tensor.
    pub fn of(tensor: Tensor<'_>) -> Result<Option<Self>> {
        if let Some(extra) = tensor.extra()?.filter(|extra| extra.location() == Ok(TensorLocation::External)) {
            return extra.fully_qualified_name().map(|name| Some(Self::External(name.to_owned())));
        }
        Ok(match (tensor.data_buffer_index()?, tensor.allocation()?) {
            (0, _) => None,
            (index, None) => Some(Self::Constant(index)),
            (index, Some(_)) => Some(Self::Initial(index)),
        })
    }
}

/// Every tensor of a program file with elements, each once, in the order of the file.
pub fn of_program(file: &ProgramFile<'_>) -> Result<BTreeMap<Source, Constant>> {
    let mut found = BTreeMap::new();
    for plan in file.program().execution_plans()?.iter() {
        let plan = plan?;
        for (index, value) in plan.values()?.iter().enumerate() {
            if value?.kind()? != Kind::Tensor {
                continue;
            }
            let tensor = plan.tensor(index)?;
            match Source::of(tensor)? {
                Some(source) if !found.contains_key(&source) => {
                    let constant = read(file, &source, tensor)?;
                    found.insert(source, constant);
                }
                _ => {}
            }
        }
    }
    Ok(found)
}

fn read(file: &ProgramFile<'_>, source: &Source, tensor: Tensor<'_>) -> Result<Constant> {
    let tensor_type = TensorType::of(tensor)?;
    let length = usize::try_from(tensor_type.size).map_err(|_| Error::InvalidProgram)?;
    let (place, bytes) = match source {
        Source::Constant(index) => ("constant", Some(file.constant(*index, length)?)),
        Source::Initial(index) => ("initial", Some(file.initial_value(*index, length)?)),
        Source::External(_) => ("external", None),
    };
    let name = tensor.extra()?.map(|extra| extra.fully_qualified_name()).transpose()?;
    Ok(Constant {
        name: name.filter(|name| !name.is_empty()).map(str::to_owned),
        r#type: tensor_type.to_string(),
        size: tensor_type.size,
        digest: bytes.map(|bytes| Digest::of(bytes).to_string()),
        place,
    })
}

/// The entries of a data file.
pub fn entries(file: DataFile<'_>) -> Result<Vec<Constant>> {
    file.entries()?.iter().map(|entry| of_entry(file, entry?)).collect()
}

fn of_entry<'a>(file: DataFile<'a>, entry: DataEntry<'a>) -> Result<Constant> {
    let bytes = file.bytes(entry)?;
    let tensor_type = entry.layout()?.map(TensorType::of_layout).transpose()?;
    Ok(Constant {
        name: Some(entry.key()?.to_owned()),
        r#type: tensor_type.map_or_else(|| "blob".to_owned(), |tensor_type| tensor_type.to_string()),
        size: bytes.len() as u64,
        digest: Some(Digest::of(bytes).to_string()),
        place: "constant",
    })
}
