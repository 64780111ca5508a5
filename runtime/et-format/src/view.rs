//! Typed tables and lists of typed tables.

use core::marker::PhantomData;

use et_core::Result;

use crate::{Table, Tables};

/// A table whose fields have names.
pub trait View<'a> {
    /// Reads `table` as this type.
    fn of(table: Table<'a>) -> Self;
}

/// Declares views: a documented name over a table.
macro_rules! views {
    ($($(#[$attribute:meta])* $name:ident;)*) => { $(
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name<'a>($crate::Table<'a>);

        impl<'a> $crate::View<'a> for $name<'a> {
            #[inline]
            fn of(table: $crate::Table<'a>) -> Self {
                Self(table)
            }
        }
    )* };
}
pub(crate) use views;

/// A list of typed tables.
#[derive(Clone, Copy, Debug)]
pub struct List<'a, T> {
    tables: Tables<'a>,
    item: PhantomData<T>,
}

impl<T> Default for List<'_, T> {
    /// A list without items.
    fn default() -> Self {
        Self { tables: Tables::EMPTY, item: PhantomData }
    }
}

impl<'a, T: View<'a>> List<'a, T> {
    /// Reads every table of `tables` as a `T`.
    #[inline]
    pub const fn new(tables: Tables<'a>) -> Self {
        Self { tables, item: PhantomData }
    }

    /// The number of items.
    #[inline]
    pub const fn len(&self) -> usize {
        self.tables.len()
    }

    /// Whether the list is empty.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.tables.is_empty()
    }

    /// Item `index`; an error for an index out of range.
    #[inline]
    pub fn get(&self, index: usize) -> Result<T> {
        self.tables.get(index).map(T::of)
    }

    /// All items in order.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = Result<T>> + use<'a, T> {
        let tables = self.tables;
        (0..tables.len()).map(move |index| tables.get(index).map(T::of))
    }
}
