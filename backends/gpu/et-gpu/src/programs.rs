//! A blob with the programs of a partition for several classes of GPUs, of which a device takes one.

use et_core::Error;
use et_record::{Record, Words, records};

use crate::blob::checksum;
use crate::limits::Limits;
use crate::plan::Plan;
use crate::problem::{Outcome, Problem};

/// `ETGS`: several programs.
const MAGIC: u32 = u32::from_le_bytes(*b"ETGS");

/// The version of the list of programs.
const VERSION: u32 = 1;

records! {
    /// The beginning of a blob with several programs: the [`Program`]s follow, then the programs' own blobs.
    pub struct Programs {
        /// [`MAGIC`].
        pub magic: u32,
        /// [`VERSION`].
        pub version: u32,
        /// The [`checksum`] of the list of programs.
        pub checksum: u64,
        /// The number of [`Program`]s.
        pub programs: u32,
    }

    /// A program for a class of GPUs.
    pub struct Program {
        /// Whether the program is for drivers that compute on the CPU.
        pub on_cpu: bool,
        /// The words of the program's blob, which follows the blob of the program before.
        pub words: u32,
    }
}

/// The blob of several programs, each for drivers that compute on the CPU or not; a single program stands for itself.
pub fn list(mut programs: Vec<(bool, Vec<u8>)>) -> Vec<u8> {
    if programs.len() == 1 {
        return programs.swap_remove(0).1;
    }
    let mut table = Vec::new();
    for (on_cpu, blob) in &programs {
        let program = Program { on_cpu: *on_cpu, words: (blob.len() / 4) as u32 };
        program.write(&mut |word| table.extend(word.to_le_bytes()));
    }
    let (checksum, count) = (checksum(&table), programs.len() as u32);
    let header = Programs { magic: MAGIC, version: VERSION, checksum, programs: count };
    let mut bytes = Vec::new();
    header.write(&mut |word| bytes.extend(word.to_le_bytes()));
    bytes.extend(table);
    programs.into_iter().for_each(|(_, blob)| bytes.extend(blob));
    bytes
}

/// The checked program that a device executes: the first one of the device's class that the device can execute, or else the first one of
/// the others.
///
/// # Errors
/// [`Error::InvalidProgram`] for a malformed blob, [`Error::NotSupported`] where the device lacks something that every program needs.
pub fn choose(bytes: &[u8], limits: &Limits) -> Outcome<Plan> {
    if !is_list(bytes) {
        return Plan::read(bytes, limits);
    }
    let mut programs = read(bytes).ok_or_else(|| Problem::new(Error::InvalidProgram, "the GPU program is damaged"))?;
    programs.sort_by_key(|(program, _)| program.on_cpu != limits.on_cpu);
    let mut lacking = None;
    for (_, blob) in programs {
        match Plan::read(blob, limits) {
            Err(problem) if problem.error == Error::NotSupported => lacking = lacking.or(Some(problem)),
            answer => return answer,
        }
    }
    Err(lacking.unwrap_or_else(|| Problem::blob("there is no GPU program")))
}

fn is_list(bytes: &[u8]) -> bool {
    bytes.first_chunk() == Some(&MAGIC.to_le_bytes())
}

/// The programs with their blobs.
fn read(bytes: &[u8]) -> Option<Vec<(Program, &[u8])>> {
    let mut words = Words::new(bytes);
    let header = Programs::read(&mut words)?;
    let start = size_of(&header);
    let end = start.checked_add(size_of(&Program::default()).checked_mul(header.programs as usize)?)?;
    let is_whole = header.version == VERSION && bytes.get(start..end).map(checksum) == Some(header.checksum);
    let list: Vec<Program> = (0..header.programs).map(|_| Program::read(&mut words)).collect::<Option<_>>()?;
    let mut rest = bytes.get(end..).filter(|_| is_whole)?;
    let mut programs = Vec::new();
    for program in list {
        let (blob, others) = rest.split_at_checked((program.words as usize).checked_mul(4)?)?;
        programs.push((program, blob));
        rest = others;
    }
    rest.is_empty().then_some(programs)
}

/// The bytes of a record.
fn size_of(record: &impl Record) -> usize {
    let mut words = 0;
    record.write(&mut |_| words += 1);
    4 * words
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A list of two programs, whose blobs are other bytes.
    fn two() -> Vec<u8> {
        list(vec![(true, vec![1; 8]), (false, vec![2; 12])])
    }

    #[test]
    fn a_list_has_the_blobs_of_its_programs() {
        let bytes = two();
        let sizes: Vec<_> = read(&bytes).unwrap().iter().map(|(program, blob)| (program.on_cpu, blob.len())).collect();
        assert_eq!(sizes, [(true, 8), (false, 12)]);
    }

    #[test]
    fn a_damaged_list_is_an_error() {
        let bytes = two();
        let head = bytes.len() - 20;
        for length in 0..bytes.len() {
            assert!(read(&bytes[..length]).is_none(), "{length}");
        }
        for position in 4..head {
            let mut damaged = bytes.clone();
            damaged[position] ^= 1;
            assert!(read(&damaged).is_none(), "{position}");
        }
        let problem = choose(&bytes[..40], &Limits::default()).unwrap_err();
        assert_eq!(problem.error, Error::InvalidProgram);
    }
}
