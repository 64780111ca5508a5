//! State that several methods declare under the same name: a single place for all methods.

use std::collections::BTreeMap;

use etbuild_ir::{Allocation, Arena, ConstantData, Graph, Lifetime, Program, TensorSpec, ValueId, ValueKind};

use crate::{Item, LiveTensor, MemoryError, Options, PlanRequest};

/// The arena of shared state. A runtime hands the same first arena to all methods, so that methods share the
/// contents.
#[derive(Debug, Default)]
pub struct SharedState {
    /// `None` where the methods share no state.
    arena: Option<Arena>,
    /// The offset of each shared state, by qualified name.
    offsets: BTreeMap<String, u64>,
}

/// The declaration of state in one method.
struct Held<'a> {
    method: &'a str,
    spec: &'a TensorSpec,
    initial: &'a ConstantData,
}

impl SharedState {
    /// Places the state of two or more methods in the first bank with room for all shared state.
    pub fn place(program: &Program, options: &Options) -> Result<Self, MemoryError> {
        let shared: Vec<(&str, Vec<Held<'_>>)> = held(program).into_iter().filter(|(_, held)| held.len() > 1).collect();
        if shared.is_empty() {
            return Ok(Self::default());
        }
        shared.iter().try_for_each(|(name, held)| is_the_same(name, held))?;
        let sizes: Vec<u64> = shared.iter().map(|(_, held)| held.first().map_or(0, |held| bytes(held.spec))).collect();
        for bank in &options.banks {
            let layout = options.planner.plan(&request(&sizes, bank.alignment, bank.size));
            let offsets: Option<Vec<u64>> = layout.offsets.iter().copied().collect();
            if let Some(offsets) = offsets {
                let arena = Arena { bank: bank.name.clone(), size: layout.size, alignment: bank.alignment };
                let names = shared.iter().map(|(name, _)| (*name).to_owned());
                return Ok(Self { arena: Some(arena), offsets: names.zip(offsets).collect() });
            }
        }
        Err(does_not_fit(&shared, &sizes, options))
    }

    /// The arena, if the methods share state.
    pub const fn arena(&self) -> Option<&Arena> {
        self.arena.as_ref()
    }

    /// The bytes of `bank` that the arena takes.
    pub fn taken(&self, bank: &str) -> u64 {
        let arena = self.arena.as_ref().filter(|arena| arena.bank == bank);
        arena.map_or(0, |arena| arena.size.next_multiple_of(arena.alignment))
    }

    /// The places of the shared state of a method.
    pub fn places<'a>(&'a self, graph: &'a Graph) -> impl Iterator<Item = (ValueId, Allocation)> + 'a {
        graph.values_with_ids().filter_map(|(id, value)| match &value.kind {
            ValueKind::State { qualified_name, .. } => {
                self.offsets.get(qualified_name).map(|offset| (id, Allocation { memory_id: 1, offset: *offset }))
            }
            _ => None,
        })
    }
}

/// The declarations of state, by qualified name.
fn held(program: &Program) -> BTreeMap<&str, Vec<Held<'_>>> {
    let mut held: BTreeMap<&str, Vec<Held<'_>>> = BTreeMap::new();
    for (method, graph) in &program.methods {
        for value in &graph.values {
            if let ValueKind::State { qualified_name, initial } = &value.kind {
                held.entry(qualified_name).or_default().push(Held { method, spec: &value.spec, initial });
            }
        }
    }
    held
}

/// Checks that all methods declare one type, one shape and one first value.
fn is_the_same(name: &str, held: &[Held<'_>]) -> Result<(), MemoryError> {
    let [first, others @ ..] = held else { return Ok(()) };
    let other = others.iter().find(|other| (other.spec, other.initial) != (first.spec, first.initial));
    other.map_or(Ok(()), |other| {
        let methods = [first.method.to_owned(), other.method.to_owned()];
        Err(MemoryError::StateDiffers { name: name.to_owned(), methods })
    })
}

fn bytes(spec: &TensorSpec) -> u64 {
    spec.nbytes() as u64
}

/// Shared state is in use at every step, so no two items share bytes.
fn request(sizes: &[u64], alignment: u64, capacity: Option<u64>) -> PlanRequest {
    let items = sizes.iter().map(|size| Item { size: *size, lifetime: Lifetime { first: 0, last: 0 } }).collect();
    PlanRequest { items, alignment, capacity }
}

fn live(name: &str, held: &[Held<'_>], bytes: u64) -> Option<LiveTensor> {
    Some(LiveTensor { name: name.to_owned(), scalar_type: held.first()?.spec.scalar_type, bytes })
}

fn does_not_fit(shared: &[(&str, Vec<Held<'_>>)], sizes: &[u64], options: &Options) -> MemoryError {
    let Some(bank) = options.banks.last() else { return MemoryError::NoBank };
    let methods = shared.iter().flat_map(|(_, held)| held).map(|held| held.method);
    let tensors = shared.iter().zip(sizes);
    MemoryError::DoesNotFit {
        method: methods.min().unwrap_or_default().to_owned(),
        bank: bank.name.clone(),
        need: options.planner.plan(&request(sizes, bank.alignment, None)).size,
        size: bank.size.unwrap_or_default(),
        peak: tensors.filter_map(|((name, held), bytes)| live(name, held, *bytes)).collect(),
    }
}
