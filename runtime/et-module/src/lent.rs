//! State that methods of other instances of a program lend.

use std::any::Any;
use std::cell::Cell;
use std::rc::Rc;

use et_core::{Result, TensorLayout};
use et_format::{Allocation, Kind, Tensor, View};
use et_runtime::{MethodPlan, NamedData};

use crate::Error;

/// State of a module, such as the keys of a layer, for a method that works on the state of several modules.
#[derive(Clone)]
pub struct State {
    cells: &'static [Cell<u8>],
    owner: Rc<dyn Any>,
}

/// Finds the state that a method borrows, by the name in the method; `None` for state of the method itself.
pub type Lend<'l> = &'l dyn Fn(&str) -> Option<State>;

impl State {
    /// The state in these cells, which live as long as the owner.
    pub(crate) fn new(cells: &'static [Cell<u8>], owner: Rc<dyn Any>) -> Self {
        Self { cells, owner }
    }
}

/// Borrowed state, in the places of a method's arenas.
#[derive(Default)]
pub(crate) struct Borrowed {
    ranges: Vec<(Allocation, &'static [Cell<u8>])>,
    _owners: Vec<Rc<dyn Any>>,
}

impl Borrowed {
    /// The state that `lend` has for a method.
    pub(crate) fn of(plan: MethodPlan<'_>, lend: Lend<'_>) -> std::result::Result<Self, Error> {
        let mut borrowed = Self::default();
        for state in states(plan)? {
            let Some(lent) = lend(state.name) else { continue };
            if lent.cells.len() != state.bytes {
                return Err(et_core::Error::InvalidArgument.into());
            }
            borrowed.ranges.push((state.place, lent.cells));
            borrowed._owners.push(lent.owner);
        }
        Ok(borrowed)
    }

    fn at(&self, place: Allocation) -> Option<&'static [Cell<u8>]> {
        self.ranges.iter().find_map(|(range, cells)| {
            let start = place.offset.checked_sub(range.offset).filter(|_| place.memory_id == range.memory_id)?;
            let start = usize::try_from(start).ok().filter(|start| *start < cells.len())?;
            cells.get(start..)
        })
    }
}

/// Data files and borrowed state.
pub(crate) struct WithBorrowed<'b, D: ?Sized> {
    pub(crate) data: &'b D,
    pub(crate) borrowed: &'b Borrowed,
}

impl<'a, D: NamedData<'a> + ?Sized> NamedData<'a> for WithBorrowed<'_, D> {
    fn tensor(&self, name: &str) -> Result<(TensorLayout<'a>, &'a [u8])> {
        self.data.tensor(name)
    }

    fn lent(&self, place: Allocation) -> Option<&'a [Cell<u8>]> {
        self.borrowed.at(place)
    }
}

/// State in a program file.
pub(crate) struct Stored<'a> {
    pub(crate) name: &'a str,
    pub(crate) place: Allocation,
    pub(crate) bytes: usize,
    pub(crate) sizes: Vec<i32>,
}

/// The state of a method that starts as zeros: planned tensors with names.
pub(crate) fn states(plan: MethodPlan<'_>) -> std::result::Result<Vec<Stored<'_>>, Error> {
    let mut states = Vec::new();
    for value in plan.plan().values()?.iter() {
        let value = value?;
        if value.kind()? != Kind::Tensor {
            continue;
        }
        let tensor = Tensor::of(value.content()?);
        if let (0, Some(place), Some(extra)) = (tensor.data_buffer_index()?, tensor.allocation()?, tensor.extra()?) {
            let layout = TensorLayout {
                scalar_type: tensor.scalar_type()?,
                sizes: tensor.sizes()?,
                dim_order: tensor.dim_order()?,
            };
            let name = extra.fully_qualified_name()?;
            states.push(Stored { name, place, bytes: layout.nbytes()?, sizes: layout.sizes.iter().collect() });
        }
    }
    Ok(states)
}
