//! `etbuild targets`: the catalogue.

use std::path::Path;

use etbuild_diagnostic::{Diagnostic, Span};
use etbuild_target::{Catalogue, Target};
use etbuild_yaml::Spanned;
use serde_json::Value;

use super::Outcome;
use crate::arguments::Targets;
use crate::render::Table;
use crate::session::Session;

pub fn run(session: &Session, command: &Targets) -> Outcome {
    let mut catalogue = Catalogue::shipped()?;
    catalogue.add_folder(&*session.system, Path::new("recipes/targets"))?;
    match command {
        Targets::List => list(session, &catalogue),
        Targets::Show { name } => show(session, find(session, &mut catalogue, name)?),
    }
    Ok(Vec::new())
}

fn list(session: &Session, catalogue: &Catalogue) {
    let mut table = Table::new(&["target", "triple", "summary"]);
    for target in catalogue.iter() {
        table.row(vec![target.name().to_owned(), target.rust().triple.to_string(), target.summary().to_owned()]);
    }
    let targets: Vec<&Target> = catalogue.iter().collect();
    session.terminal.succeed("targets", serde_json::json!({ "targets": targets }), &table.render());
}

fn find<'a>(session: &Session, catalogue: &'a mut Catalogue, name: &str) -> Result<&'a Target, Vec<Diagnostic>> {
    let path = Path::new(name);
    if path.extension().is_some_and(|extension| extension == "yaml") {
        return catalogue.add_file(&*session.system, path);
    }
    let name = Spanned::new(name.to_owned(), Span::command_line(name));
    catalogue.find(&name).map_err(|diagnostic| vec![diagnostic])
}

fn show(session: &Session, target: &Target) {
    let value = serde_json::to_value(target).unwrap_or_default();
    let mut lines = Vec::new();
    flatten("", &value, &mut lines);
    session.terminal.succeed("target", value, &lines.join("\n"));
}

/// A line per fact, such as `memory.arena.size: 532480`.
fn flatten(prefix: &str, value: &Value, lines: &mut Vec<String>) {
    let name = |key: &str| if prefix.is_empty() { key.to_owned() } else { format!("{prefix}.{key}") };
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| flatten(&name(key), value, lines)),
        Value::Array(items) if items.iter().any(Value::is_object) => {
            items.iter().enumerate().for_each(|(index, item)| flatten(&name(&index.to_string()), item, lines));
        }
        Value::Null => {}
        Value::String(text) => lines.push(format!("{prefix}: {text}")),
        other => lines.push(format!("{prefix}: {other}")),
    }
}
