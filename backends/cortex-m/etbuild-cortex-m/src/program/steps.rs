//! The instructions of a partition in order, with the memory that they use.

use std::rc::Rc;

use et_cortex_m::{ALIGNMENT, Instruction, Place};
use et_record::Record;
use etbuild_backend::{Life, fill_memory, plan_scratch};

/// The memory of a buffer.
#[derive(Clone, Copy, Debug)]
pub enum Storage {
    /// An argument of the call, and how many of its bytes are free behind the last instruction that uses it.
    Argument {
        /// The position.
        position: u32,
        /// Bytes.
        free: usize,
    },
    /// Bytes of scratch.
    Scratch(usize),
}

/// The memory of all buffers.
pub struct Plan {
    /// The places, by buffer.
    pub places: Vec<Place>,
    /// The bytes of scratch.
    pub scratch: usize,
}

/// The places of buffers in the memory of arguments, and the lives of the buffers that are left for scratch.
struct Homes {
    places: Vec<Option<Place>>,
    left: Vec<Option<Life>>,
}

/// Instructions and buffers. The argument of a place is the number of a buffer, and its offset one within the buffer.
#[derive(Clone, Default)]
pub struct Steps {
    /// The buffers.
    pub buffers: Vec<Storage>,
    /// The instructions.
    pub instructions: Vec<Instruction>,
    /// The value that each instruction computes.
    pub layers: Vec<Rc<str>>,
}

impl Steps {
    /// Adds an instruction that computes the value `layer`.
    pub fn push(&mut self, instruction: Instruction, layer: impl Into<Rc<str>>) {
        self.instructions.push(instruction);
        self.layers.push(layer.into());
    }

    /// Whether a buffer is scratch.
    pub fn is_scratch(&self, buffer: usize) -> bool {
        matches!(self.buffers.get(buffer), Some(Storage::Scratch(_)))
    }

    /// The buffers that an instruction uses.
    pub fn used(&self, position: usize) -> Vec<usize> {
        let mut used = Vec::new();
        let mut instruction = self.instructions.get(position).copied();
        instruction.iter_mut().for_each(|one| one.visit(&mut |operand| used.push(*operand.memory as usize)));
        used
    }

    /// The memory of all buffers, of a call with so many arguments before the scratch.
    pub fn plan(&self, arguments: u32) -> Plan {
        let Homes { places, left } = self.homes();
        let scratch = plan_scratch(&self.sizes(), &left, ALIGNMENT);
        let beside = |start: usize| Place { argument: arguments, offset: start as u32 };
        let places = places.iter().zip(scratch.starts).map(|(place, start)| place.unwrap_or(beside(start)));
        Plan { places: places.collect(), scratch: scratch.size }
    }

    /// The bytes of scratch.
    pub fn scratch(&self) -> usize {
        self.plan(0).scratch
    }

    /// The most bytes of scratch that an instruction needs: no plan is smaller.
    pub fn most_at_once(&self) -> usize {
        let mut changes = vec![0_isize; self.instructions.len() + 1];
        for (size, life) in self.sizes().iter().zip(self.homes().left) {
            let (Some((first, last)), size) = (life, size.next_multiple_of(ALIGNMENT) as isize) else { continue };
            changes[first] += size;
            changes[last + 1] -= size;
        }
        let used = changes.into_iter().scan(0, |used, change| {
            *used += change;
            Some(*used)
        });
        used.max().unwrap_or(0).unsigned_abs()
    }

    /// The buffers in the memory of arguments: the arguments, and scratch that lives behind the last use of an argument which nothing else reads.
    fn homes(&self) -> Homes {
        let (sizes, lives) = (self.sizes(), self.lives());
        let mut homes = Homes { places: vec![None; self.buffers.len()], left: lives.clone() };
        for (buffer, storage) in self.buffers.iter().enumerate() {
            let Storage::Argument { position, free } = *storage else { continue };
            let place = |offset: usize| Some(Place { argument: position, offset: offset as u32 });
            (homes.places[buffer], homes.left[buffer]) = (place(0), None);
            let Some((_, last)) = lives[buffer].filter(|_| free > 0) else { continue };
            let over = self.quantized_in_place(buffer, last, &lives);
            let fits = |other: usize, life: &Life| self.is_scratch(other) && (life.0 > last || Some(other) == over);
            let later = homes.left.iter().enumerate().map(|(other, life)| life.filter(|life| fits(other, life)));
            let later: Vec<Option<Life>> = later.collect();
            for (other, start) in fill_memory(free, over, &sizes, &later, ALIGNMENT) {
                (homes.places[other], homes.left[other]) = (place(start), None);
            }
        }
        homes
    }

    /// The result of the last instruction that reads a buffer, if that may lie at the start of the buffer: the integers of numbers in the same
    /// order, which the kernel writes behind its reads.
    fn quantized_in_place(&self, buffer: usize, last: usize, lives: &[Option<Life>]) -> Option<usize> {
        let (input, output, order) = match self.instructions.get(last)? {
            Instruction::Quantize(step) => (step.input, step.output, [step.channels, step.pixels, step.pitch]),
            Instruction::Quantize16(step) => (step.input, step.output, [step.channels, step.pixels, step.pitch]),
            _ => return None,
        };
        let [channels, pixels, pitch] = order;
        let is_in_order = pitch == pixels && (channels == 1 || pixels == 1);
        let starts = [input, output].iter().all(|place| place.offset == 0) && input.argument as usize == buffer;
        let is_new =
            lives.get(output.argument as usize).is_some_and(|life| life.is_some_and(|(first, _)| first == last));
        (is_in_order && starts && is_new).then_some(output.argument as usize)
    }

    fn sizes(&self) -> Vec<usize> {
        let size = |storage: &Storage| if let Storage::Scratch(size) = storage { *size } else { 0 };
        self.buffers.iter().map(size).collect()
    }

    /// The first and the last instruction of each buffer.
    pub fn lives(&self) -> Vec<Option<Life>> {
        let mut lives: Vec<Option<Life>> = vec![None; self.buffers.len()];
        for position in 0..self.instructions.len() {
            for buffer in self.used(position) {
                let life = &mut lives[buffer];
                *life = Some((life.map_or(position, |(first, _)| first), position));
            }
        }
        lives
    }
}
