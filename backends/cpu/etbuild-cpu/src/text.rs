//! The text of a program, for golden tests and for people: an instruction per line, as its record is declared in `et-cpu`. Fields with
//! their default value are left out.
//!
//! An operand is `input0`, `output0`, `constant3`, `weights4` or, in the scratch arena, `%5`.

use std::fmt::{Debug, Write as _};

use et_cpu::{Elementwise, Instruction, SlotNumber};
use et_record::{Record, Text};

use crate::memory::{lay_out, lives};
use crate::program::{Program, Storage};

/// The text of a program, with the size of the scratch arena.
pub fn text(program: &Program<'_>) -> String {
    let mut text = String::new();
    let instructions: Vec<Instruction> = program.instructions.iter().copied().flatten().collect();
    for instruction in &instructions {
        let mut printer = Printer { program, open: vec![Vec::new()], names: Vec::new() };
        let formula = match instruction {
            Instruction::Elementwise(chain) => printer.chain(chain),
            other => {
                other.show(&mut printer);
                String::new()
            }
        };
        _ = writeln!(text, "{}{formula} {}", instruction.name(), printer.finish());
    }
    let lives = lives(program.buffers.len(), &instructions);
    _ = writeln!(text, "arena of {} bytes", lay_out(&program.buffers, &lives).size);
    text
}

/// Prints a record from the inside out.
struct Printer<'p> {
    program: &'p Program<'p>,
    /// The finished fields of each struct or array that is open, outermost first.
    open: Vec<Vec<(&'static str, String)>>,
    /// The names of the fields whose values are being printed.
    names: Vec<&'static str>,
}

impl Text for Printer<'_> {
    fn value(&mut self, value: &dyn Debug) {
        self.put(format!("{value:?}"));
    }

    fn operand(&mut self, memory: u32) {
        let slot = SlotNumber(memory);
        let text = match self.program.memory(slot).map(|memory| &memory.storage) {
            Some(Storage::Input(position)) => format!("input{position}"),
            Some(Storage::Output(position)) => format!("output{position}"),
            Some(Storage::Scratch) => format!("%{}", slot.0),
            Some(Storage::Packed(_) | Storage::Stacked(_)) => format!("weights{}", slot.0),
            Some(Storage::Model(_) | Storage::Made(_)) => format!("constant{}", slot.0),
            None => "none".to_owned(),
        };
        self.put(text);
    }

    fn begin(&mut self) {
        self.open.push(Vec::new());
    }

    fn name(&mut self, name: &'static str) {
        self.names.push(name);
    }

    fn end(&mut self) {
        let parts = self.open.pop().unwrap_or_default();
        let text = match &parts[..] {
            [("", _), ..] => format!("[{}]", joined(&parts)),
            [("place" | "slot", value)] => value.clone(),
            _ => format!("({})", joined(&parts)),
        };
        self.put(text);
    }
}

fn joined(parts: &[(&'static str, String)]) -> String {
    let part = |(name, value): &(&str, String)| format!("{name} {value}").trim_start().to_owned();
    parts.iter().map(part).collect::<Vec<_>>().join(", ")
}

impl Printer<'_> {
    /// Adds the value of the field or element that was named last.
    fn put(&mut self, value: String) {
        let name = self.names.pop().unwrap_or_default();
        if let Some(parts) = self.open.last_mut() {
            parts.push((name, value));
        }
    }

    fn finish(mut self) -> String {
        self.open.pop().and_then(|mut parts| parts.pop()).map(|(_, text)| text).unwrap_or_default()
    }

    /// Prints a chain without its steps, and returns the steps as a formula: each step is inside the step that reads it.
    fn chain(&mut self, chain: &Elementwise) -> String {
        let mut registers: Vec<String> = Vec::new();
        for stream in chain.streams.iter().take(chain.stream_count as usize) {
            stream.show(self);
            registers.extend(self.open.last_mut().and_then(Vec::pop).map(|(_, text)| text));
        }
        for step in chain.steps.iter().take(chain.step_count as usize) {
            let terms = step.terms.iter().take(step.operation.0.operand_count()).map(|term| match term.kind {
                0 => registers.get(term.bits as usize).cloned().unwrap_or_default(),
                _ => f32::from_bits(term.bits).to_string(),
            });
            let terms: Vec<String> = terms.collect();
            registers.push(format!("{:?}({})", step.operation.0, terms.join(", ")));
        }
        let (stream_count, step_count) = (0, 0);
        Elementwise { stream_count, step_count, streams: <_>::default(), steps: <_>::default(), ..*chain }.show(self);
        registers.pop().map(|formula| format!(" {formula}")).unwrap_or_default()
    }
}
