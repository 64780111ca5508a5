//! Ids of values, and maps keyed by id.

use std::marker::PhantomData;

/// The id of a value of a graph: the index in [`crate::Graph::values`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ValueId(pub u32);

impl ValueId {
    /// The index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A map from values to facts, owned by the stage that computes the facts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdMap<T> {
    facts: Vec<Option<T>>,
    key: PhantomData<ValueId>,
}

impl<T> Default for IdMap<T> {
    fn default() -> Self {
        Self { facts: Vec::new(), key: PhantomData }
    }
}

impl<T> IdMap<T> {
    /// The fact about `id`.
    pub fn get(&self, id: ValueId) -> Option<&T> {
        self.facts.get(id.index())?.as_ref()
    }

    /// The fact about `id`, for changes.
    pub fn get_mut(&mut self, id: ValueId) -> Option<&mut T> {
        self.facts.get_mut(id.index())?.as_mut()
    }

    /// Adds a fact; returns the previous fact.
    pub fn insert(&mut self, id: ValueId, fact: T) -> Option<T> {
        if self.facts.len() <= id.index() {
            self.facts.resize_with(id.index() + 1, || None);
        }
        self.facts[id.index()].replace(fact)
    }

    /// All facts, for changes.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.facts.iter_mut().flatten()
    }

    /// All facts, in the order of ids.
    pub fn iter(&self) -> impl Iterator<Item = (ValueId, &T)> {
        let entries = self.facts.iter().enumerate();
        entries.filter_map(|(index, fact)| fact.as_ref().map(|fact| (ValueId(index as u32), fact)))
    }
}

impl<T> FromIterator<(ValueId, T)> for IdMap<T> {
    fn from_iter<I: IntoIterator<Item = (ValueId, T)>>(entries: I) -> Self {
        let mut map = Self::default();
        for (id, fact) in entries {
            map.insert(id, fact);
        }
        map
    }
}
