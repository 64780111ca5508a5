//! The tensors of a dictionary that `torch.save` has written.

use std::collections::{BTreeMap, BTreeSet};

use et_core::ScalarType;

use crate::archive::{Member, members};
use crate::instances::{self, Class};
use crate::layout::{gather, is_row_major};
use crate::machine::{Id, Machine, Object, View};
use crate::{TorchError, opcodes};

/// Gathered elements may take this many times the size of the file.
const INFLATION: usize = 2;

/// How files before version 1.6 begin: a pickle of a number.
const LEGACY: &[u8] = b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.";

/// The elements of a tensor in row-major order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Elements {
    /// Bytes of the file, from this one on.
    InPlace(usize),
    /// The elements of a strided tensor.
    Gathered(Vec<u8>),
}

/// A tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    /// The key in the dictionary.
    pub name: String,
    /// The type of the elements.
    pub scalar_type: ScalarType,
    /// The shape.
    pub shape: Vec<usize>,
    /// The elements. Tensors that share a storage lie in the same bytes.
    pub elements: Elements,
}

/// The contents of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// The tensors. Those that are parts of a tensor of a class have the names that torchao gives parts in other files: the part `scale` of
    /// `module.weight` is `module._weight_scale`.
    pub tensors: Vec<Tensor>,
    /// The tensors of classes.
    pub classes: Vec<Class>,
}

/// The tensors of a file with a dictionary, in the order of the dictionary.
///
/// # Errors
/// Files of other forms; compressed members; pickles with anything but tensors; elements outside their storage.
pub fn read(bytes: &[u8]) -> Result<Contents, TorchError> {
    if bytes.starts_with(LEGACY) {
        return Err(TorchError::Legacy);
    }
    let members = members(bytes)?;
    let file = File { bytes, members: &members };
    if file.member("byteorder").is_ok_and(|order| order == b"big") {
        return Err(TorchError::BigEndian);
    }
    let mut machine = Machine::new(file.member("data.pkl")?);
    let made = opcodes::run(&mut machine)?;
    let Object::Dictionary(entries) = machine.object(made) else {
        return Err(TorchError::Unnamed("the object is no dictionary"));
    };
    let (mut contents, mut names, mut gathered) = (Contents::default(), BTreeSet::new(), 0);
    for (key, value) in entries {
        let Object::Text(name) = machine.object(*key) else { return Err(TorchError::Unnamed("a key is no text")) };
        if !names.insert(*name) {
            return Err(entry(name, "occurs twice"));
        }
        match machine.object(*value) {
            Object::Tensor(view) => contents.tensors.push(file.tensor(name, view, &mut gathered)?),
            Object::Instance(instance) => {
                let (class, parts) = instances::read(&machine, name, instance).map_err(|reason| entry(name, reason))?;
                for (part, view) in parts {
                    contents.tensors.push(file.tensor(&part, view, &mut gathered)?);
                }
                contents.classes.push(class);
            }
            _ => return Err(no_tensor(&machine, name, entries)),
        }
    }
    Ok(contents)
}

/// The mistake of an entry that is no tensor, where other entries are, or have tensors as entries.
fn no_tensor(machine: &Machine<'_>, name: &str, entries: &[(Id, Id)]) -> TorchError {
    let is_tensor = |(_, value): &(Id, Id)| matches!(machine.object(*value), Object::Tensor(_));
    let has_tensor = |(_, value): &(Id, Id)| match machine.object(*value) {
        Object::Dictionary(entries) => entries.iter().any(is_tensor),
        _ => false,
    };
    if entries.iter().any(|entry| is_tensor(entry) || has_tensor(entry)) {
        return entry(name, "is no tensor");
    }
    TorchError::NoTensors(name.to_owned())
}

/// The mistake in an entry of the dictionary.
fn entry(name: &str, reason: &'static str) -> TorchError {
    TorchError::Entry { name: name.to_owned(), reason }
}

/// The members of a file.
struct File<'f> {
    bytes: &'f [u8],
    members: &'f BTreeMap<String, Member>,
}

impl<'f> File<'f> {
    fn member(&self, name: &str) -> Result<&'f [u8], TorchError> {
        let missing = || TorchError::MemberMissing(name.to_owned());
        let range = self.members.get(name).ok_or_else(missing)?.range(name)?;
        self.bytes.get(range).ok_or_else(missing)
    }

    /// The tensor of a view, whose elements must lie in its storage. `gathered` is the size of all gathered tensors.
    fn tensor(&self, name: &str, view: &View<'_>, gathered: &mut usize) -> Result<Tensor, TorchError> {
        let View { storage, offset, sizes, strides, is_lazy } = view;
        if *is_lazy {
            return Err(entry(name, "is stored without the negation or the conjugation that is due"));
        }
        let key = format!("data/{}", storage.key);
        let (member, size) = (self.member(&key)?, storage.scalar_type.size());
        let outside = || TorchError::Outside(name.to_owned());
        let length = storage.count.checked_mul(size).filter(|length| *length <= member.len()).ok_or_else(outside)?;
        let count = sizes.iter().try_fold(size, |bytes, size| bytes.checked_mul(*size)).ok_or_else(outside)?;
        let storage_bytes = member.get(..length).ok_or_else(outside)?;
        let elements = if is_row_major(sizes, strides) {
            let skipped = usize::try_from(*offset).ok().and_then(|offset| offset.checked_mul(size));
            let skipped = skipped.filter(|skipped| skipped.checked_add(count).is_some_and(|end| end <= length));
            let start = member.as_ptr().addr() - self.bytes.as_ptr().addr();
            Elements::InPlace(start + skipped.ok_or_else(outside)?)
        } else {
            *gathered = gathered.saturating_add(count);
            if *gathered > self.bytes.len().saturating_mul(INFLATION) {
                return Err(entry(name, "repeats more elements than the file may stand for"));
            }
            Elements::Gathered(gather(storage_bytes, size, sizes, strides, *offset).ok_or_else(outside)?)
        };
        Ok(Tensor { name: name.to_owned(), scalar_type: storage.scalar_type, shape: sizes.clone(), elements })
    }
}
