//! The constants of a blob, one after the other, each at a multiple of a cache line.

use std::collections::BTreeMap;

use et_cpu::ALIGNMENT;
use etbuild_ir::Digest;
use rayon::prelude::*;

use crate::pack::Packing;
use crate::{Isa, Problem};

/// Where constants lie, and what they are. Equal ones lie in one place.
pub struct Constants<'b> {
    isa: Isa,
    parts: Vec<Part<'b>>,
    end: usize,
    known: BTreeMap<Digest, usize>,
    packed: BTreeMap<Digest, Vec<(&'b Packing, usize)>>,
}

/// A constant and the bytes that it takes, those before the next one included.
struct Part<'b> {
    content: Content<'b>,
    length: usize,
    room: usize,
}

enum Content<'b> {
    Bytes(&'b [u8]),
    Packing(&'b Packing),
}

impl<'b> Constants<'b> {
    /// No constants yet.
    pub const fn new(isa: Isa) -> Self {
        Self { isa, parts: Vec::new(), end: 0, known: BTreeMap::new(), packed: BTreeMap::new() }
    }

    /// The place of some bytes.
    pub fn add(&mut self, bytes: &'b [u8]) -> usize {
        let digest = Digest::of(bytes);
        if let Some(start) = self.known.get(&digest) {
            return *start;
        }
        let start = self.append(Content::Bytes(bytes), bytes.len());
        self.known.insert(digest, start);
        start
    }

    /// The place of weights whose packed form has so many bytes.
    pub fn pack(&mut self, packing: &'b Packing, size: usize) -> usize {
        let digest = packing.weights.digest();
        let alike = self.packed.get(&digest).and_then(|all| all.iter().find(|(other, _)| other.is_alike(packing)));
        if let Some((_, start)) = alike {
            return *start;
        }
        let start = self.append(Content::Packing(packing), size);
        self.packed.entry(digest).or_default().push((packing, start));
        start
    }

    fn append(&mut self, content: Content<'b>, length: usize) -> usize {
        let (start, room) = (self.end, length.next_multiple_of(ALIGNMENT));
        self.parts.push(Part { content, length, room });
        self.end += room;
        start
    }

    /// The bytes of all together.
    pub const fn size(&self) -> usize {
        self.end
    }

    /// Writes all of them into as many bytes, side by side on all processors.
    ///
    /// # Errors
    /// [`Problem::Weights`] where weights contradict their shape.
    pub fn write(&self, mut bytes: &mut [u8]) -> Result<(), Problem> {
        let mut tasks = Vec::new();
        for part in &self.parts {
            let own = bytes.split_off_mut(..part.room).and_then(|room| room.get_mut(..part.length));
            tasks.push((part, own.ok_or(Problem::Large)?));
        }
        tasks.into_par_iter().try_for_each(|(part, bytes)| match part.content {
            Content::Packing(packing) => packing.write(self.isa, bytes),
            Content::Bytes(content) => {
                bytes.copy_from_slice(content);
                Ok(())
            }
        })
    }
}
