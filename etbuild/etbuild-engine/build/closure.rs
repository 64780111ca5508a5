//! The dependency closure of crates: workspace folders by manifests, third-party versions by `Cargo.lock`.

use std::collections::{BTreeMap, BTreeSet};

/// The crates of the workspace.
pub struct Workspace {
    /// Folder of each workspace crate.
    folders: BTreeMap<String, String>,
    /// Names of the direct dependencies of each workspace crate, without those of tests.
    dependencies: BTreeMap<String, Vec<String>>,
    /// Entries of `Cargo.lock` for third-party crates.
    locked: Vec<Locked>,
}

/// A crate of `Cargo.lock`.
struct Locked {
    name: String,
    version: String,
    checksum: String,
    /// Each dependency as a name, with a version where several are locked.
    dependencies: Vec<String>,
}

/// Everything that some crates depend on.
pub struct Closure {
    /// Folders of workspace crates, the named crates included, sorted.
    pub folders: BTreeSet<String>,
    /// A line `name version checksum` for each third-party crate, sorted.
    pub locked: String,
}

impl Workspace {
    /// Reads the manifests and `Cargo.lock` by paths relative to the workspace root.
    pub fn read(read: &dyn Fn(&str) -> String) -> Self {
        let folders = folders(&read("Cargo.toml"));
        let manifest =
            |(name, folder): (&String, &String)| (name.clone(), direct(&read(&format!("{folder}/Cargo.toml"))));
        Self { dependencies: folders.iter().map(manifest).collect(), folders, locked: locked(&read("Cargo.lock")) }
    }

    /// The closure of workspace crates.
    pub fn closure(&self, crates: &[&str]) -> Closure {
        let (mut folders, mut found, mut left) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
        left.extend(crates.iter().map(|name| (*name).to_owned()));
        while let Some(name) = left.pop() {
            if !found.insert(name.clone()) {
                continue;
            }
            match self.folders.get(&name) {
                Some(folder) => {
                    folders.insert(folder.clone());
                    left.extend(self.dependencies.get(&name).into_iter().flatten().cloned());
                }
                None => left.extend(self.find(&name).flat_map(|locked| locked.dependencies.iter().cloned())),
            }
        }
        let line = |locked: &Locked| format!("{} {} {}\n", locked.name, locked.version, locked.checksum);
        let lines: BTreeSet<String> = found.iter().flat_map(|name| self.find(name)).map(line).collect();
        Closure { folders, locked: lines.into_iter().collect() }
    }

    /// The locked crates of a name, or of a name with a version.
    fn find<'w>(&'w self, dependency: &'w str) -> impl Iterator<Item = &'w Locked> {
        let mut words = dependency.split(' ');
        let (name, version) = (words.next().unwrap_or_default(), words.next());
        self.locked
            .iter()
            .filter(move |locked| locked.name == name && version.is_none_or(|version| locked.version == version))
    }
}

/// The folder of each crate of ours in the workspace's table of dependencies: `et-core = { path = "runtime/et-core" }`.
fn folders(manifest: &str) -> BTreeMap<String, String> {
    let entry = |line: &str| {
        let (name, rest) = line.split_once(" = { path = \"")?;
        Some((name.to_owned(), rest.split_once('"')?.0.to_owned()))
    };
    manifest.lines().filter_map(entry).collect()
}

/// The names of dependencies and build dependencies in a manifest.
fn direct(manifest: &str) -> Vec<String> {
    let (mut is_dependencies, mut names) = (false, Vec::new());
    for line in manifest.lines() {
        if let Some(section) = line.strip_prefix('[') {
            is_dependencies = section.contains("dependencies]") && !section.contains("dev-dependencies]");
        } else if is_dependencies && let Some(end) = line.find([' ', '.', '=']).filter(|end| *end > 0) {
            names.push(line[..end].to_owned());
        }
    }
    names
}

/// The third-party crates of `Cargo.lock`: entries with a source.
fn locked(lock: &str) -> Vec<Locked> {
    let entry = |text: &str| {
        let field = |name: &str| {
            let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(" = \""))?;
            value.strip_suffix('"').map(str::to_owned)
        };
        field("source")?;
        let listed = text.split_once("dependencies = [").map_or("", |(_, rest)| rest);
        let dependencies = listed.lines().filter_map(|line| line.trim().strip_prefix('"')?.split_once('"'));
        let dependencies = dependencies.map(|(name, _)| name.to_owned()).collect();
        Some(Locked {
            name: field("name")?,
            version: field("version")?,
            checksum: field("checksum").unwrap_or_default(),
            dependencies,
        })
    };
    lock.split("[[package]]").filter_map(entry).collect()
}
