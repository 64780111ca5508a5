//! Where programs and the user's folders lie: by the rules of Windows on Windows, else by those of Unix.

use std::env::consts::EXE_SUFFIX;
use std::path::{Path, PathBuf};

use crate::System;

/// The name of Python's interpreter on `PATH`.
pub const PYTHON: &str = if cfg!(windows) { "python" } else { "python3" };

/// Python's interpreter in the folder of a virtual environment.
pub const PYTHON_OF_ENVIRONMENT: &str = if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" };

/// The path of a program whose name may lack the suffix of executables.
pub fn program(path: impl AsRef<Path>) -> PathBuf {
    let path = path.as_ref().as_os_str();
    let mut name = path.to_owned();
    if !path.to_string_lossy().to_ascii_lowercase().ends_with(EXE_SUFFIX) {
        name.push(EXE_SUFFIX);
    }
    PathBuf::from(name)
}

/// The first program of this name in the folders of `PATH`.
pub fn in_path(system: &dyn System, name: impl AsRef<Path>) -> Option<PathBuf> {
    let (folders, file) = (system.variable("PATH")?, program(name));
    let is_file = |path: &PathBuf| system.stamp(path).is_ok() && !system.is_dir(path);
    std::env::split_paths(&folders).map(|folder| folder.join(&file)).find(is_file)
}

/// The user's home folder.
pub fn home(system: &dyn System) -> Option<PathBuf> {
    let set = |name: &str| system.variable(name).filter(|value| !value.is_empty());
    set("HOME").or_else(|| set("USERPROFILE").filter(|_| cfg!(windows))).map(PathBuf::from)
}

/// The folder of the user's caches, by the specification of XDG.
pub fn caches(system: &dyn System) -> Option<PathBuf> {
    let set = system.variable("XDG_CACHE_HOME").filter(|value| !value.is_empty());
    set.map(PathBuf::from).or_else(|| Some(home(system)?.join(".cache")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemorySystem;

    #[test]
    fn a_name_gets_the_suffix_once() {
        let whole = format!("python3.11{EXE_SUFFIX}");
        assert_eq!(program("python3.11"), Path::new(&whole));
        assert_eq!(program(&whole), Path::new(&whole));
    }

    #[test]
    fn the_first_folder_with_the_program_wins() {
        let file = program("second/tool").to_string_lossy().into_owned();
        let folders = std::env::join_paths(["first", "second"]).unwrap().into_string().unwrap();
        let system = MemorySystem::with_files([(file.as_str(), "")]).with_variable("PATH", &folders);
        assert_eq!(in_path(&system, "tool"), Some(PathBuf::from(&file)));
        assert_eq!(in_path(&system, "another"), None);
    }

    #[test]
    fn a_variable_that_is_set_to_nothing_names_no_folder() {
        let system = MemorySystem::default().with_variable("XDG_CACHE_HOME", "").with_variable("HOME", "/h");
        assert_eq!(caches(&system), Some(PathBuf::from("/h/.cache")));
    }
}
