//! The data files (`.ptd`) that a program refers to.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use et_core::TensorLayout;
use et_format::{DataFile, TensorLocation};
use et_runtime::{Failure, MethodPlan, NamedData, Place};

use crate::{Error, FileBytes, Named};

/// The prefix of the names of an adapter's tensors.
pub(crate) const ADAPTER: &str = "adapter:";

/// Well-formed data files in memory; each name is in a single file. A clone has the same files: methods of a program share a mapping.
#[derive(Clone, Debug, Default)]
pub struct DataFiles(Vec<Rc<FileBytes>>);

impl DataFiles {
    /// Maps data files.
    pub fn open<P: AsRef<Path>>(paths: &[P]) -> Result<Self, Error> {
        let opened = paths.iter().map(|path| Ok((path.as_ref().to_owned(), FileBytes::open(path.as_ref())?)));
        Self::checked(opened.collect::<Result<_, Error>>()?)
    }

    /// Data files with the paths that messages name.
    ///
    /// # Errors
    /// A damaged file; a name that is in two files.
    pub fn checked(files: Vec<(PathBuf, FileBytes)>) -> Result<Self, Error> {
        let mut owners = Named::new();
        for (path, bytes) in &files {
            for name in names(bytes).map_err(|problem| unusable(path, problem.message()))? {
                if let Some(other) = owners.insert(name.clone(), path) {
                    return Err(unusable(path, &format!("{name} is in {} already", other.display())));
                }
            }
        }
        Ok(Self::of(files.into_iter().map(|(_, bytes)| bytes).collect()))
    }

    /// Data files that are in memory already.
    pub fn of(files: Vec<FileBytes>) -> Self {
        Self(files.into_iter().map(Rc::new).collect())
    }

    /// The files.
    pub fn files(&self) -> impl Iterator<Item = &FileBytes> {
        self.0.iter().map(|file| &**file)
    }

    /// The files of adapters, and the other files.
    ///
    /// # Errors
    /// A damaged file.
    pub fn split(&self) -> Result<(Vec<&FileBytes>, Vec<&FileBytes>), Error> {
        let (mut adapters, mut others) = (Vec::new(), Vec::new());
        for file in self.files() {
            let is_adapter = names(file)?.iter().any(|name| name.starts_with(ADAPTER));
            if is_adapter { &mut adapters } else { &mut others }.push(file);
        }
        Ok((adapters, others))
    }

    /// The files in the form that a method takes.
    pub(crate) fn parse(&self) -> et_core::Result<Vec<DataFile<'_>>> {
        self.0.iter().map(|bytes| DataFile::parse(bytes)).collect()
    }
}

/// The names in a file, which is read up to the data.
fn names(bytes: &[u8]) -> et_core::Result<Vec<String>> {
    let file = DataFile::parse(bytes)?;
    let read = file.entries()?.iter().map(|entry| {
        let entry = entry?;
        file.bytes(entry)?;
        entry.key().map(str::to_owned)
    });
    let read: et_core::Result<Vec<String>> = read.collect();
    read.map_err(|_| et_core::Error::InvalidExternalData)
}

fn unusable(path: &Path, problem: &str) -> Error {
    Error::DataFile { path: PathBuf::from(path), problem: problem.to_owned() }
}

/// Names the tensor that a method did not find in the data files; `None` for another failure.
pub(crate) fn explain(plan: MethodPlan<'_>, files: &[DataFile<'_>], failure: Failure) -> Option<Error> {
    let Place::Value(slot) = failure.place else { return None };
    let (name, problem) = external(plan, files, slot).ok()??;
    Some(Error::ExternalTensor { name, problem })
}

/// The name of a missing or mismatched tensor of the data files, and the mismatch.
fn external(plan: MethodPlan<'_>, files: &[DataFile<'_>], slot: u32) -> et_core::Result<Option<(String, String)>> {
    let tensor = plan.plan().tensor(slot as usize)?;
    let Some(extra) = tensor.extra()? else { return Ok(None) };
    if extra.location()? != TensorLocation::External {
        return Ok(None);
    }
    let name = extra.fully_qualified_name()?;
    let wanted =
        TensorLayout { scalar_type: tensor.scalar_type()?, sizes: tensor.sizes()?, dim_order: tensor.dim_order()? };
    let problem = match files.tensor(name) {
        Ok((given, _)) => format!("the data file has {}, the program wants {}", shown(&given), shown(&wanted)),
        Err(et_core::Error::NotFound) if name.starts_with(ADAPTER) => {
            "no data file has it: that of an adapter does".to_owned()
        }
        Err(et_core::Error::NotFound) if files.is_empty() => "it is in a data file, and none was given".to_owned(),
        Err(et_core::Error::NotFound) => "no data file has it".to_owned(),
        Err(error) => error.message().to_owned(),
    };
    Ok(Some((name.to_owned(), problem)))
}

/// A type, a shape and an order in the form for users.
fn shown(layout: &TensorLayout<'_>) -> String {
    let sizes: Vec<i32> = layout.sizes.iter().collect();
    let in_order = (0_u8..).zip(layout.dim_order).all(|(position, dim)| position == *dim);
    let order = if in_order { String::new() } else { format!(" in order {:?}", layout.dim_order) };
    format!("{}{sizes:?}{order}", layout.scalar_type.name())
}
