//! The file of a recording: what a binary writes for `--trace FILE`, and the desk reads. Names of values and lines of Python are known at
//! the desk only, so the file has numbers.
//!
//! All numbers are little-endian, a time has 8 bytes, a count 8, any other number 4. A list is a number of items and the items, a text a
//! number of bytes and UTF-8. Behind [`MAGIC`] follow
//!
//! | list of | each |
//! |---|---|
//! | texts | the kinds of the instructions of delegates |
//! | methods | the name; a list of callees: chain, instruction, text; a list of sizes of results: chain, instruction, step, count of bytes |
//! | threads | the name |
//! | executions | the method, begin, end; a list of events: chain, instruction, step, kind, begin, end |
//! | tasks | the thread, begin, end |
//!
//! and the count of events that were left out. A step is the number of a delegate's instruction plus one; 0 for the instruction of the method.

use std::borrow::Cow;
use std::collections::BTreeMap;

use et_runtime::Position;

use super::recorded::{Event, MethodFacts, Recording, Run, Task};

/// The most bytes of the kind of an instruction, since each event gets a copy.
const LONGEST_KIND: usize = 64;

/// The first bytes of a file.
const MAGIC: [u8; 8] = *b"ETTRACE1";

impl Recording {
    /// The bytes of the file. Results of instructions are left out.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut kinds: Vec<&str> = Vec::new();
        for (_, kind) in self.events().filter_map(|event| event.step.as_ref()) {
            if !kinds.contains(&&**kind) {
                kinds.push(kind);
            }
        }
        let mut out = Out(MAGIC.to_vec());
        out.list(&kinds, |out, kind| out.text(kind));
        out.list(&self.methods, Out::method);
        out.list(&self.threads, |out, name| out.text(name));
        out.list(&self.runs, |out, run| out.run(run, &kinds));
        out.list(&self.tasks, |out, task| {
            out.number(task.thread as u32);
            out.long(task.begin);
            out.long(task.end);
        });
        out.long(self.left_out as u64);
        out.0
    }

    /// Reads a file; `None` for another file, or for a damaged one.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let mut rest = In(bytes.strip_prefix(&MAGIC)?);
        let kinds = rest.list(|rest| rest.text().filter(|kind| kind.len() <= LONGEST_KIND))?;
        let recording = Self {
            methods: rest.list(In::method)?,
            threads: rest.list(In::text)?,
            runs: rest.list(|rest| rest.run(&kinds))?,
            tasks: rest
                .list(|rest| Some(Task { thread: rest.number()? as usize, begin: rest.long()?, end: rest.long()? }))?,
            left_out: usize::try_from(rest.long()?).ok()?,
        };
        let is_whole = recording.runs.iter().all(|run| run.method < recording.methods.len());
        (rest.0.is_empty() && is_whole).then_some(recording)
    }

    fn events(&self) -> impl Iterator<Item = &Event> {
        self.runs.iter().flat_map(|run| &run.events)
    }
}

/// The bytes so far.
struct Out(Vec<u8>);

impl Out {
    fn number(&mut self, number: u32) {
        self.0.extend(number.to_le_bytes());
    }

    fn long(&mut self, number: u64) {
        self.0.extend(number.to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u32);
        self.0.extend(text.as_bytes());
    }

    fn list<T>(&mut self, items: &[T], item: impl Fn(&mut Self, &T)) {
        self.number(items.len() as u32);
        items.iter().for_each(|each| item(self, each));
    }

    fn method(&mut self, facts: &MethodFacts) {
        self.text(&facts.name);
        self.number(facts.callees.len() as u32);
        for ((chain, instruction), callee) in &facts.callees {
            self.number(*chain);
            self.number(*instruction);
            self.text(callee);
        }
        self.number(facts.bytes.len() as u32);
        for ((chain, instruction, step), size) in &facts.bytes {
            self.number(*chain);
            self.number(*instruction);
            self.step(*step);
            self.long(*size as u64);
        }
    }

    fn step(&mut self, step: Option<u32>) {
        self.number(step.map_or(0, |step| step.saturating_add(1)));
    }

    fn run(&mut self, run: &Run, kinds: &[&str]) {
        self.number(run.method as u32);
        self.long(run.begin);
        self.long(run.end);
        self.list(&run.events, |out, event| {
            out.number(event.at.chain);
            out.number(event.at.instruction);
            out.step(event.step.as_ref().map(|(number, _)| *number));
            let kind = event.step.as_ref().and_then(|(_, kind)| kinds.iter().position(|known| known == kind));
            out.number(kind.unwrap_or(0) as u32);
            out.long(event.begin);
            out.long(event.end);
        });
    }
}

/// The bytes that are not read yet.
struct In<'b>(&'b [u8]);

impl In<'_> {
    fn number(&mut self) -> Option<u32> {
        let (number, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u32::from_le_bytes(*number))
    }

    fn long(&mut self) -> Option<u64> {
        let (number, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*number))
    }

    fn text(&mut self) -> Option<String> {
        let length = self.number()? as usize;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        String::from_utf8(text.to_vec()).ok()
    }

    /// A list. A damaged number of items reserves no memory.
    fn list<T>(&mut self, item: impl Fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        (0..self.number()?).map(|_| item(self)).collect()
    }

    fn method(&mut self) -> Option<MethodFacts> {
        let name = self.text()?;
        let callees = self.list(|rest| Some(((rest.number()?, rest.number()?), rest.text()?)))?;
        let bytes = self.list(|rest| {
            let key = (rest.number()?, rest.number()?, rest.step()?);
            Some((key, usize::try_from(rest.long()?).ok()?))
        })?;
        Some(MethodFacts { name, callees: BTreeMap::from_iter(callees), bytes: BTreeMap::from_iter(bytes) })
    }

    fn step(&mut self) -> Option<Option<u32>> {
        Some(self.number()?.checked_sub(1))
    }

    fn run(&mut self, kinds: &[String]) -> Option<Run> {
        let (method, begin, end) = (self.number()? as usize, self.long()?, self.long()?);
        let events = self.list(|rest| {
            let at = Position { chain: rest.number()?, instruction: rest.number()? };
            let (step, kind) = (rest.step()?, rest.number()? as usize);
            let step = match step {
                Some(step) => Some((step, Cow::Owned(kinds.get(kind)?.clone()))),
                None => None,
            };
            let (begin, end) = (rest.long()?, rest.long()?);
            Some(Event { at, step, begin, end, results: Vec::new(), memory: Vec::new() })
        })?;
        Some(Run { method, begin, end, events })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recording() -> Recording {
        let at = Position { chain: 0, instruction: 3 };
        let event = |step, begin, end| Event { at, step, begin, end, results: Vec::new(), memory: Vec::new() };
        let events = vec![event(Some((0, Cow::Borrowed("Conv2d"))), 5, 7), event(None, 4, 1 << 40)];
        let facts = MethodFacts {
            name: "forward".to_owned(),
            callees: BTreeMap::from([((0, 3), "EtbuildCpu".to_owned())]),
            bytes: BTreeMap::from([((0, 3, None), 0), ((0, 3, Some(0)), 40)]),
        };
        Recording {
            methods: vec![facts],
            runs: vec![Run { method: 0, begin: 3, end: 1 << 41, events }],
            tasks: vec![Task { thread: 1, begin: 6, end: 7 }],
            threads: vec!["main".to_owned(), "worker 1".to_owned()],
            left_out: 2,
        }
    }

    #[test]
    fn a_recording_comes_back_as_written() {
        assert_eq!(Recording::parse(&recording().to_bytes()), Some(recording()));
    }

    #[test]
    fn cut_and_other_files_are_refused() {
        let bytes = recording().to_bytes();
        for cut in 0..bytes.len() {
            assert_eq!(Recording::parse(&bytes[..cut]), None, "{cut}");
        }
        assert_eq!(Recording::parse(&[&bytes[..], &[0]].concat()), None);
        let endless = [&MAGIC[..], &[0xff; 64]].concat();
        assert_eq!(Recording::parse(&endless), None);
    }
}
