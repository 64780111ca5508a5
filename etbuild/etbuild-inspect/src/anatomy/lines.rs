//! What the archives of a program say about values: the lines of the user's Python, and the exported graphs.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use etbuild_engine::action::Blocked;
use etbuild_engine::import::{SourceLine, archive, source_lines};
use etbuild_engine::input::Db;
use etbuild_engine::program_source::ProgramSource;
use etbuild_ir::Buffer;

/// The lines by method and value, with the archives that state the lines.
#[derive(Clone, Default)]
pub struct Lines {
    lines: BTreeMap<String, BTreeMap<String, SourceLine>>,
    archives: BTreeMap<String, Arc<dyn Buffer>>,
}

impl fmt::Debug for Lines {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Lines").field(&self.lines).finish()
    }
}

impl Lines {
    /// The lines that the archives of a program state.
    pub(super) fn of(db: &dyn Db, program: &ProgramSource) -> Result<Self, Blocked> {
        let mut found = Self::default();
        for (method, model) in &program.archives {
            if let Some(archive) = archive(db, *model)? {
                found.lines.insert(method.clone(), source_lines(archive.clone()));
                found.archives.insert(method.clone(), archive);
            }
        }
        Ok(found)
    }

    /// The archive of a method, where there is one.
    pub fn archive(&self, method: &str) -> Option<Arc<dyn Buffer>> {
        self.archives.get(method).cloned()
    }

    /// The line behind a value. A value that lowering made has the line of the value in whose place it is: the name of the made value
    /// begins with the name of the other.
    pub fn line(&self, method: &str, value: &str) -> Option<&SourceLine> {
        let lines = self.lines.get(method)?;
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
