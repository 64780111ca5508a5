//! Bytes that change behind the store's back.

mod support;

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;

use etbuild_store::{BlobRef, Damage, Digest, Event, Finding, Lookup, MissReason, StoreError};
use support::{Fixture, key, tamper};

fn outputs(blob: BlobRef) -> Vec<(String, BlobRef)> {
    vec![("elf".to_owned(), blob)]
}

fn recorded(fixture: &Fixture, bytes: &[u8]) -> BlobRef {
    let blob = fixture.store.put(bytes).unwrap();
    fixture.store.record(&key(1), &outputs(blob)).unwrap();
    blob
}

fn miss(fixture: &Fixture) -> MissReason {
    match fixture.store.lookup(&key(1)).unwrap() {
        Lookup::Miss(reason) => reason,
        Lookup::Hit(result) => panic!("hit {result:?}"),
    }
}

#[test]
fn a_recorded_action_hits_with_its_outputs() {
    let fixture = Fixture::new();
    assert_eq!(miss(&fixture), MissReason::Unrecorded);
    let blob = recorded(&fixture, b"bytes");
    let Lookup::Hit(result) = fixture.store.lookup(&key(1)).unwrap() else { panic!("missed") };
    assert_eq!((result.output("elf"), result.output("map")), (Some(blob), None));
    assert_eq!(&fixture.store.open_blob(&blob).unwrap()[..], b"bytes");
    assert_eq!(fs::metadata(fixture.blob(blob.digest)).unwrap().permissions().mode() & 0o777, 0o444);
}

#[test]
fn a_flipped_bit_is_found_at_lookup_reported_and_healed_by_the_rebuild() {
    let fixture = Fixture::new();
    let blob = recorded(&fixture, &[7; 5000]);
    tamper(&fixture.blob(blob.digest), |bytes| bytes[4321] ^= 4);
    assert_eq!(miss(&fixture), MissReason::Corrupt { output: "elf".to_owned(), blob: blob.digest });
    let [Event::BlobQuarantined { blob: reported, damage: Damage::Content { found }, quarantine }] =
        &fixture.events()[..]
    else {
        panic!("{:?}", fixture.events())
    };
    assert_eq!((*reported, *found), (blob.digest, Digest::of(&fs::read(quarantine.as_ref().unwrap()).unwrap())));
    assert_eq!(miss(&fixture), MissReason::Unrecorded);
    assert_eq!(recorded(&fixture, &[7; 5000]), blob);
    assert!(matches!(fixture.store.lookup(&key(1)).unwrap(), Lookup::Hit(_)));
}

#[test]
fn a_bit_that_flips_after_a_hit_is_found_too() {
    let fixture = Fixture::new();
    let blob = recorded(&fixture, &[7; 5000]);
    assert!(matches!(fixture.store.lookup(&key(1)).unwrap(), Lookup::Hit(_)));
    tamper(&fixture.blob(blob.digest), |bytes| bytes[0] ^= 1);
    assert!(matches!(miss(&fixture), MissReason::Corrupt { .. }));
}

#[test]
fn a_flipped_bit_is_found_at_open() {
    let fixture = Fixture::new();
    let blob = fixture.store.put(&[7; 5000]).unwrap();
    tamper(&fixture.blob(blob.digest), |bytes| bytes[4999] ^= 128);
    assert!(matches!(fixture.store.open_blob(&blob), Err(StoreError::Corrupt { blob: at }) if at == blob.digest));
    assert!(matches!(fixture.store.open_blob(&blob), Err(StoreError::Missing { .. })));
    assert_eq!(fixture.store.stat().unwrap().quarantined, 1);
}

#[test]
fn a_huge_blob_is_measured_at_lookup_and_hashed_at_open() {
    let fixture = Fixture::new();
    let blob = recorded(&fixture, &vec![7; (64 << 20) + 1]);
    let path = fixture.blob(blob.digest);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    fs::OpenOptions::new().write(true).open(&path).unwrap().write_all(b"x").unwrap();
    assert!(matches!(fixture.store.lookup(&key(1)).unwrap(), Lookup::Hit(_)));
    assert!(matches!(fixture.store.open_blob(&blob), Err(StoreError::Corrupt { .. })));
    assert!(matches!(miss(&fixture), MissReason::Evicted { .. }));
}

#[test]
fn a_blob_of_the_wrong_size_is_damage_at_lookup_and_at_open() {
    for length in [0, 4999, 5001] {
        let fixture = Fixture::new();
        let blob = recorded(&fixture, &[7; 5000]);
        tamper(&fixture.blob(blob.digest), |bytes| bytes.resize(length, 7));
        assert!(matches!(miss(&fixture), MissReason::Corrupt { .. }), "{length}");
        let damage = Damage::Size { expected: 5000, found: length as u64 };
        assert!(matches!(&fixture.events()[0], Event::BlobQuarantined { damage: found, .. } if *found == damage));
        tamper_again(&fixture, blob, length);
    }
}

fn tamper_again(fixture: &Fixture, blob: BlobRef, length: usize) {
    fixture.store.put(&[7; 5000]).unwrap();
    tamper(&fixture.blob(blob.digest), |bytes| bytes.resize(length, 7));
    assert!(matches!(fixture.store.open_blob(&blob), Err(StoreError::Corrupt { .. })));
}

#[test]
fn putting_bytes_again_replaces_a_damaged_blob_and_keeps_a_whole_one() {
    let fixture = Fixture::new();
    let blob = fixture.store.put(b"bytes").unwrap();
    for damage in [&b"bytes and more"[..], b"bytez", b""] {
        tamper(&fixture.blob(blob.digest), |bytes| *bytes = damage.to_vec());
        assert_eq!(fixture.store.put(b"bytes").unwrap(), blob);
        assert_eq!(&fixture.store.open_blob(&blob).unwrap()[..], b"bytes");
    }
    let file = || std::os::unix::fs::MetadataExt::ino(&fs::metadata(fixture.blob(blob.digest)).unwrap());
    let before = file();
    fixture.store.put(b"bytes").unwrap();
    assert_eq!(file(), before);
}

#[test]
fn streaming_bytes_again_replaces_a_damaged_blob() {
    let fixture = Fixture::new();
    let path = fixture.folder.path().join("a file \n ü");
    fs::write(&path, vec![3; 3 << 20]).unwrap();
    let blob = fixture.store.put_file(&path).unwrap().reference();
    assert_eq!(blob, BlobRef::of(&vec![3; 3 << 20]));
    tamper(&fixture.blob(blob.digest), |bytes| bytes[1 << 20] = 0);
    assert_eq!(fixture.store.put_file(&path).unwrap().reference(), blob);
    assert_eq!(fixture.store.open_blob(&blob).unwrap().len(), 3 << 20);
}

#[test]
fn a_torn_record_is_a_miss_and_is_removed() {
    let whole = {
        let fixture = Fixture::new();
        recorded(&fixture, b"bytes");
        fs::read(fixture.record(&key(1))).unwrap()
    };
    for length in [0, 1, 20, 33, whole.len() - 1] {
        let fixture = Fixture::new();
        recorded(&fixture, b"bytes");
        tamper(&fixture.record(&key(1)), |bytes| bytes.truncate(length));
        assert_eq!(miss(&fixture), MissReason::UnreadableRecord, "{length}");
        assert_eq!(fixture.events(), [Event::RecordDiscarded { action: key(1).action() }]);
        assert_eq!(miss(&fixture), MissReason::Unrecorded);
    }
}

#[test]
fn a_flipped_bit_anywhere_in_a_record_is_a_miss() {
    let fixture = Fixture::new();
    recorded(&fixture, b"bytes");
    let whole = fs::read(fixture.record(&key(1))).unwrap();
    for byte in 0..whole.len() {
        recorded(&fixture, b"bytes");
        tamper(&fixture.record(&key(1)), |bytes| bytes[byte] ^= 1);
        assert_eq!(miss(&fixture), MissReason::UnreadableRecord, "{byte}");
    }
}

#[test]
fn a_record_under_another_actions_name_is_a_miss() {
    let fixture = Fixture::new();
    recorded(&fixture, b"bytes");
    fs::create_dir_all(fixture.record(&key(2)).parent().unwrap()).unwrap();
    fs::copy(fixture.record(&key(1)), fixture.record(&key(2))).unwrap();
    assert_eq!(fixture.store.lookup(&key(2)).unwrap(), Lookup::Miss(MissReason::UnreadableRecord));
}

#[test]
fn a_record_whose_blob_is_gone_is_a_miss_and_is_removed() {
    let fixture = Fixture::new();
    let blob = recorded(&fixture, b"bytes");
    fs::remove_file(fixture.blob(blob.digest)).unwrap();
    assert_eq!(miss(&fixture), MissReason::Evicted { output: "elf".to_owned(), blob: blob.digest });
    assert!(!fixture.record(&key(1)).exists());
}

#[test]
fn an_output_that_was_not_stored_is_not_recorded() {
    let fixture = Fixture::new();
    let error = fixture.store.record(&key(1), &outputs(BlobRef::of(b"never stored"))).unwrap_err();
    assert!(error.is_bug() && matches!(error, StoreError::UnstoredOutput { .. }));
    assert_eq!(miss(&fixture), MissReason::Unrecorded);
}

#[test]
fn verify_finds_and_removes_all_that_is_wrong_and_nothing_else() {
    let fixture = Fixture::new();
    let store = &fixture.store;
    let blobs: Vec<BlobRef> = (0u8..4).map(|byte| store.put(&[byte; 100]).unwrap()).collect();
    blobs.iter().zip(0..).for_each(|(blob, number)| store.record(&key(number), &outputs(*blob)).unwrap());
    tamper(&fixture.blob(blobs[0].digest), |bytes| bytes[50] ^= 1);
    tamper(&fixture.record(&key(1)), |bytes| bytes[40] ^= 1);
    fs::remove_file(fixture.blob(blobs[2].digest)).unwrap();
    let findings = store.verify().unwrap();
    let expected = [
        Finding::CorruptBlob { blob: blobs[0].digest },
        Finding::DanglingRecord { action: key(0).action(), blob: blobs[0].digest },
        Finding::UnreadableRecord { action: key(1).action() },
        Finding::DanglingRecord { action: key(2).action(), blob: blobs[2].digest },
    ];
    assert_eq!(findings.len(), expected.len());
    assert!(expected.iter().all(|finding| findings.contains(finding)), "{findings:?}");
    assert_eq!(store.verify().unwrap(), []);
    assert!(matches!(store.lookup(&key(3)).unwrap(), Lookup::Hit(_)));
}
