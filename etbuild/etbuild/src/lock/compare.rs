//! The differences of a lock and the present state.

use std::collections::BTreeMap;

use etbuild_diagnostic::{Code, Diagnostic, Span};

use super::file::{LOCK_FILE, Lock};

/// Sources, tools and targets of `now` that differ from `lock`. Further entries of `lock` are of other units.
pub fn changed_sources(lock: &Lock, now: &Lock) -> Vec<Diagnostic> {
    let sources = |lock: &Lock| lock.sources.iter().map(|source| (source.path.clone(), source.b3.clone())).collect();
    let tools = |lock: &Lock| lock.tools.iter().map(|tool| (tool.name.clone(), tool.version.clone())).collect();
    let targets = |lock: &Lock| lock.targets.iter().map(|target| (target.name.clone(), target.b3.clone())).collect();
    let kinds: [(&str, BTreeMap<_, _>, BTreeMap<_, _>); 3] = [
        ("source", sources(lock), sources(now)),
        ("tool", tools(lock), tools(now)),
        ("target", targets(lock), targets(now)),
    ];
    kinds.iter().flat_map(|(kind, locked, now)| differences(kind, locked, now)).collect()
}

/// Results of `now` that differ from `lock`.
pub fn changed_outputs(lock: &Lock, now: &Lock) -> Vec<Diagnostic> {
    let outputs = |lock: &Lock| -> BTreeMap<String, String> {
        let unit = |unit: &super::file::LockedUnit| {
            let id = unit.id.clone();
            unit.outputs
                .clone()
                .into_iter()
                .map(move |(name, digest)| (format!("{id}/{name}"), digest))
                .collect::<Vec<_>>()
        };
        lock.units.iter().flat_map(unit).collect()
    };
    differences("result", &outputs(lock), &outputs(now))
}

fn differences(kind: &str, locked: &BTreeMap<String, String>, now: &BTreeMap<String, String>) -> Vec<Diagnostic> {
    let changed = now.iter().filter(|(name, value)| locked.get(*name) != Some(value));
    changed.map(|(name, value)| difference(kind, name, locked.get(name), value)).collect()
}

fn difference(kind: &str, name: &str, locked: Option<&String>, now: &str) -> Diagnostic {
    let message = match locked {
        None => format!("{kind} `{name}` is not in the lock file"),
        Some(_) => format!("{kind} `{name}` differs from the lock file"),
    };
    let diagnostic = Diagnostic::error(Code::LockedMismatch, message).at(Span::file(LOCK_FILE));
    let diagnostic = locked.iter().fold(diagnostic, |diagnostic, locked| diagnostic.note(format!("locked: {locked}")));
    diagnostic.note(format!("now: {now}")).help("run `etbuild lock --update` to accept the change")
}
