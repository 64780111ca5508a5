//! Data files and bundled programs that upstream made, and data files that we write.

mod describe_data;

use describe_data::{describe_bundle, describe_data};
use et_core::{Error, ScalarType};
use et_format::write::{DataEntry, DataLayout, write_data};
use et_format::{BundledProgram, DataFile, ProgramFile};

const DATA: &[u8] = include_bytes!("data/external.ptd");
const BUNDLE: &[u8] = include_bytes!("data/bundled.bpte");

const FACTOR: [u8; 12] = [0, 0, 0, 0x3f, 0, 0, 0x80, 0x3e, 0, 0, 0x80, 0x40];
const OFFSET: [u8; 12] = [0, 0, 0x80, 0x3f, 0, 0, 0, 0x40, 0, 0, 0x40, 0x40];

fn entry(key: &str, data: &'static [u8], sizes: &[i32]) -> DataEntry<'static> {
    let dim_order = (0..sizes.len() as u8).collect();
    let layout = DataLayout { scalar_type: ScalarType::Float, sizes: sizes.to_vec(), dim_order };
    DataEntry { key: key.into(), data, layout: Some(layout) }
}

fn write(entries: &[DataEntry<'_>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_data(entries, &mut bytes).unwrap();
    bytes
}

#[test]
fn upstreams_data_file_reads_like_ours() {
    let ours = write(&[entry("factor", &FACTOR, &[3]), entry("offset", &OFFSET, &[1, 3])]);
    assert_eq!(describe_data(DATA).unwrap(), describe_data(&ours).unwrap());
    assert!(describe_data(DATA).unwrap().contains("offset in 1: float32[1, 3][0, 1] [0, 0, 128, 63"));
}

#[test]
fn equal_bytes_are_stored_once_and_aligned() {
    let opaque = DataEntry { key: "blob".into(), data: b"x", layout: None };
    let bytes = write(&[entry("a", &FACTOR, &[3]), opaque, entry("b", &FACTOR, &[3, 1])]);
    let file = DataFile::parse(&bytes).unwrap();
    let place = |key| file.bytes(file.find(key).unwrap()).unwrap().as_ptr() as usize - bytes.as_ptr() as usize;
    assert_eq!(place("a"), place("b"));
    assert_eq!((place("a") % 128, place("blob") % 128), (0, 0));
    assert!(file.find("blob").unwrap().layout().unwrap().is_none());
    assert_eq!(file.find("c").err(), Some(Error::NotFound));
}

#[test]
fn an_empty_data_file_is_valid() {
    assert_eq!(describe_data(&write(&[])).unwrap(), "version 0\n");
}

#[test]
fn a_bundle_holds_a_program_and_its_cases() {
    let text = describe_bundle(BUNDLE).unwrap();
    assert_eq!(text.lines().filter(|line| line.contains(", 2, true, 0.5) -> (float32[2, 3]")).count(), 2, "{text}");
    let program = BundledProgram::parse(BUNDLE).unwrap().program().unwrap();
    assert_eq!(ProgramFile::parse(program).unwrap().program().version(), Ok(0));
}

#[test]
fn other_files_are_refused() {
    assert_eq!(DataFile::parse(BUNDLE).err(), Some(Error::InvalidExternalData));
    assert_eq!(DataFile::parse(&[]).err(), Some(Error::InvalidExternalData));
    assert_eq!(BundledProgram::parse(DATA).err(), Some(Error::InvalidProgram));
    let mut long_header = DATA.to_vec();
    long_header[12] = 39;
    assert_eq!(DataFile::parse(&long_header).err(), Some(Error::InvalidExternalData));
}

#[test]
fn a_cut_file_is_an_error() {
    assert!((0..DATA.len()).all(|length| describe_data(&DATA[..length]).is_err()));
    for length in (0..BUNDLE.len()).step_by(3) {
        let whole = describe_bundle(&BUNDLE[..length]).is_ok();
        assert!(!whole || length > BUNDLE.len() - 32, "the first {length} bytes pass for a bundle");
    }
}

#[test]
fn a_segment_whose_end_overflows_is_an_error() {
    for field in [16, 24, 32, 40] {
        let mut bytes = DATA.to_vec();
        bytes[field..field + 8].copy_from_slice(&(u64::MAX - 8).to_le_bytes());
        assert!(describe_data(&bytes).is_err(), "{field}");
    }
}

#[test]
fn no_changed_byte_makes_a_reader_panic() {
    let describe_any = |bytes: &[u8]| (describe_data(bytes).is_ok(), describe_bundle(bytes).is_ok());
    for file in [DATA, BUNDLE] {
        let mut bytes = file.to_vec();
        for position in 0..bytes.len() {
            for change in [0x01, 0x80, 0xff] {
                bytes[position] ^= change;
                let _ = describe_any(&bytes);
                bytes[position] ^= change;
            }
        }
    }
}
