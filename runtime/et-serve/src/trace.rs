//! A trace of the requests, in the trace event format of Chrome, which Perfetto (<https://ui.perfetto.dev>) and `chrome://tracing` show.
//!
//! A slot is a thread of the trace: in the span of a request are those of its prefill chunks and decode steps. The time that a request
//! waits for a slot is an asynchronous span. The file is an array that may lack its end, so the trace of a server that was killed is whole
//! up to the last request.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;
use std::time::Instant;

use serde_json::{Value, json};

/// The most bytes of a file: about half a million steps. Later requests are in no trace.
const MOST: usize = 64 << 20;

/// The process of all events.
const PROCESS: u32 = 1;

/// Writes the trace of a server, or nothing.
pub struct Trace(Option<RefCell<Writer>>);

struct Writer {
    file: Box<dyn Write>,
    /// Time zero.
    start: Instant,
    /// The bytes that may still be written.
    left: usize,
    /// The number of requests so far.
    requests: u64,
}

impl Trace {
    /// A trace in a file; `None` for no trace.
    ///
    /// # Errors
    /// A file that cannot be created, or has something else than a trace in it.
    pub fn open(path: Option<&Path>, slots: usize) -> io::Result<Self> {
        let file = path.map(created).transpose()?;
        Ok(Self(file.map(|file| RefCell::new(Writer::new(Box::new(BufWriter::new(file)), slots, MOST)))))
    }

    /// The begin of a span; `None` without a trace.
    pub fn begin(&self) -> Option<Instant> {
        self.0.as_ref().map(|_| Instant::now())
    }

    /// The span from `begin` until now of what a slot did.
    pub fn span(&self, begin: Option<Instant>, slot: usize, name: &str, arguments: impl FnOnce() -> Value) {
        if let (Some(begin), Some(writer)) = (begin, &self.0) {
            writer.borrow_mut().span((begin, Instant::now()), slot, name, &arguments());
        }
    }

    /// A request that a slot has worked on: when the request came, and when the slot began.
    pub fn request(&self, (came, begun): (Instant, Instant), slot: usize, arguments: impl FnOnce() -> Value) {
        if let Some(writer) = &self.0 {
            writer.borrow_mut().request((came, begun), slot, &arguments());
        }
    }

    /// Ends the file.
    pub fn finish(&self) {
        if let Some(writer) = &self.0 {
            writer.borrow_mut().finish();
        }
    }
}

impl Writer {
    fn new(file: Box<dyn Write>, slots: usize, left: usize) -> Self {
        let mut writer = Self { file, start: Instant::now(), left, requests: 0 };
        writer.put("[");
        let process = json!({ "ph": "M", "name": "process_name", "pid": PROCESS, "args": { "name": "server" } });
        writer.put(&format!("\n{process}"));
        for slot in 0..slots {
            let name = json!({ "name": format!("slot {slot}") });
            writer
                .event(&json!({ "ph": "M", "name": "thread_name", "pid": PROCESS, "tid": thread(slot), "args": name }));
        }
        writer
    }

    fn span(&mut self, (begin, end): (Instant, Instant), slot: usize, name: &str, arguments: &Value) {
        let length = end.saturating_duration_since(begin).as_nanos() as f64 / 1e3;
        self.event(&json!({
            "ph": "X", "name": name, "cat": "slot", "pid": PROCESS, "tid": thread(slot), "ts": self.micros(begin),
            "dur": length, "args": arguments,
        }));
    }

    fn request(&mut self, (came, begun): (Instant, Instant), slot: usize, arguments: &Value) {
        self.requests += 1;
        for (phase, time) in [("b", came), ("e", begun)] {
            self.event(&json!({
                "ph": phase, "name": "queue", "cat": "queue", "id": self.requests, "pid": PROCESS, "tid": thread(slot),
                "ts": self.micros(time),
            }));
        }
        self.span((begun, Instant::now()), slot, &format!("request {}", self.requests), arguments);
        let flushed = self.file.flush();
        self.stop_at(flushed);
    }

    fn finish(&mut self) {
        let finished = self.file.write_all(b"\n]\n").and_then(|()| self.file.flush());
        self.stop_at(finished);
    }

    fn event(&mut self, event: &Value) {
        self.put(&format!(",\n{event}"));
    }

    /// Writes a part, if the part is within the limit.
    fn put(&mut self, text: &str) {
        match self.left.checked_sub(text.len()) {
            Some(left) => {
                self.left = left;
                let written = self.file.write_all(text.as_bytes());
                self.stop_at(written);
            }
            None => self.left = 0,
        }
    }

    /// A full disk ends the trace, and not the server.
    fn stop_at(&mut self, written: io::Result<()>) {
        if written.is_err() {
            self.left = 0;
        }
    }

    fn micros(&self, time: Instant) -> f64 {
        time.saturating_duration_since(self.start).as_nanos() as f64 / 1e3
    }
}

/// A new file in the place of an earlier trace. Another file stays: it may be the program file, which is mapped.
fn created(path: &Path) -> io::Result<File> {
    let mut first = [0];
    let is_other =
        File::open(path).is_ok_and(|mut file| file.read(&mut first).is_ok_and(|read| read == 1 && first != *b"["));
    if is_other {
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, "the file is no trace: remove it, or name another"));
    }
    File::create(path)
}

/// The thread of a slot.
const fn thread(slot: usize) -> usize {
    slot + 1
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;

    #[test]
    fn a_file_that_is_no_trace_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let [program, trace] = ["model.pte", "trace.json"].map(|name| folder.path().join(name));
        std::fs::write(&program, "weights").unwrap();
        assert_eq!(created(&program).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(std::fs::read(&program).unwrap(), b"weights");
        for _ in 0..2 {
            created(&trace).unwrap().write_all(b"[{}").unwrap();
        }
        assert_eq!(std::fs::read(&trace).unwrap(), b"[{}");
    }

    /// A file that a test reads.
    #[derive(Clone, Default)]
    struct Shared(Rc<RefCell<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.borrow_mut().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// The events of a trace of so many requests, each with a step.
    fn traced(requests: usize, most: usize) -> Vec<Value> {
        let file = Shared::default();
        let trace = Trace(Some(RefCell::new(Writer::new(Box::new(file.clone()), 2, most))));
        for _ in 0..requests {
            let begin = trace.begin().unwrap();
            trace.span(Some(begin), 1, "decode", || json!({}));
            trace.request((begin, begin), 1, || json!({ "prompt": 3 }));
        }
        trace.finish();
        let bytes = file.0.borrow();
        serde_json::from_slice(&bytes).unwrap()
    }

    #[test]
    fn a_request_has_its_queue_its_slot_and_its_steps() {
        let events = traced(1, MOST);
        let phases: Vec<&str> = events.iter().map(|event| event["ph"].as_str().unwrap()).collect();
        assert_eq!(phases, ["M", "M", "M", "X", "b", "e", "X"]);
        assert_eq!((&events[6]["name"], &events[6]["args"]["prompt"]), (&"request 1".into(), &3.into()));
        assert_eq!(events[3]["tid"], 2);
    }

    #[test]
    fn a_trace_ends_at_its_limit_and_stays_an_array() {
        let events = traced(1000, 10_000);
        assert!((20..200).contains(&events.len()), "{}", events.len());
    }
}
