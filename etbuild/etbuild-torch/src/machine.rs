//! The stack machine of pickles. Objects lie in one list and name each other by index, so that neither depth nor cycles matter.

use std::collections::BTreeMap;

use et_core::ScalarType;

use crate::TorchError;
use crate::globals::{self, Global};

/// The most objects of a pickle: a checkpoint of a hundred thousand tensors has this many.
const MOST: usize = 1 << 22;

/// The most dimensions of a tensor.
const RANK: usize = 16;

/// An object by the place in the list of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Id(usize);

/// Elements of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Storage<'p> {
    /// The type of the elements.
    pub scalar_type: ScalarType,
    /// The name of the member.
    pub key: &'p str,
    /// The number of elements.
    pub count: usize,
}

/// A tensor over a storage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View<'p> {
    /// The elements.
    pub storage: Storage<'p>,
    /// The first element.
    pub offset: i64,
    /// The shape.
    pub sizes: Vec<usize>,
    /// The distance of neighbours in each dimension, in elements.
    pub strides: Vec<i64>,
    /// Whether an operation is due on the elements: a negation or a conjugation.
    pub is_lazy: bool,
}

/// An object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Object<'p> {
    /// A truth value, `None`, or a number with a fraction: nothing that a tensor needs.
    Other,
    /// A whole number.
    Whole(i64),
    /// A text.
    Text(&'p str),
    /// A tuple or a list.
    Sequence(Vec<Id>),
    /// A dictionary.
    Dictionary(Vec<(Id, Id)>),
    /// A known global.
    Global(Global),
    /// A storage.
    Storage(Storage<'p>),
    /// A tensor.
    Tensor(View<'p>),
    /// A class or a function of torchao.
    Class(&'p str),
    /// An object beside tensors, whose attributes are left out.
    Unread,
    /// A tensor of a class.
    Instance(Instance<'p>),
}

/// A tensor of a class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance<'p> {
    /// The name of the class.
    pub class: &'p str,
    /// The shape.
    pub sizes: Vec<i64>,
    /// The attributes: a dictionary.
    pub attributes: Id,
}

/// A machine over a pickle.
pub struct Machine<'p> {
    bytes: &'p [u8],
    position: usize,
    objects: Vec<Object<'p>>,
    stack: Vec<Id>,
    marks: Vec<usize>,
    memo: BTreeMap<u32, Id>,
}

/// A step's outcome.
pub type Step<T = ()> = Result<T, TorchError>;

impl<'p> Machine<'p> {
    /// A machine at the begin of a pickle.
    pub const fn new(bytes: &'p [u8]) -> Self {
        Self { bytes, position: 0, objects: Vec::new(), stack: Vec::new(), marks: Vec::new(), memo: BTreeMap::new() }
    }

    /// The mistake at the present place.
    pub const fn mistake(&self, reason: &'static str) -> TorchError {
        TorchError::Pickle { offset: self.position, reason }
    }

    /// The present place, of an operation that is not known.
    pub const fn unknown(&self) -> TorchError {
        TorchError::Operation(self.position)
    }

    /// The next bytes.
    pub fn take(&mut self, length: usize) -> Step<&'p [u8]> {
        let end = self.position.checked_add(length);
        let taken = end.and_then(|end| self.bytes.get(self.position..end)).ok_or(self.mistake("the pickle ends"))?;
        self.position += length;
        Ok(taken)
    }

    /// The next bytes as an array.
    pub fn array<const N: usize>(&mut self) -> Step<[u8; N]> {
        let bytes = self.take(N)?;
        bytes.try_into().map_err(|_| self.mistake("the pickle ends"))
    }

    /// The next bytes as a text.
    pub fn text(&mut self, length: usize) -> Step<&'p str> {
        let bytes = self.take(length)?;
        std::str::from_utf8(bytes).map_err(|_| self.mistake("a text is not UTF-8"))
    }

    /// The text up to the end of the line.
    pub fn line(&mut self) -> Step<&'p str> {
        let rest = self.bytes.get(self.position..).unwrap_or_default();
        let length = rest.iter().position(|byte| *byte == b'\n').ok_or(self.mistake("a line has no end"))?;
        let line = self.text(length)?;
        self.take(1)?;
        Ok(line)
    }

    /// Puts a new object on the stack.
    pub fn push(&mut self, object: Object<'p>) -> Step {
        if self.objects.len() >= MOST {
            return Err(self.mistake("the pickle has too many objects"));
        }
        self.stack.push(Id(self.objects.len()));
        self.objects.push(object);
        Ok(())
    }

    /// Takes the object at the top of the stack, which lies above the last mark.
    pub fn pop(&mut self) -> Step<Id> {
        let floor = self.marks.last().copied().unwrap_or(0);
        let top = (self.stack.len() > floor).then(|| self.stack.pop()).flatten();
        top.ok_or(self.mistake("the stack is empty"))
    }

    /// The object at the top of the stack, which stays.
    pub fn top(&self) -> Step<Id> {
        self.stack.last().copied().ok_or(self.mistake("the stack is empty"))
    }

    /// Marks the top of the stack.
    pub fn mark(&mut self) -> Step {
        self.marks.push(self.stack.len());
        Ok(())
    }

    /// Takes the objects above the last mark.
    pub fn pop_marked(&mut self) -> Step<Vec<Id>> {
        let mark = self.marks.pop().filter(|mark| *mark <= self.stack.len());
        Ok(self.stack.split_off(mark.ok_or(self.mistake("the stack has no mark"))?))
    }

    /// Notes the object at the top of the stack under a number.
    pub fn note(&mut self, number: u32) -> Step {
        let top = self.top()?;
        self.memo.insert(number, top);
        Ok(())
    }

    /// Notes the object at the top of the stack under the next number.
    pub fn note_next(&mut self) -> Step {
        let next = u32::try_from(self.memo.len()).map_err(|_| self.mistake("the pickle has too many objects"))?;
        self.note(next)
    }

    /// Puts a noted object on the stack.
    pub fn recall(&mut self, number: u32) -> Step {
        let noted = self.memo.get(&number).copied().ok_or(self.mistake("an object is not noted"))?;
        self.stack.push(noted);
        Ok(())
    }

    /// An object.
    pub fn object(&self, id: Id) -> &Object<'p> {
        self.objects.get(id.0).unwrap_or(&Object::Other)
    }

    /// An object that may change.
    pub fn object_mut(&mut self, id: Id) -> Step<&mut Object<'p>> {
        let mistake = self.mistake("an object is missing");
        self.objects.get_mut(id.0).ok_or(mistake)
    }

    /// Puts a global on the stack.
    pub fn global(&mut self, module: &'p str, name: &'p str) -> Step {
        if globals::has_classes(module) {
            return self.push(Object::Class(name));
        }
        let refused = TorchError::Global { module: module.to_owned(), name: name.to_owned(), offset: self.position };
        self.push(Object::Global(globals::find(module, name).ok_or(refused)?))
    }

    /// The next byte: an operation.
    pub fn operation(&mut self) -> Step<u8> {
        Ok(u8::from_le_bytes(self.array()?))
    }

    /// The objects of a sequence.
    pub fn sequence(&self, id: Id) -> Option<&[Id]> {
        if let Object::Sequence(items) = self.object(id) { Some(items) } else { None }
    }

    /// A whole number.
    pub fn whole(&self, id: Id) -> Option<i64> {
        if let Object::Whole(number) = self.object(id) { Some(*number) } else { None }
    }

    /// The whole numbers of a sequence, one for each dimension.
    pub fn wholes(&self, id: Id) -> Option<Vec<i64>> {
        self.sequence(id).filter(|items| items.len() <= RANK)?.iter().map(|item| self.whole(*item)).collect()
    }
}
