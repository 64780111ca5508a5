//! The trace events of Chrome, which Perfetto (<https://ui.perfetto.dev>) and `chrome://tracing` show: a JSON object with an event
//! for each execution, instruction and task. Times are in microseconds.

use std::collections::BTreeMap;

use et_module::recording::{Event, Recording, Run};
use serde_json::{Value, json};

use super::profile::{Key, Names, Profile, Row, key};

/// The process of all events.
const PROCESS: u32 = 1;

/// The trace of a recording; `profile` is of the same recording.
pub fn perfetto(recording: &Recording, profile: &Profile, names: &Names<'_>) -> Value {
    let threads = recording.threads.iter().enumerate().map(|(number, name)| thread(number, name));
    let mut events: Vec<Value> = threads.collect();
    let rows: BTreeMap<&str, Rows<'_>> =
        profile.methods.iter().map(|method| (method.method.as_str(), method.by_key())).collect();
    for run in &recording.runs {
        let Some(facts) = recording.methods.get(run.method) else { continue };
        events.push(span(&facts.name, "method", 0, (run.begin, run.end), json!({})));
        let Some(rows) = rows.get(facts.name.as_str()) else { continue };
        events.extend(run.events.iter().map(|event| instruction(event, rows, names, &facts.name)));
    }
    events.extend(recording.tasks.iter().filter(|task| task.thread > 0).map(|task| {
        let name = at(recording, &rows, task.begin).unwrap_or("task");
        span(name, "task", task.thread, (task.begin, task.end), json!({}))
    }));
    json!({ "displayTimeUnit": "ns", "traceEvents": events })
}

fn thread(number: usize, name: &str) -> Value {
    json!({ "ph": "M", "name": "thread_name", "pid": PROCESS, "tid": number + 1, "args": { "name": name } })
}

fn span(name: &str, category: &str, thread: usize, (begin, end): (u64, u64), arguments: Value) -> Value {
    json!({
        "ph": "X", "name": name, "cat": category, "pid": PROCESS, "tid": thread + 1,
        "ts": begin as f64 / 1e3, "dur": end.saturating_sub(begin) as f64 / 1e3, "args": arguments,
    })
}

/// The rows of a method by identity.
type Rows<'p> = BTreeMap<Key, &'p Row>;

fn instruction(event: &Event, rows: &Rows<'_>, names: &Names<'_>, method: &str) -> Value {
    let (time, key) = ((event.begin, event.end), key(event));
    let Some(row) = rows.get(&key) else {
        let partition = rows.get(&(key.0, key.1, Some(0)));
        let name = partition.map_or("control", |row| &row.backend);
        return span(name, "instruction", 0, time, json!({ "instruction": key.1 }));
    };
    let node = names.node(method, &row.value);
    let arguments = json!({
        "value": row.value, "module": row.module, "line": row.line, "bytes": row.bytes, "backend": row.backend,
        "instruction": key.1, "step": key.2, "shape": node.map(|node| &node.shape),
        "node": node.map(|node| &node.operator),
    });
    let category = if key.2.is_some() { "delegate" } else { "kernel" };
    span(&row.operator, category, 0, time, arguments)
}

/// The operator that executes at a time.
fn at<'p>(recording: &Recording, rows: &BTreeMap<&str, Rows<'p>>, time: u64) -> Option<&'p str> {
    let index = recording.runs.partition_point(|run| run.end < time);
    let run: &Run = recording.runs.get(index).filter(|run| run.begin <= time)?;
    let facts = recording.methods.get(run.method)?;
    let event = run.events.get(run.events.partition_point(|event| event.end < time))?;
    Some(&rows.get(facts.name.as_str())?.get(&key(event))?.operator)
}
