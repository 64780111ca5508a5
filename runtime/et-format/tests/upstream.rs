//! Files of ExecuTorch's exporter: the reader reads every field, and damaged files never make the reader panic.

mod describe;

use describe::describe;
use et_core::Error;
use et_format::ProgramFile;

const FILES: [(&[u8], &str); 4] = [
    (include_bytes!("data/add.pte"), include_str!("data/add.txt")),
    (include_bytes!("data/branch.pte"), include_str!("data/branch.txt")),
    (include_bytes!("data/state.pte"), include_str!("data/state.txt")),
    (include_bytes!("data/unplanned.pte"), include_str!("data/unplanned.txt")),
];

#[test]
fn every_field_is_read() {
    for (file, text) in FILES {
        assert_eq!(describe(file).unwrap(), text);
    }
}

#[test]
fn no_changed_byte_makes_the_reader_panic() {
    for (file, _) in FILES {
        let mut bytes = file.to_vec();
        for position in 0..bytes.len() {
            for change in [0x01, 0x80, 0xff] {
                bytes[position] ^= change;
                let _ = describe(&bytes);
                bytes[position] ^= change;
            }
        }
    }
}

#[test]
fn a_cut_flatbuffer_is_an_error() {
    for (file, _) in FILES {
        for length in 0..file.len() {
            let whole = describe(&file[..length]).is_ok();
            assert!(!whole || length > 900, "the first {length} bytes pass for a file");
        }
    }
}

#[test]
fn other_files_are_refused() {
    let mut file = FILES[0].0.to_vec();
    file[6] = b'9';
    assert_eq!(ProgramFile::parse(&file).err(), Some(Error::InvalidProgram));
    assert_eq!(ProgramFile::parse(b"").err(), Some(Error::InvalidProgram));
}

#[test]
fn a_segment_beyond_the_file_is_refused() {
    let file = FILES[2].0;
    assert_eq!(ProgramFile::parse(&file[..file.len() - 1]).err(), Some(Error::InvalidProgram));
}
