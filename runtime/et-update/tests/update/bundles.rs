//! Installations from a bundle: whatever access to the disk fails or is the last before a loss of power, the files are those from before or
//! those of the bundle, and the installation can be repeated.

use std::io::Cursor;

use super::support::deltas::{Files, stored, version};
use super::support::disk::{Fault, ModelDisk};
use et_update::{
    Bundle, Entry, EntryFile, Error, Kind, Manifest, Place, SecretKey, install, recover, sign, write_start,
};

const STARTER: &Files = &[("app", b"binary of any target")];
const INSTALLED: &Files = &[("app", b"binary one"), ("app.pte", b"weights one")];

fn place() -> Place {
    Place::folder("/app".as_ref(), "app")
}

fn bundle(key: Option<&SecretKey>) -> Vec<u8> {
    let (mut pieces, mut body, mut files) = (Vec::new(), Vec::new(), Vec::new());
    for (name, bytes) in INSTALLED {
        let place = pieces.len() as u32;
        pieces.push(stored(bytes.to_vec(), &mut body));
        let executable = !name.contains('.');
        files.push(EntryFile { name: (*name).to_owned(), executable, version: version(bytes), pieces: vec![place] });
    }
    let (target, platform) = ("phone".to_owned(), "aarch64-android".to_owned());
    let entry = Entry { target, platform, chip: None, instruction_sets: Vec::new(), files };
    let header = Manifest { name: "app".to_owned(), pieces, entries: vec![entry] }.encode().unwrap();
    let signature = key.map(|key| sign(key, Kind::Bundle, blake3::hash(&header)));
    let mut bytes = Vec::new();
    write_start(Kind::Bundle, &header, signature.as_ref(), &mut bytes).unwrap();
    [bytes, body].concat()
}

fn open(bytes: &[u8]) -> Result<Bundle, Error> {
    Bundle::open(Box::new(Cursor::new(bytes.to_vec())))
}

fn installed(disk: &ModelDisk, bytes: &[u8]) -> Result<bool, Error> {
    let mut bundle = open(bytes)?;
    let entry = bundle.manifest.entries[0].clone();
    install(disk, &place(), &mut bundle, &entry)
}

fn is_of(disk: &ModelDisk, files: &Files) -> bool {
    disk.files().iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())).eq(files.iter().copied())
}

#[test]
fn a_cut_installation_can_be_repeated() {
    let bytes = bundle(None);
    for disk in [ModelDisk::with(STARTER), ModelDisk::with(STARTER).without_links()] {
        let whole = disk.failing(Fault::Never);
        assert!(installed(&whole, &bytes).unwrap());
        assert!(is_of(&whole, INSTALLED));
        assert!(!installed(&whole, &bytes).unwrap());
        for number in 1..=whole.accesses() + 1 {
            let cut = disk.failing(Fault::From(number));
            let _ = installed(&cut, &bytes);
            for left in cut.after_power_cut() {
                recover(&left, &place()).unwrap();
                assert!(is_of(&left, STARTER) || is_of(&left, INSTALLED), "access {number}: {:?}", left.files());
                installed(&left, &bytes).unwrap();
                assert!(is_of(&left, INSTALLED), "access {number}");
            }
        }
    }
}

#[test]
fn damaged_bundles_change_nothing() {
    let bytes = bundle(None);
    for length in 0..bytes.len() {
        let disk = ModelDisk::with(STARTER);
        assert!(matches!(installed(&disk, &bytes[..length]), Err(Error::Malformed(_))), "{length}");
        assert!(is_of(&disk, STARTER));
    }
    for at in (0..bytes.len()).filter(|at| !(12..80).contains(at)) {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        let disk = ModelDisk::with(STARTER);
        // Names and facts of targets are covered by the signature alone.
        if installed(&disk, &changed).is_err() {
            assert!(is_of(&disk, STARTER), "{at}");
        }
    }
}

#[test]
fn a_signature_covers_every_byte_of_the_manifest() {
    let key = SecretKey([7; 32]);
    let bytes = bundle(Some(&key));
    open(&bytes).unwrap().check_signature(&key.public()).unwrap();
    let unsigned = open(&bundle(None)).unwrap().check_signature(&key.public());
    assert!(matches!(unsigned, Err(Error::Unsigned)));
    let header = bytes.len() - INSTALLED.iter().map(|(_, bytes)| bytes.len()).sum::<usize>();
    for at in 16..header {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        let verified = open(&changed).and_then(|bundle| bundle.check_signature(&key.public()));
        assert!(verified.is_err(), "{at}");
    }
}
