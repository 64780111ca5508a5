//! All targets that a recipe may name.

use std::collections::BTreeMap;
use std::path::Path;

use etbuild_diagnostic::{Code, Diagnostic, Span};
use etbuild_system::System;
use etbuild_yaml::{Spanned, quote, read_text, suggest};

use crate::{SHIPPED, Target, Triple, parse_target};

/// Targets by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Catalogue {
    targets: BTreeMap<String, (Target, String)>,
}

impl Catalogue {
    /// The shipped targets.
    ///
    /// # Errors
    /// Mistakes in the shipped files, which a test excludes.
    pub fn shipped() -> Result<Self, Vec<Diagnostic>> {
        let mut catalogue = Self::default();
        for (file, text) in SHIPPED {
            catalogue.add(file, text)?;
        }
        Ok(catalogue)
    }

    /// Parses a target file and adds the target.
    ///
    /// # Errors
    /// Mistakes in the text, or a duplicate name.
    pub fn add(&mut self, file: &str, text: &str) -> Result<&Target, Vec<Diagnostic>> {
        let target = parse_target(file, text)?;
        let name = target.name().to_owned();
        if let Some((_, other)) = self.targets.get(&name) {
            return Err(vec![duplicate(&name, file, other)]);
        }
        Ok(&self.targets.entry(name).or_insert((target, file.to_owned())).0)
    }

    /// Reads a target file and adds the target.
    ///
    /// # Errors
    /// An unreadable file, or the errors of [`Catalogue::add`].
    pub fn add_file(&mut self, system: &dyn System, path: &Path) -> Result<&Target, Vec<Diagnostic>> {
        let file = path.display().to_string();
        let text = read_text(system, path).map_err(|error| vec![error.at(Span::file(&file))])?;
        self.add(&file, &text)
    }

    /// Adds every `.yaml` file of a folder; a missing folder counts as empty.
    ///
    /// # Errors
    /// The error of the first faulty file.
    pub fn add_folder(&mut self, system: &dyn System, folder: &Path) -> Result<(), Vec<Diagnostic>> {
        let files = system.list(folder).unwrap_or_default();
        for path in files.iter().filter(|path| path.extension().is_some_and(|end| end == "yaml")) {
            self.add_file(system, path)?;
        }
        Ok(())
    }

    /// All targets, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = &Target> {
        self.targets.values().map(|(target, _)| target)
    }

    /// The target with this name.
    pub fn get(&self, name: &str) -> Option<&Target> {
        self.targets.get(name).map(|(target, _)| target)
    }

    /// The boards whose banks have `constants` bytes for the program file and `tensors` bytes for planned tensors beside the stack, those with
    /// the least memory for tensors first.
    pub fn boards_with_room(&self, constants: u64, tensors: u64) -> Vec<&Target> {
        let room = |target: &Target| {
            let memory = target.memory()?;
            let has_room = memory.constants.size.0 >= constants && memory.room_for_tensors() >= tensors;
            has_room.then(|| memory.room_for_tensors())
        };
        let mut boards: Vec<(u64, &Target)> = self.iter().filter_map(|target| Some((room(target)?, target))).collect();
        boards.sort_by_key(|(room, target)| (*room, target.name().to_owned()));
        boards.into_iter().map(|(_, target)| target).collect()
    }

    /// The target that a recipe names.
    ///
    /// # Errors
    /// `ETB0203`, with the nearest name and the list of all.
    pub fn find(&self, name: &Spanned<String>) -> Result<&Target, Diagnostic> {
        self.get(&name.value).ok_or_else(|| self.unknown(name))
    }

    fn unknown(&self, name: &Spanned<String>) -> Diagnostic {
        let names: Vec<&str> = self.targets.keys().map(String::as_str).collect();
        let list = names.join(", ");
        let help = self.hint(&name.value, &names);
        let message = format!("unknown target {}", quote(&name.value));
        let diagnostic = Diagnostic::error(Code::UnknownTarget, message).at((*name.span).clone());
        diagnostic.help(help).note(format!("the targets are {list}"))
    }

    /// What to write instead of a name that is no target's: a target for such a machine, the nearest name, a file for a triple.
    fn hint(&self, name: &str, names: &[&str]) -> String {
        if let Some(target) = self.iter().find(|target| target.aliases().any(|alias| alias == name)) {
            return format!("`{}` is the target for it: {}", target.name(), target.summary());
        }
        if let Some(near) = suggest(name, names.iter().copied()) {
            return format!("did you mean `{near}`?");
        }
        if Triple::new(name).is_ok() {
            return format!("this is a Rust triple; `etbuild init target NAME --triple {name}` makes a target of it");
        }
        let aliases: Vec<_> =
            self.iter().flat_map(|target| target.aliases().map(move |alias| (alias, target))).collect();
        let kin = aliases.iter().filter(|(alias, _)| is_kin(name, alias)).max_by_key(|(alias, _)| alias.len());
        let near = kin.or_else(|| {
            let near = suggest(name, aliases.iter().map(|(alias, _)| *alias))?;
            aliases.iter().find(|(alias, _)| *alias == near)
        });
        match near {
            Some((_, target)) => format!("`{}` may be the target for it: {}", target.name(), target.summary()),
            None => "`etbuild targets list` describes each, `etbuild init target` writes one".to_owned(),
        }
    }
}

/// Whether one of two names goes on where the other ends: `galaxy` and `galaxy-s23`.
fn is_kin(name: &str, alias: &str) -> bool {
    let name = name.to_lowercase();
    alias.starts_with(&name) || name.starts_with(alias)
}

fn duplicate(name: &str, file: &str, other: &str) -> Diagnostic {
    let message = format!("duplicate target `{name}`");
    let diagnostic = Diagnostic::error(Code::DuplicateTarget, message).at(Span::file(file));
    diagnostic.help("change the `name:` of one target").note(format!("the other is in {other}"))
}

#[cfg(test)]
mod tests {
    use etbuild_diagnostic::Position;
    use etbuild_system::MemorySystem;

    use super::*;

    fn named(name: &str) -> Spanned<String> {
        Spanned::new(name.to_owned(), Span::new("r.yaml", Position::new(4, 10), Position::new(4, 14)))
    }

    /// A shipped file.
    fn phone() -> &'static (&'static str, &'static str) {
        SHIPPED.iter().find(|(file, _)| *file == "targets/galaxy-s25.yaml").unwrap()
    }

    #[test]
    fn a_machine_that_is_no_target_is_told_one_of_its_kind() {
        let catalogue = Catalogue::shipped().unwrap();
        let help = |name: &str| catalogue.find(&named(name)).unwrap_err().help.unwrap();
        assert!(help("raspberry-pi-3").starts_with("`linux-aarch64` is the target for it"));
        assert!(help("orange-pi-5").starts_with("`linux-aarch64` may be the target for it"));
        assert!(help("thumbv7em-none-eabihf").contains("init target NAME --triple thumbv7em-none-eabihf"));
        assert!(help("toaster").contains("etbuild targets list"));
    }

    #[test]
    fn an_unknown_target_is_pointed_at_with_the_nearest_and_all_names() {
        let diagnostic = Catalogue::shipped().unwrap().find(&named("pico22")).unwrap_err();
        assert_eq!((diagnostic.code, diagnostic.help.as_deref()), (Code::UnknownTarget, Some("did you mean `pico2`?")));
        assert_eq!(diagnostic.span.unwrap().to_string(), "r.yaml:4:10");
        let names = SHIPPED.iter().map(|(file, _)| file.trim_start_matches("targets/").trim_end_matches(".yaml"));
        let mut names: Vec<&str> = names.collect();
        names.sort_unstable();
        let all = format!("the targets are {}", names.join(", "));
        assert_eq!(diagnostic.notes, [all]);
    }

    #[test]
    fn a_folder_beside_the_recipe_adds_targets() {
        let text = phone().1.replace("name: galaxy-s25", "name: mine");
        let system =
            MemorySystem::with_files([("targets/mine.yaml", text.as_str()), ("targets/readme.md", "no target")]);
        let mut catalogue = Catalogue::shipped().unwrap();
        catalogue.add_folder(&system, Path::new("targets")).unwrap();
        assert_eq!(catalogue.find(&named("mine")).map(Target::name), Ok("mine"));
        catalogue.add_folder(&system, Path::new("nowhere")).unwrap();
    }

    #[test]
    fn a_name_is_taken_once() {
        let mut catalogue = Catalogue::shipped().unwrap();
        let diagnostics = catalogue.add("copy.yaml", phone().1).unwrap_err();
        assert_eq!(diagnostics[0].code, Code::DuplicateTarget);
        assert_eq!(diagnostics[0].notes, ["the other is in targets/galaxy-s25.yaml"]);
    }

    #[test]
    fn a_missing_file_is_named() {
        let system = MemorySystem::default();
        let diagnostics = Catalogue::default().add_file(&system, Path::new("no.yaml")).unwrap_err();
        assert_eq!(
            (diagnostics[0].code, diagnostics[0].message.as_str()),
            (Code::FileMissing, "file `no.yaml` not found")
        );
    }
}
