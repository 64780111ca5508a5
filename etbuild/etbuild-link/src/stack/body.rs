//! The stack frame of a function, and the functions that it calls.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::image::Image;
use super::instruction::{Flow, Instruction, Stack, Target};
use super::registers::{Known, Registers};

/// What a function does with the stack.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Body {
    /// The most bytes in use, without those of callees.
    pub most: u32,
    /// The calls, with the bytes in use at each.
    pub calls: Vec<(Callee, u32)>,
    /// The constants that are given to callees or stored: a pointer elsewhere may have them.
    pub given: BTreeSet<u32>,
}

/// A called function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Callee {
    At(u32),
    /// One of the functions that a pointer may point at.
    Pointer,
}

/// Why a function takes no number of bytes that its instructions show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unclear {
    /// A computed number of bytes.
    Computed,
    /// More in each turn of a loop.
    Grows,
}

/// The most bytes that a function can be taken to use: beyond, a loop makes the stack grow.
const MOST: u32 = 1 << 24;

impl Body {
    /// The body of the function with the instructions of a range, entered at its start.
    pub fn of(image: &Image<'_>, range: Range<u32>) -> Result<Self, Unclear> {
        let decoder = image.decoder();
        let mut walk = Walk {
            image,
            instructions: image.instructions(range.clone()),
            of_callers: decoder.of_callers(),
            arguments: decoder.arguments(),
            range,
            states: BTreeMap::new(),
            open: Vec::new(),
            jumps: Vec::new(),
            body: Self::default(),
        };
        walk.reach(walk.range.start, &State::default());
        walk.follow()?;
        if !walk.jumps.is_empty() {
            walk.follow_jumps()?;
        }
        walk.body.calls.sort_unstable();
        walk.body.calls.dedup();
        Ok(walk.body)
    }
}

/// The stack and the registers before an instruction, on every path to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct State {
    /// The most bytes in use.
    depth: u32,
    registers: Registers,
}

/// The bytes that come into use.
fn change(stack: Stack, registers: &Registers) -> Result<i32, Unclear> {
    match stack {
        Stack::Same => Ok(0),
        Stack::Changes(change) => Ok(change),
        Stack::Adds(register, sign) => match registers.get(register) {
            Some(Known::Constant(value)) => Ok(-sign.wrapping_mul(value.cast_signed())),
            _ => Err(Unclear::Computed),
        },
        // Either the rounded pointer, or its value from before the frame, which then ends.
        Stack::Moves(register) => match registers.get(register) {
            Some(Known::Rounded(bytes)) => Ok(bytes.cast_signed()),
            _ => Ok(0),
        },
    }
}

/// A walk over all paths through a function.
struct Walk<'i> {
    image: &'i Image<'i>,
    range: Range<u32>,
    instructions: BTreeMap<u32, Instruction>,
    /// The registers that a call may change.
    of_callers: u32,
    /// The registers with the arguments of a call.
    arguments: u32,
    /// By instruction.
    states: BTreeMap<u32, State>,
    /// Instructions to be looked at.
    open: Vec<u32>,
    /// Jumps by registers that may be to a place of this function, with the bytes in use.
    jumps: Vec<(Target, u32)>,
    body: Body,
}

impl Walk<'_> {
    fn follow(&mut self) -> Result<(), Unclear> {
        while let Some(address) = self.open.pop() {
            let Some(instruction) = self.instructions.get(&address).copied() else { continue };
            let mut state = self.states[&address].clone();
            state.depth = state.depth.saturating_add_signed(change(instruction.stack, &state.registers)?);
            self.body.given.extend(state.registers.constants(instruction.stores));
            state.registers.write(instruction.write);
            if state.depth > MOST {
                return Err(Unclear::Grows);
            }
            self.body.most = self.body.most.max(state.depth);
            self.go(address, instruction, state);
        }
        Ok(())
    }

    fn go(&mut self, address: u32, instruction: Instruction, mut state: State) {
        let next = address + instruction.size;
        let known = |register, offset| match state.registers.get(register) {
            Some(Known::Constant(value)) => Some(value.wrapping_add_signed(offset) & !1),
            _ => None,
        };
        match instruction.flow {
            Flow::Next => self.reach(next, &state),
            Flow::Jump(to) => self.reach(to, &state),
            Flow::Branch(to) => {
                self.reach(to, &state);
                self.reach(next, &state);
            }
            // A place of this function: Armv6-M has no other branch that goes farther than 2 KiB.
            Flow::Call(to) if to != self.range.start && self.range.contains(&to) => {
                state.registers.forget(self.of_callers & !self.arguments);
                self.reach(to, &state);
            }
            Flow::Call(to) => self.call(Callee::At(to), next, state),
            Flow::CallRegister(register, offset) => {
                self.call(known(register, offset).map_or(Callee::Pointer, Callee::At), next, state);
            }
            Flow::JumpRegister(register, offset, target) => match (known(register, offset), target) {
                (Some(to), Target::Function | Target::Either) => self.reach(to, &state),
                (None, Target::Function) => {
                    self.body.calls.push((Callee::Pointer, state.depth));
                    self.body.given.extend(state.registers.constants(self.arguments));
                }
                (_, target) => self.jumps.push((target, state.depth)),
            },
            Flow::Table(size) => {
                self.image.table(address, size).into_iter().for_each(|place| self.reach(place, &state));
            }
            Flow::Return | Flow::Stop => {}
        }
    }

    /// A call. One at the end of a function does not return.
    fn call(&mut self, callee: Callee, next: u32, mut state: State) {
        self.body.calls.push((callee, state.depth));
        self.body.given.extend(state.registers.constants(self.arguments));
        if next < self.range.end {
            state.registers.forget(self.of_callers);
            self.reach(next, &state);
        }
    }

    /// Follows jumps by registers, whose tables are not read: each instruction that no other path reaches begins a basic block that a table
    /// names. A function without such a block has no table, and jumps to other functions, if its frame has been left.
    fn follow_jumps(&mut self) -> Result<(), Unclear> {
        let depth = self.jumps.iter().map(|(_, depth)| *depth).max().unwrap_or_default();
        let (state, known) = (State { depth, ..State::default() }, self.states.len());
        let addresses: Vec<u32> = self.instructions.keys().copied().collect();
        for place in addresses {
            if !self.states.contains_key(&place) {
                self.reach(place, &state);
                self.follow()?;
            }
        }
        if self.states.len() == known {
            let calls = self.jumps.iter().filter(|jump| **jump == (Target::Either, 0));
            self.body.calls.extend(calls.map(|(_, depth)| (Callee::Pointer, *depth)));
        }
        Ok(())
    }

    fn reach(&mut self, address: u32, state: &State) {
        if !self.range.contains(&address) {
            // A jump to another function, or the way into the next one.
            self.body.calls.push((Callee::At(address), state.depth));
            self.body.given.extend(state.registers.constants(self.arguments));
            return;
        }
        let Some(known) = self.states.get_mut(&address) else {
            self.states.insert(address, state.clone());
            return self.open.push(address);
        };
        let depth = known.depth.max(state.depth);
        let is_new = known.registers.keep_common(&state.registers) || depth > known.depth;
        known.depth = depth;
        if is_new {
            self.open.push(address);
        }
    }
}
