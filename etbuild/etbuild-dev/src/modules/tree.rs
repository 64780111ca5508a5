//! The modules of a crate, and where the paths in the files lead.

use std::collections::{BTreeMap, BTreeSet};

use super::Edges;
use super::import::{Import, imports};

/// The path of a module from the crate's root.
type Module = Vec<String>;

/// Re-exports lead on at most this often.
const HOPS: usize = 16;

/// The modules of a crate with the imports of each.
#[derive(Default)]
pub struct Tree {
    modules: BTreeMap<Module, Vec<Import>>,
}

impl Tree {
    /// Adds the file `a/b` or `a/b/mod` for the module `a::b`, `lib` or `main` for the root.
    pub fn add(&mut self, file: &str, text: &str) {
        let mut module: Module = file.split('/').map(str::to_owned).collect();
        let is_root = module.len() == 1 && matches!(file, "lib" | "main");
        if is_root || module.last().is_some_and(|last| last == "mod") {
            module.pop();
        }
        self.modules.entry(module).or_default().extend(imports(text));
    }

    /// The modules of the root.
    pub fn top(&self) -> BTreeSet<String> {
        self.modules.keys().filter_map(|module| module.first().cloned()).collect()
    }

    /// The arrows between the modules of each folder, by the folder's path.
    pub fn edges(&self) -> BTreeMap<String, Edges> {
        let mut found: BTreeMap<String, Edges> = BTreeMap::new();
        for (module, imports) in &self.modules {
            for to in imports.iter().filter_map(|import| self.target(module, &import.path, HOPS)) {
                let shared = module.iter().zip(&to).take_while(|(one, other)| one == other).count();
                if let (Some(from), Some(to)) = (module.get(shared), to.get(shared)) {
                    let folder = found.entry(module[..shared].join("/")).or_default();
                    folder.entry(from.clone()).or_default().insert(to.clone());
                }
            }
        }
        found
    }

    /// The module that defines the item of a path in a file; `None` for an item of another crate.
    fn target(&self, module: &Module, path: &[String], hops: usize) -> Option<Module> {
        let (first, rest) = path.split_first()?;
        let mut at = match first.as_str() {
            "crate" => Module::new(),
            "self" => module.clone(),
            "super" => module.split_last()?.1.to_vec(),
            name => self.step(module, name, hops)?,
        };
        for segment in rest {
            match self.step(&at, segment, hops) {
                _ if segment == "super" => at = at.split_last()?.1.to_vec(),
                Some(next) => at = next,
                None => break,
            }
        }
        Some(at)
    }

    /// The module behind a name in a module: below it, or behind a `use` item.
    fn step(&self, module: &Module, name: &str, hops: usize) -> Option<Module> {
        let below: Module = module.iter().cloned().chain([name.to_owned()]).collect();
        if self.modules.contains_key(&below) {
            return Some(below);
        }
        let hops = hops.checked_sub(1)?;
        let imports = self.modules.get(module)?.iter();
        let mut named = imports.filter(|import| import.name.as_deref() == Some(name) && import.path.len() > 1);
        named.find_map(|import| self.target(module, &import.path, hops))
    }
}
