//! Cargo manifests as a device build needs them.

use toml::{Table, Value};

use crate::LinkError;

/// Reads a manifest.
pub fn parse(text: &str) -> Result<Table, LinkError> {
    text.parse().map_err(|error| LinkError::Template(format!("a manifest cannot be read: {error}")))
}

/// A table inside a table; empty for a missing table.
pub fn section(table: &Table, name: &str) -> Table {
    table.get(name).and_then(Value::as_table).cloned().unwrap_or_default()
}

/// The dependencies that come from the workspace, on any platform.
pub fn inherited(manifest: &Table) -> Vec<String> {
    let platforms = section(manifest, "target");
    let of_platforms = platforms.values().filter_map(Value::as_table).map(|platform| section(platform, "dependencies"));
    let dependencies = of_platforms.chain([section(manifest, "dependencies")]).flatten();
    let inherited = dependencies.filter(|(_, dependency)| dependency.get("workspace").is_some());
    inherited.map(|(name, _)| name).collect()
}

/// The targets of a manifest besides the library: a generated project has no sources of these targets.
const NOT_ON_DEVICES: &[&str] = &["dev-dependencies", "bench", "bin", "example", "test"];

/// Removes the targets and dependencies that only hosts and tests use: examples, tests, development dependencies, and optional dependencies
/// with their names in features. Cargo would have to look them up, which needs a network or a filled cache.
pub fn for_device(mut manifest: Table) -> Table {
    manifest.retain(|key, _| !NOT_ON_DEVICES.contains(&key));
    let (optional, dependencies) =
        section(&manifest, "dependencies").into_iter().partition::<Table, _>(|(_, dependency)| is_optional(dependency));
    let mut features = section(&manifest, "features");
    let implied = features.iter_mut().filter_map(|(_, implied)| implied.as_array_mut());
    implied.for_each(|implied| implied.retain(|item| !item.as_str().is_some_and(|item| names_any(item, &optional))));
    manifest.insert("dependencies".to_owned(), Value::from(dependencies));
    manifest.insert("features".to_owned(), Value::from(features));
    manifest
}

fn is_optional(dependency: &Value) -> bool {
    dependency.get("optional").and_then(Value::as_bool).unwrap_or(false)
}

/// Whether an implied feature is of one of `dependencies`: `dep:name`, `name/feature` or `name?/feature`.
fn names_any(item: &str, dependencies: &Table) -> bool {
    let item = item.strip_prefix("dep:").unwrap_or(item);
    item.split(['/', '?']).next().is_some_and(|name| dependencies.contains_key(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependencies_of_platforms_are_inherited_too() {
        let manifest = parse(
            "[dependencies]\nsmall.workspace = true\nown = '1'\n[target.'cfg(unix)'.dependencies]\ndriver.workspace = true\n",
        );
        assert_eq!(inherited(&manifest.unwrap()), ["driver", "small"]);
    }

    #[test]
    fn what_only_hosts_use_is_left_out() {
        let manifest = parse(
            "[features]\nwrite = ['dep:big', 'big?/more', 'fast']\nfast = []\n[dependencies]\nbig = { version = '1', optional = true }\n\
             small.workspace = true\n[dev-dependencies]\ntester = '2'\n[[example]]\nname = 'bench'\n",
        );
        let reduced = for_device(manifest.unwrap());
        assert_eq!(section(&reduced, "dependencies").keys().collect::<Vec<_>>(), ["small"]);
        assert_eq!(section(&reduced, "features").to_string(), "fast = []\nwrite = [\"fast\"]\n");
        assert!(!reduced.contains_key("dev-dependencies") && !reduced.contains_key("example"));
    }
}
