//! Cargo manifests as a device build needs them.

use toml::{Table, Value};

use crate::LinkError;

/// Reads a manifest.
pub fn parse(text: &str) -> Result<Table, LinkError> {
    text.parse().map_err(|error| LinkError::Template(format!("a manifest cannot be read: {error}")))
}

/// A table inside a table; empty where there is none.
pub fn section(table: &Table, name: &str) -> Table {
    table.get(name).and_then(Value::as_table).cloned().unwrap_or_default()
}

/// The dependencies that come from the workspace.
pub fn inherited(manifest: &Table) -> Vec<String> {
    let dependencies = section(manifest, "dependencies");
    let inherited = dependencies.iter().filter(|(_, dependency)| dependency.get("workspace").is_some());
    inherited.map(|(name, _)| name.clone()).collect()
}

/// Leaves out what only hosts and tests use: development dependencies, optional ones and the features that name them.
/// Cargo would have to look them up, which needs a network or a filled cache.
pub fn for_device(mut manifest: Table) -> Table {
    manifest.remove("dev-dependencies");
    let mut dependencies = section(&manifest, "dependencies");
    let mut features = section(&manifest, "features");
    features.retain(|_, implied| !names_any(implied, |name| is_optional(&dependencies, name)));
    dependencies.retain(|_, dependency| !is_marked_optional(dependency));
    manifest.insert("dependencies".to_owned(), Value::from(dependencies));
    manifest.insert("features".to_owned(), Value::from(features));
    manifest
}

fn is_optional(dependencies: &Table, name: &str) -> bool {
    dependencies.get(name).is_some_and(is_marked_optional)
}

fn is_marked_optional(dependency: &Value) -> bool {
    dependency.get("optional").and_then(Value::as_bool).unwrap_or(false)
}

/// Whether one of the items that a feature implies is about a dependency for which `test` holds.
fn names_any(implied: &Value, test: impl Fn(&str) -> bool) -> bool {
    let items = implied.as_array().into_iter().flatten().filter_map(Value::as_str);
    items.map(dependency_of).any(test)
}

/// `name` of `dep:name`, `name/feature` and `name?/feature`.
fn dependency_of(item: &str) -> &str {
    let item = item.strip_prefix("dep:").unwrap_or(item);
    item.split(['/', '?']).next().unwrap_or(item)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_hosts_use_is_left_out() {
        let manifest = parse(
            "[features]\nwrite = ['dep:big']\nfast = []\n[dependencies]\nbig = { version = '1', optional = true }\n\
             small.workspace = true\n[dev-dependencies]\ntester = '2'\n",
        );
        let reduced = for_device(manifest.unwrap());
        assert_eq!(section(&reduced, "dependencies").keys().collect::<Vec<_>>(), ["small"]);
        assert_eq!(section(&reduced, "features").keys().collect::<Vec<_>>(), ["fast"]);
        assert!(!reduced.contains_key("dev-dependencies"));
    }
}
