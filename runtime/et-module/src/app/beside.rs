//! The data files beside a program file that are loaded.

use std::path::{Path, PathBuf};

/// The data files that lie beside a program file, by its name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Beside {
    /// `<name>.ptd`, if the file exists.
    pub model: Option<PathBuf>,
    /// `<name>.adapter.ptd`, if the file exists.
    pub adapter: Option<PathBuf>,
}

impl Beside {
    /// The data files of the program file at `program`.
    pub fn of(program: &Path) -> Self {
        let file = |ending| Some(program.with_extension(ending)).filter(|data| data.exists());
        Self { model: file("ptd"), adapter: file("adapter.ptd") }
    }

    /// The files to load where the command line names these: data files replace the files beside the program file, an
    /// adapter replaces the adapter there.
    pub fn or_named(self, data: &[PathBuf], adapter: Option<&Path>) -> Vec<PathBuf> {
        let adapter = adapter.map(Path::to_owned);
        match data {
            [] => self.model.into_iter().chain(adapter.or(self.adapter)).collect(),
            data => data.iter().cloned().chain(adapter).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_adapter_is_exchanged_alone_and_data_files_together() {
        let path = |name: &str| PathBuf::from(name);
        let beside = || Beside { model: Some(path("m.ptd")), adapter: Some(path("m.adapter.ptd")) };
        let other = path("other.ptd");
        assert_eq!(beside().or_named(&[], None), [path("m.ptd"), path("m.adapter.ptd")]);
        assert_eq!(beside().or_named(&[], Some(&other)), [path("m.ptd"), path("other.ptd")]);
        assert_eq!(beside().or_named(&[path("n.ptd")], None), [path("n.ptd")]);
        assert_eq!(beside().or_named(&[path("n.ptd")], Some(&other)), [path("n.ptd"), path("other.ptd")]);
    }
}
