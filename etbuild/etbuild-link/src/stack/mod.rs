//! The most bytes of stack that firmware can use, from its instructions.
//!
//! The linker's map names the functions. In each of them, all paths are followed: what an instruction adds to the stack, and which
//! functions are called with how many bytes in use. The bound is the deepest chain of calls from the first instruction. A call
//! through a pointer that is no constant reaches every function whose address is a word of constants or variables, is stored, or is an argument of a call; the kernels of the program's table only where the runtime calls. The one exception of
//! firmware that returns, the system timer's of a Cortex-M, may come at the deepest point.

mod body;
mod image;
mod instruction;
mod registers;
mod riscv;
mod thumb;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use body::{Body, Callee, Unclear};
use image::{Image, TICK};

/// What the instructions of firmware say of the stack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum StackUse {
    /// The most bytes that are in use at once.
    Bounded(StackBound),
    /// No bound follows from the instructions.
    Unbounded {
        /// The reason, a sentence without a full stop.
        reason: String,
    },
}

/// The most bytes of the stack that are in use at once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StackBound {
    /// Bytes.
    pub bytes: u32,
    /// The calls that take them, the outermost first.
    pub calls: Vec<Frame>,
}

/// A function in a chain of calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    /// The function.
    pub function: String,
    /// The bytes in use at the call of the next function, and of the last function the most.
    pub bytes: u32,
}

impl StackUse {
    /// The stack of a linked file with the linker's map; `None` for a file that is not of a 32-bit microcontroller, or a map of
    /// another linker than LLD.
    pub fn of(binary: &[u8], map: &str) -> Option<Self> {
        let image = Image::new(binary, map).filter(Image::has_stack)?;
        let entry = image.entry()?;
        let mut search = Search::new(image);
        Some(match search.need(entry) {
            Ok(bytes) => {
                let mut calls = search.chain(entry);
                let interrupt = search.image.interrupt();
                calls.extend(interrupt.map(|pushed| Frame { function: TICK.to_owned(), bytes: bytes + pushed }));
                Self::Bounded(StackBound { bytes: bytes + interrupt.unwrap_or_default(), calls })
            }
            Err(reason) => Self::Unbounded { reason },
        })
    }

    /// The stack of calls of a library: of a file that is linked of it alone, with the linker's map, and of the functions that callers know. Hooks and interrupts
    /// are the caller's.
    pub fn of_library(binary: &[u8], map: &str, functions: &[String]) -> Option<Self> {
        let image = Image::new(binary, map)?;
        let functions: Vec<u32> = functions.iter().map(|name| image.function(name)).collect::<Option<_>>()?;
        let mut search = Search::new(image);
        search.runtime.extend(&functions);
        // Callers have their addresses, and the library has not: a constant may be equal to one.
        functions.iter().for_each(|function| _ = search.taken.remove(function));
        let needs: Result<Vec<(u32, u32)>, String> =
            functions.iter().map(|function| Ok((search.need(*function)?, *function))).collect();
        Some(match needs {
            Ok(needs) => {
                let (bytes, deepest) = needs.into_iter().max()?;
                Self::Bounded(StackBound { bytes, calls: search.chain(deepest) })
            }
            Err(reason) => Self::Unbounded { reason },
        })
    }

    /// The bound of the stack, where the instructions show a bound.
    pub const fn bound(&self) -> Option<&StackBound> {
        match self {
            Self::Bounded(bound) => Some(bound),
            Self::Unbounded { .. } => None,
        }
    }
}

/// A search of the deepest chain, by depth first.
struct Search<'f> {
    image: Image<'f>,
    /// What the functions do, or why that is not clear.
    bodies: BTreeMap<u32, Result<Body, String>>,
    /// The kernels of the table, which the runtime calls.
    kernels: BTreeSet<u32>,
    /// The functions that other pointers may point at.
    taken: BTreeSet<u32>,
    /// The functions of a library that the runtime may be merged with.
    runtime: BTreeSet<u32>,
    /// By function: the bytes, and where the deepest chain goes on, with the bytes in use there.
    needs: BTreeMap<u32, Need>,
    /// The functions on the way to the one that is looked at.
    open: Vec<u32>,
}

struct Need {
    bytes: u32,
    deepest: Option<(u32, u32)>,
}

impl<'f> Search<'f> {
    /// The search in an image, whose functions are all looked at.
    fn new(image: Image<'f>) -> Self {
        let bodies: BTreeMap<u32, Result<Body, String>> =
            image.functions().map(|function| (function, body(&image, function))).collect();
        let given = bodies.values().flatten().flat_map(|body| body.given.iter().copied());
        let given = given.filter_map(|value| image.pointed(value));
        let (kernels, stored) = image.stored();
        let mut taken: BTreeSet<u32> = stored.into_iter().chain(given).collect();
        if let Some(entry) = image.entry() {
            taken.remove(&entry);
        }
        Self { image, bodies, kernels, taken, runtime: BTreeSet::new(), needs: BTreeMap::new(), open: Vec::new() }
    }

    fn need(&mut self, function: u32) -> Result<u32, String> {
        if let Some(known) = self.needs.get(&function) {
            return Ok(known.bytes);
        }
        if let Some(start) = self.open.iter().position(|open| *open == function) {
            return Err(self.cycle(&self.open[start..]));
        }
        self.open.push(function);
        // A place within a function, which another one jumps to, is not among the functions.
        let found = self.bodies.entry(function).or_insert_with(|| body(&self.image, function)).as_ref();
        let Body { most, calls, .. } = found.map_err(String::clone)?;
        let (most, calls) = (*most, calls.clone());
        let mut need = Need { bytes: most, deepest: None };
        for (callee, depth) in calls {
            let callees = match callee {
                Callee::At(address) => vec![address],
                Callee::Pointer if self.image.calls_hook(function) => Vec::new(),
                Callee::Pointer if self.image.calls_kernels(function) || self.runtime.contains(&function) => {
                    self.taken.union(&self.kernels).copied().collect()
                }
                Callee::Pointer => self.taken.iter().copied().collect(),
            };
            for callee in callees {
                let bytes = depth + self.need(callee)?;
                if bytes > need.bytes {
                    (need.bytes, need.deepest) = (bytes, Some((callee, depth)));
                }
            }
        }
        self.open.pop();
        let bytes = need.bytes;
        self.needs.insert(function, need);
        Ok(bytes)
    }

    /// The sentence about functions that call each other in a circle.
    fn cycle(&self, functions: &[u32]) -> String {
        let names: Vec<String> = functions.iter().map(|function| format!("`{}`", self.image.name(*function))).collect();
        match names.split_first() {
            Some((first, [])) => format!("{first} may call itself"),
            _ => format!("{} may call each other in a circle", names.join(", ")),
        }
    }

    /// The deepest chain of calls from a function, whose need is known.
    fn chain(&self, function: u32) -> Vec<Frame> {
        let (mut chain, mut next) = (Vec::new(), Some(function));
        while let Some((function, need)) = next.and_then(|function| Some((function, self.needs.get(&function)?))) {
            let bytes = need.deepest.map_or(need.bytes, |(_, depth)| depth);
            chain.push(Frame { function: self.image.name(function).to_owned(), bytes });
            next = need.deepest.map(|(callee, _)| callee);
        }
        chain
    }
}

fn body(image: &Image<'_>, function: u32) -> Result<Body, String> {
    let range = image.range(function).ok_or_else(|| format!("there are no instructions at {function:#x}"))?;
    Body::of(image, range).map_err(|unclear| match unclear {
        Unclear::Computed => format!("`{}` takes a computed number of bytes", image.name(function)),
        Unclear::Grows => format!("a loop of `{}` takes more in each turn", image.name(function)),
    })
}

#[cfg(test)]
mod tests;
