//! Updates that a device refuses: other bases, damaged bytes, wrong signatures. The deployed files stay.

use super::support::deltas::{Files, delta, open, stored, version};
use super::support::disk::ModelDisk;
use et_update::{
    Applied, Error, FileChange, Header, Kind, Operation, OperationWriter, Place, SecretKey, apply, write_start,
};

const OLD: &Files = &[("app", b"binary one"), ("app.pte", b"weights one")];
const NEW: &Files = &[("app", b"binary two"), ("app.pte", b"weights two")];

fn place() -> Place {
    Place::folder("/app".as_ref(), "app")
}

fn refused(files: &Files, bytes: &[u8]) -> Error {
    let disk = ModelDisk::with(files);
    let before = disk.files();
    let error = open(bytes).and_then(|delta| apply(&disk, &place(), delta, None)).unwrap_err();
    assert_eq!(disk.files(), before);
    error
}

#[test]
fn another_base_is_named() {
    let update = delta("app", OLD, NEW, None);
    let others: [(&Files, &str); 3] = [
        (&[("app", b"binary one"), ("app.pte", b"weights 1")], "`app.pte` has other bytes"),
        (&[("app", b"binary one"), ("app.pte", b"weights on")], "`app.pte` has other bytes"),
        (&[("app.pte", b"weights one")], "`app` is missing"),
    ];
    for (files, problem) in others {
        let error = refused(files, &update);
        assert_eq!((error.code(), error.to_string().contains(problem)), ("ETB0613", true), "{error}");
    }
}

#[test]
fn a_file_in_the_place_of_a_new_file_is_refused() {
    let update = delta("app", &[OLD[0]], NEW, None);
    let error = refused(&[OLD[0], ("app.pte", b"the user's")], &update);
    assert!(error.to_string().contains("`app.pte` is a file that the other version lacks"), "{error}");
}

#[test]
fn an_update_is_installed_once() {
    let disk = ModelDisk::with(OLD);
    let update = delta("app", OLD, NEW, None);
    assert_eq!(apply(&disk, &place(), open(&update).unwrap(), None).unwrap(), Applied::Installed);
    assert_eq!(apply(&disk, &place(), open(&update).unwrap(), None).unwrap(), Applied::AlreadyInstalled);
}

#[test]
fn a_shortened_lengthened_or_changed_update_is_refused() {
    let update = delta("app", OLD, NEW, None);
    for length in 0..update.len() {
        assert_eq!(refused(OLD, &update[..length]).code(), "ETB0612", "{length}");
    }
    assert_eq!(refused(OLD, &[&update[..], &[0]].concat()).code(), "ETB0612");
    for index in 0..update.len() {
        let mut changed = update.clone();
        changed[index] ^= 1;
        let disk = ModelDisk::with(OLD);
        let done = open(&changed).and_then(|delta| apply(&disk, &place(), delta, None));
        // The name of the model, the mode of a file and the signature's bytes are no bytes of the files.
        let is_old =
            disk.files().iter().all(|(name, bytes)| OLD.contains(&(name.as_str(), bytes.as_slice())) || done.is_ok());
        assert!(is_old, "byte {index}");
    }
}

#[test]
fn a_device_with_a_key_takes_updates_of_this_key_only() {
    let (key, other) = (SecretKey([1; 32]), SecretKey([2; 32]));
    let public = key.public();
    let apply_signed = |signer: Option<&SecretKey>, at: Option<usize>| {
        let disk = ModelDisk::with(OLD);
        let mut update = delta("app", OLD, NEW, signer);
        if let Some(at) = at {
            update[at] ^= 1;
        }
        let done = open(&update).and_then(|delta| apply(&disk, &place(), delta, Some(&public)));
        // A refused update writes nothing at all.
        assert!(done.is_ok() || disk.paths().len() == 3, "{:?}", disk.paths());
        done
    };
    assert_eq!(apply_signed(Some(&key), None).unwrap(), Applied::Installed);
    assert!(matches!(apply_signed(None, None), Err(Error::Unsigned)));
    assert!(matches!(apply_signed(Some(&other), None), Err(Error::WrongSignature)));
    // A byte of the signature, and the name of the model.
    assert!(matches!(apply_signed(Some(&key), Some(20)), Err(Error::WrongSignature)));
    assert!(matches!(apply_signed(Some(&key), Some(82)), Err(Error::WrongSignature)));
}

/// A delta of the program file, with operations that lie.
fn hostile(operations: &[Operation<'_>], after: &[u8]) -> Vec<u8> {
    let mut writer = OperationWriter::default();
    operations.iter().for_each(|operation| writer.push(*operation));
    let mut body = Vec::new();
    let pieces = vec![stored(writer.into_bytes(), &mut body)];
    let change = |name: &str, before: &[u8]| FileChange {
        name: name.to_owned(),
        executable: false,
        before: Some(version(before)),
        after: Some(version(before)),
        pieces: Vec::new(),
    };
    let changed = FileChange { after: Some(version(after)), pieces, ..change("app.pte", OLD[1].1) };
    let header = Header { name: "app".into(), files: vec![change("app", OLD[0].1), changed] }.encode().unwrap();
    let mut bytes = Vec::new();
    write_start(Kind::Update, &header, None, &mut bytes).unwrap();
    [bytes, body].concat()
}

#[test]
fn operations_outside_the_old_files_are_refused() {
    let all = [
        Operation::Copy { file: 2, offset: 0, length: 1 },
        Operation::Copy { file: 1, offset: 11, length: 1 },
        Operation::Copy { file: 1, offset: 1 << 60, length: 1 },
        Operation::Copy { file: usize::MAX, offset: 0, length: 1 },
        Operation::Patch { file: 0, offset: 9, differences: &[1, 1] },
        Operation::Data(b"much longer than the header says"),
        Operation::Data(b"short"),
        Operation::Data(b"weights 2.0"),
    ];
    for operation in all {
        assert_eq!(refused(OLD, &hostile(&[operation], b"weights two")).code(), "ETB0612", "{operation:?}");
    }
}

#[test]
fn a_small_piece_that_decompresses_to_much_is_refused() {
    let mut body = Vec::new();
    let mut piece = stored(vec![0; 1 << 24], &mut body);
    piece.size = 1 << 20;
    let file = FileChange {
        name: "app.pte".into(),
        executable: false,
        before: None,
        after: Some(version(b"x")),
        pieces: vec![piece],
    };
    let header = Header { name: "app".into(), files: vec![file] }.encode().unwrap();
    let mut bytes = Vec::new();
    write_start(Kind::Update, &header, None, &mut bytes).unwrap();
    assert_eq!(refused(&[], &[bytes, body].concat()).code(), "ETB0612");
}
