//! The allowed dependencies between crates.

use std::collections::BTreeMap;

use crate::workspace::{Arrows, Dependency, Package};

/// Every dependency that the table does not allow, and every crate without a row.
pub fn breaches(packages: &[Package], table: &BTreeMap<String, Arrows>) -> Vec<String> {
    let unknown = table.keys().filter(|name| !packages.iter().any(|package| package.name == **name));
    let unknown = unknown.map(|name| format!("arrows.toml: there is no crate `{name}`"));
    packages.iter().flat_map(|package| of_package(package, table)).chain(unknown).collect()
}

fn of_package(package: &Package, table: &BTreeMap<String, Arrows>) -> Vec<String> {
    let Some(arrows) = table.get(&package.name) else {
        return vec![format!("arrows.toml: crate `{}` is missing", package.name)];
    };
    let forbidden = package.dependencies.iter().filter(|dependency| !allows(arrows, dependency));
    forbidden.map(|dependency| format!("{} -> {}: not an allowed arrow", package.name, dependency.name)).collect()
}

fn allows(arrows: &Arrows, dependency: &Dependency) -> bool {
    if dependency.ours { arrows.may_use.contains(&dependency.name) } else { arrows.third_party || !dependency.linked }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(dependency: &str, ours: bool) -> Package {
        let dependency = Dependency { name: dependency.into(), ours, linked: true };
        Package {
            name: "et-core".into(),
            folder: "runtime/et-core".into(),
            dependencies: vec![dependency],
            ..Package::default()
        }
    }

    fn table() -> BTreeMap<String, Arrows> {
        [("et-core".into(), Arrows { may_use: vec!["et-format".into()], ..Arrows::default() })].into()
    }

    #[test]
    fn an_arrow_that_is_not_in_the_table_is_a_breach() {
        assert_eq!(breaches(&[package("et-format", true)], &table()), Vec::<String>::new());
        assert_eq!(breaches(&[package("etbuild-ir", true)], &table()).len(), 1);
        assert_eq!(breaches(&[package("serde", false)], &table()).len(), 1);
    }

    #[test]
    fn the_table_and_the_workspace_name_the_same_crates() {
        assert_eq!(breaches(&[], &table()), ["arrows.toml: there is no crate `et-core`"]);
        assert_eq!(breaches(&[package("et-format", true)], &BTreeMap::new()).len(), 1);
    }
}
