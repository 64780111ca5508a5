//! A recording as an ETDump with the names of the compilation: the metadata of an instruction of a delegate is a JSON object with
//! value, operator, module and line of Python.

use et_module::recording::{self, Described, EtDump, Named, Recording};

use super::labels::{Label, labels};
use super::profile::{Names, Profile};

/// An ETDump, and the debug buffer.
pub fn etdump(recording: &Recording, profile: &Profile, names: &Names<'_>) -> EtDump {
    recording::etdump(recording, |run, facts| {
        let profile = profile.methods.iter().find(|method| method.method == facts.name)?;
        Some(labels(run, facts, profile, names.calls(&facts.name)).into_iter().map(described).collect())
    })
}

fn described(label: Label<'_>) -> Described<'_> {
    let (metadata, results) = (label.metadata(), label.results());
    let Label { event, name, delegate, .. } = label;
    Described { named: Named { event, name, delegate }, metadata, results }
}
