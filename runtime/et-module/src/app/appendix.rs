//! The end of a finished prebuilt runtime: the facts of one program, which generated code states in other binaries.
//!
//! A prebuilt runtime is compiled before its program is known. Behind its last byte follow the program file, where the binary
//! carries it, at a multiple of 64; texts of UTF-8, each with a 0 at its end: the command line's kind, the binary's name, the
//! method and the inputs; and a footer: the size of the program file and of the texts, and [`MAGIC`], each of 8 bytes, little-endian.

use std::ops::Range;
use std::process::ExitCode;

use super::{Failure, ProgramSource, end, own_path};
use crate::{Error, FileBytes};

/// The last bytes of a finished prebuilt runtime.
const MAGIC: [u8; 8] = *b"ETAPPEND";
const FOOTER: usize = 24;

/// The command line of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CommandLine {
    /// Tensors in, tensors out.
    Tensors,
    /// A prompt in, a text out.
    Language,
    /// A prompt in, a picture out.
    Pictures,
}

impl CommandLine {
    const ALL: [Self; 3] = [Self::Tensors, Self::Language, Self::Pictures];

    /// The name in an appendix.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tensors => "tensors",
            Self::Language => "language",
            Self::Pictures => "pictures",
        }
    }
}

/// The program of a prebuilt runtime.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Appendix {
    /// The command line that runs the program.
    pub command_line: CommandLine,
    /// The binary's name.
    pub name: String,
    /// The method that runs where the command line names no method.
    pub method: String,
    /// The names of the method's inputs, in order.
    pub inputs: Vec<String>,
}

/// What generated code states of a program, read from the binary's own file.
#[derive(Clone, Copy, Debug)]
pub struct Prebuilt {
    /// The command line that runs the program.
    pub command_line: CommandLine,
    /// The binary's name.
    pub name: &'static str,
    /// The program file.
    pub program: ProgramSource,
    /// The method that runs where the command line names no method.
    pub method: &'static str,
    /// The names of the method's inputs, in order.
    pub input_names: &'static [&'static str],
}

impl Appendix {
    /// A prebuilt runtime, finished: with this appendix, and with the program file where the binary carries it.
    pub fn finish(&self, runtime: &[u8], program: Option<&[u8]>) -> Vec<u8> {
        let mut file = runtime.to_vec();
        if let Some(program) = program {
            file.resize(file.len().next_multiple_of(FileBytes::ALIGNMENT), 0);
            file.extend_from_slice(program);
        }
        let texts = self.texts();
        file.extend_from_slice(texts.as_bytes());
        for size in [program.map_or(0, <[u8]>::len), texts.len()] {
            file.extend_from_slice(&(size as u64).to_le_bytes());
        }
        file.extend_from_slice(&MAGIC);
        file
    }

    fn texts(&self) -> String {
        let heads = [self.command_line.name(), &self.name, &self.method];
        heads.into_iter().chain(self.inputs.iter().map(String::as_str)).map(|text| format!("{text}\0")).collect()
    }

    /// The appendix of a finished runtime, and the place of the program file in it; `None` for another file.
    fn parse(file: &[u8]) -> Option<(Self, Option<Range<usize>>)> {
        let (content, footer) = file.split_at_checked(file.len().checked_sub(FOOTER)?)?;
        let (sizes, magic) = footer.split_at_checked(16)?;
        if magic != MAGIC {
            return None;
        }
        let size = |at: usize| usize::try_from(u64::from_le_bytes(sizes.get(at..at + 8)?.try_into().ok()?)).ok();
        let (content, texts) = content.split_at_checked(content.len().checked_sub(size(8)?)?)?;
        let mut texts = std::str::from_utf8(texts).ok()?.split_terminator('\0').map(str::to_owned);
        let program = content.len().checked_sub(size(0)?)?..content.len();
        let kind = texts.next()?;
        let command_line = CommandLine::ALL.into_iter().find(|known| known.name() == kind)?;
        let appendix = Self { command_line, name: texts.next()?, method: texts.next()?, inputs: texts.collect() };
        Some((appendix, Some(program).filter(|program| !program.is_empty())))
    }
}

impl Prebuilt {
    /// Reads what is appended to the file of this process. The texts live as long as the process.
    ///
    /// # Errors
    /// The exit code of the process, which has said why, for a runtime without a program.
    pub fn of_this_process() -> Result<Self, ExitCode> {
        Self::read().map_err(|failure| {
            let name = own_path().file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            end(&name, Err(failure), &mut std::io::stdout(), &mut std::io::stderr()).into()
        })
    }

    fn read() -> Result<Self, Failure> {
        let file = FileBytes::open(&own_path()).map_err(Failure::failed)?;
        let unfinished = || Failure::Failed("this runtime has no program: `etbuild deploy` finishes it".to_owned());
        let (Appendix { command_line, name, method, inputs }, program) =
            Appendix::parse(&file).ok_or_else(unfinished)?;
        let program = match program {
            Some(place) => ProgramSource::Appended { start: place.start, end: place.end },
            None => ProgramSource::Beside(kept(format!("{name}.pte"))),
        };
        let inputs: Vec<&'static str> = inputs.into_iter().map(kept).collect();
        Ok(Self { command_line, name: kept(name), program, method: kept(method), input_names: Vec::leak(inputs) })
    }
}

/// A text for the life of the process, which reads its appendix once.
fn kept(text: String) -> &'static str {
    String::leak(text)
}

/// A part of the process's own file.
pub(super) fn own_part(range: Range<usize>) -> Result<FileBytes, Error> {
    Ok(FileBytes::open(&own_path())?.part(range))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn appendix() -> Appendix {
        let inputs = vec!["x".to_owned(), "a line\nand another".to_owned()];
        Appendix { command_line: CommandLine::Tensors, name: "digits".to_owned(), method: "forward".to_owned(), inputs }
    }

    #[test]
    fn a_finished_runtime_begins_with_the_runtime_and_ends_with_the_program() {
        let finished = appendix().finish(b"ELF", Some(b"program"));
        assert!(finished.starts_with(b"ELF"));
        let (read, place) = Appendix::parse(&finished).unwrap();
        let place = place.unwrap();
        assert_eq!((read, place.start % 64), (appendix(), 0));
        assert_eq!(&finished[place], b"program");
    }

    #[test]
    fn the_program_may_lie_beside() {
        let none = Appendix { inputs: Vec::new(), ..appendix() };
        assert_eq!(Appendix::parse(&none.finish(b"ELF", None)), Some((none, None)));
    }

    #[test]
    fn other_files_and_cut_ones_have_no_appendix() {
        let finished = appendix().finish(b"ELF", Some(b"program"));
        assert_eq!(Appendix::parse(b"ELF"), None);
        for cut in 0..finished.len() {
            assert_eq!(Appendix::parse(&finished[..cut]), None);
        }
        let footer = [&[0xff; 16][..], &MAGIC].concat();
        assert_eq!(Appendix::parse(&footer), None);
    }
}
