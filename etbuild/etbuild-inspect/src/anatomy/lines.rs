//! The lines of the user's Python behind the values of a program.

use std::collections::BTreeMap;

use etbuild_engine::action::Blocked;
use etbuild_engine::import::{SourceLine, source_lines};
use etbuild_engine::input::Db;
use etbuild_engine::program_source::ProgramSource;

/// The lines by method and value.
#[derive(Clone, Debug, Default)]
pub struct Lines(BTreeMap<String, BTreeMap<String, SourceLine>>);

impl Lines {
    /// The lines that the archives of a program state.
    pub(super) fn of(db: &dyn Db, program: &ProgramSource) -> Result<Self, Blocked> {
        let lines = program.archives.iter().map(|(method, model)| Ok((method.clone(), source_lines(db, *model)?)));
        lines.collect::<Result<_, Blocked>>().map(Self)
    }

    /// The line behind a value. A value that lowering made has the line of the value in whose place it is: the name of the made value
    /// begins with the name of the other.
    pub fn line(&self, method: &str, value: &str) -> Option<&SourceLine> {
        let lines = self.0.get(method)?;
        let mut name = value;
        loop {
            match (lines.get(name), name.rfind('_')) {
                (Some(line), _) => return Some(line),
                (None, Some(end)) => name = &name[..end],
                (None, None) => return None,
            }
        }
    }
}
