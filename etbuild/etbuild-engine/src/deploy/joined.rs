//! Packages of a recipe with the libraries of several units, such as those of all processors of Android.

use std::collections::BTreeMap;
use std::path::Path;

use etbuild_diagnostic::Diagnostic;

use super::{OutputFile, UnitReport};
use crate::failure;
use crate::session::World;
use crate::unit::Unit;

/// The units of a recipe by what their libraries are for: of several for the same, the first.
pub struct Group<'a, K>(BTreeMap<K, &'a Unit>);

impl<K: Copy + Ord> Group<'_, K> {
    /// The number of libraries.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The units.
    pub fn units(&self) -> impl Iterator<Item = &Unit> {
        self.0.values().copied()
    }

    /// The libraries, which have this name in the folders of their units.
    pub fn libraries(&self, world: &World, out: &Path, name: &str) -> Result<BTreeMap<K, Vec<u8>>, Vec<Diagnostic>> {
        let read = |unit: &Unit| world.system().read(&out.join(unit.folder()).join(name));
        let libraries = self.0.iter().map(|(key, unit)| Ok((*key, read(unit)?)));
        let libraries: std::io::Result<_> = libraries.collect();
        libraries.map_err(|error| failure::internal(&error.to_string()))
    }
}

/// Makes the package of each recipe, and notes the files in the report of the recipe's first unit with a library. `key` says what the library of a
/// unit is for; `None` for a unit without one.
pub fn join<'a, K: Copy + Ord>(
    units: &'a [Unit],
    reports: &mut [UnitReport],
    key: impl Fn(&Unit, &UnitReport) -> Option<K>,
    make: impl Fn(&str, &Group<'a, K>) -> Result<Vec<OutputFile>, Vec<Diagnostic>>,
) {
    let mut recipes: BTreeMap<&str, (usize, Group<'a, K>)> = BTreeMap::new();
    for (index, unit) in units.iter().enumerate() {
        if let Some(key) = key(unit, &reports[index]) {
            let (_, group) = recipes.entry(unit.name()).or_insert_with(|| (index, Group(BTreeMap::new())));
            group.0.entry(key).or_insert(unit);
        }
    }
    for (name, (first, group)) in recipes {
        match make(name, &group) {
            Ok(files) => reports[first].files.extend(files),
            Err(found) => reports[first].diagnostics.extend(found),
        }
    }
}
