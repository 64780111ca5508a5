//! Files, described for people.

use super::{Table, bytes};
use crate::inspect::{Constant, Content, Description, Difference, Method, ProgramDescription, Slot};

/// A file.
pub fn description_text(description: &Description) -> String {
    let size = bytes(description.size as u64);
    match &description.content {
        Content::Program(program) => format!("program file  {size}\n{}", program_text(program)),
        Content::Data { entries } => format!("data file  {size}\n\n{}", entries_table(entries)),
        Content::Bundle { suites, program } => {
            let cases = suites.iter().map(|suite| format!("{} of `{}`", suite.cases, suite.method));
            let cases = cases.collect::<Vec<_>>().join(", ");
            format!("bundled program  {size}\ncases      {cases}\n{}", program_text(program))
        }
    }
}

fn program_text(program: &ProgramDescription) -> String {
    let producer = program.producer.as_deref().unwrap_or("not stated");
    let constants: u64 = program.constants.iter().map(|constant| constant.size).sum();
    let mut parts =
        vec![format!("producer   {producer}\nconstants  {} of {}", program.constants.len(), bytes(constants))];
    parts.extend(program.methods.iter().map(method_text));
    let mut segments = Table::new(&["segment", "offset", "size", "holds"]);
    for (index, segment) in program.segments.iter().enumerate() {
        let (offset, size) = (segment.offset.to_string(), bytes(segment.size));
        segments.row(vec![index.to_string(), offset, size, segment.holds.join(", ")]);
    }
    parts.push(segments.render());
    parts.join("\n\n")
}

fn method_text(method: &Method) -> String {
    let arenas = method.arenas.iter().map(|size| bytes(*size));
    let state: u64 = method.state.iter().map(size_of).sum();
    let instructions = method.instructions.iter().map(|(kind, count)| format!("{count} {kind}"));
    let delegates = method.delegates.iter();
    let delegates = delegates.map(|part| format!("{} ({}, {} calls)", part.name, bytes(part.size as u64), part.calls));
    let lines = [
        format!("method {}", method.name),
        format!("inputs        {}", join(method.inputs.iter().map(slot_text))),
        format!("outputs       {}", join(method.outputs.iter().map(slot_text))),
        format!("arenas        {}", join(arenas)),
        format!("state         {} of {}", method.state.len(), bytes(state)),
        format!("values        {}", method.values),
        format!("instructions  {}", join(instructions)),
        format!("delegates     {}", join(delegates)),
    ];
    format!("{}\n\n{}\n\n{}", lines.join("\n"), calls_table(method), largest_table(&method.largest))
}

fn calls_table(method: &Method) -> String {
    let mut table = Table::new(&["operator", "calls"]);
    method.operators.iter().for_each(|(name, count)| table.row(vec![name.clone(), count.to_string()]));
    table.render()
}

fn largest_table(largest: &[Slot]) -> String {
    let mut table = Table::new(&["largest tensors", "place", "size"]);
    largest.iter().for_each(|slot| table.row(vec![slot_text(slot), slot.place.to_owned(), bytes(size_of(slot))]));
    table.render()
}

fn entries_table(entries: &[Constant]) -> String {
    let mut table = Table::new(&["name", "type", "size"]);
    for entry in entries {
        table.row(vec![entry.name.clone().unwrap_or_default(), entry.r#type.clone(), bytes(entry.size)]);
    }
    table.render()
}

/// `x: float32[1, 10]`
fn slot_text(slot: &Slot) -> String {
    slot.name.as_ref().map_or_else(|| slot.r#type.clone(), |name| format!("{name}: {}", slot.r#type))
}

fn size_of(slot: &Slot) -> u64 {
    slot.tensor.as_ref().map_or(0, |tensor| tensor.size)
}

fn join(items: impl Iterator<Item = String>) -> String {
    let items: Vec<String> = items.collect();
    if items.is_empty() { "none".to_owned() } else { items.join(", ") }
}

/// The differences of two files.
pub fn difference_text(difference: &Difference) -> String {
    if difference.equal {
        let bytes = if difference.identical { "identical bytes" } else { "equal contents in different bytes" };
        return format!("the files have {bytes}");
    }
    let mut table = Table::new(&["method", "what", "which", "before", "after"]);
    for change in &difference.changes {
        let value = |value: &Option<String>| value.clone().unwrap_or_else(|| "-".to_owned());
        let subject = &change.subject;
        let method = if subject.method.is_empty() { "-" } else { &subject.method };
        let (before, after) = (value(&change.before), value(&change.after));
        table.row(vec![method.to_owned(), subject.what.to_owned(), subject.name.clone(), before, after]);
    }
    table.render()
}
