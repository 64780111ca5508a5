//! Updates over the air: a delta between two deployed versions, applied by the binary itself and by `etbuild apply`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::library::linked;
use crate::support::{MODEL, Place, RECIPE, Ran, files, repository};

/// The secret key of the seed 7, 7, ..., 7, as `openssl genpkey -algorithm ed25519` writes keys.
const SECRET: &str = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIAcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcH\n-----END PRIVATE KEY-----\n";
/// The public key, by `openssl pkey -pubout`.
const PUBLIC: &str = "ea4a6c63e29c520abef5507b132ec5f9954776aebebe7b92421eea691446d22c";

/// Builds the digits with settings, and moves the files of the binary to `version`.
fn deployed(place: &Place, version: &str, settings: &[&str]) -> PathBuf {
    let arguments = ["build", RECIPE, "--target", "linux-x86_64"].into_iter();
    let settings = settings.iter().flat_map(|setting| ["--set", setting]);
    Ran::of(&mut place.command(arguments.chain(settings))).expect(0);
    let folder = place.path().join(version);
    fs::rename(place.out().join("digits/linux-x86_64"), &folder).unwrap();
    folder
}

/// The files of a version that a device runs.
fn run_files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    ["digits", "digits.pte"].map(|name| (name.to_owned(), fs::read(folder.join(name)).unwrap())).into()
}

fn device(place: &Place, version: &Path) -> PathBuf {
    let folder = place.path().join("device");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir(&folder).unwrap();
    for name in ["digits", "digits.pte"] {
        fs::copy(version.join(name), folder.join(name)).unwrap();
    }
    folder
}

fn binary(folder: &Path, arguments: &[&str]) -> Ran {
    Ran::of(Command::new(folder.join("digits")).args(arguments).current_dir(repository()))
}

fn answer(folder: &Path, place: &Place) -> Vec<u8> {
    let outputs = place.path().join("outputs.safetensors");
    let outputs_text = outputs.to_str().unwrap();
    binary(folder, &["--inputs", "examples/digits/test.safetensors", "--outputs", outputs_text]).expect(0);
    fs::read(outputs).unwrap()
}

fn delta(place: &Place, [old, new]: [&Path; 2], name: &str, rest: &[&str]) -> PathBuf {
    let file = place.path().join(name);
    let paths = [old, new, Path::new("-o"), &file].map(|path| path.to_str().unwrap().to_owned());
    let rest = rest.iter().map(|word| (*word).to_owned());
    Ran::of(&mut place.command(["delta".to_owned()].into_iter().chain(paths).chain(rest))).expect(0);
    file
}

#[test]
fn a_binary_takes_signed_updates_only_and_returns_to_the_version_before() {
    let place = Place::warm();
    let updates = format!("updates={PUBLIC}");
    let old = deployed(&place, "old", &[&updates]);
    let new = deployed(&place, "new", &[&updates, "quantize.scheme=dynamic-int8"]);
    let (key, other) =
        (place.file("update.pem", SECRET), place.file("other.pem", SECRET.replace("HBwcH\n", "HBwcI\n")));
    let device = device(&place, &old);
    let before = run_files(&device);
    let (old_answer, new_answer) = (answer(&old, &place), answer(&new, &place));
    assert_ne!(old_answer, new_answer);

    let unsigned = delta(&place, [&old, &new], "unsigned.etd", &[]);
    let strange = delta(&place, [&old, &new], "strange.etd", &["--key", other.to_str().unwrap()]);
    for refused in [unsigned, strange] {
        let said = binary(&device, &["--update", refused.to_str().unwrap()]).expect(8).stderr;
        assert!(said.contains("error[ETB0614]") && said.contains("help: "), "{said}");
        assert_eq!(run_files(&device), before);
    }
    let signed = delta(&place, [&old, &new], "signed.etd", &["--key", key.to_str().unwrap()]);
    let signed = signed.to_str().unwrap();
    binary(&device, &["--update", signed]).expect(0);
    assert_eq!(answer(&device, &place), new_answer);
    assert_eq!(run_files(&device), run_files(&new));
    assert!(binary(&device, &["--update", signed]).expect(0).stdout.contains("installed before"));
    binary(&device, &["--rollback"]).expect(0);
    assert_eq!(run_files(&device), before);
    assert_eq!(answer(&device, &place), old_answer);
    assert!(binary(&device, &["--help"]).expect(0).stdout.contains("--rollback"));
}

#[test]
fn an_app_in_c_takes_updates_and_returns_from_one_that_its_library_cannot_run() {
    let place = Place::warm();
    let old = deployed(&place, "old", &[&format!("updates={PUBLIC}"), "library=true"]);
    let program = linked(&place, &old.join("libdigits.a"), &repository().join("examples/c/update.c"), &[]);
    let deployed = old.join("digits.pte");
    // A version with other weights, and one with instructions that the library does not have.
    let other = place.file("other.pt2", fs::read(repository().join("examples/digits/digits.pt2")).unwrap());
    files::change(&other, |bytes| retrain(bytes));
    let [retrained, quantized] = ["retrained.pte", "quantized.pte"].map(|name| place.path().join(name));
    for (model, rest, file) in
        [(other.as_path(), "", &retrained), (MODEL.as_ref(), "--quantize dynamic-int8", &quantized)]
    {
        place.run(&format!("compile {} {rest} --program {}", model.display(), file.display())).expect(0);
    }
    let key = place.file("update.pem", SECRET);
    let signed = ["--key", key.to_str().unwrap()];
    let before = fs::read(&deployed).unwrap();
    let update = |new: &Path, name: &str, rest: &[&str]| {
        let file = delta(&place, [&deployed, new], name, rest);
        Ran::of(Command::new(program.get_program()).arg(&deployed).arg(file))
    };
    let refused = update(&retrained, "unsigned.etd", &[]).expect(8).stderr;
    assert!(refused.contains("has no signature") && fs::read(&deployed).unwrap() == before, "{refused}");
    let back = update(&quantized, "quantized.etd", &signed).expect(0);
    assert!(
        back.stdout.contains("earlier version is back") && fs::read(&deployed).unwrap() == before,
        "{}",
        back.stderr
    );
    let works = update(&retrained, "retrained.etd", &signed).expect(0);
    assert!(works.stdout.contains("the new version works"), "{}", works.stdout);
    assert!(fs::read(&deployed).unwrap() == fs::read(&retrained).unwrap() && fs::read(&deployed).unwrap() != before);
}

/// Negates the classifier's bias, which an archive stores as it is.
fn retrain(archive: &mut [u8]) {
    let config = zip::read::Config { archive_offset: zip::read::ArchiveOffset::Known(0) };
    let mut members = zip::ZipArchive::with_config(config, std::io::Cursor::new(&*archive)).unwrap();
    let start = members.by_name("digits/data/weights/weight_9").unwrap().data_start().unwrap() as usize;
    archive[start..start + 40].as_chunks_mut::<4>().0.iter_mut().for_each(|number| number[3] ^= 0x80);
}

#[test]
fn a_version_that_never_runs_goes_back_by_itself() {
    let place = Place::warm();
    let old = deployed(&place, "old", &["updates=unsigned"]);
    let new = deployed(&place, "new", &["updates=unsigned", "quantize.scheme=dynamic-int8"]);
    // A program file that no runtime reads.
    files::change(&new.join("digits.pte"), |bytes| bytes.truncate(1000));
    let device = device(&place, &old);
    let before = run_files(&device);
    let update = delta(&place, [&old, &new], "update.etd", &[]);
    binary(&device, &["--update", update.to_str().unwrap()]).expect(0);
    let inputs = ["--inputs", "examples/digits/test.safetensors", "--outputs", "/dev/null"];
    for _ in 0..3 {
        assert_ne!(binary(&device, &inputs).status, 0);
    }
    let said = binary(&device, &inputs).stderr;
    assert!(said.contains("the earlier version is back"), "{said}");
    assert_eq!(run_files(&device), before);
}

#[test]
fn apply_updates_program_files_and_refuses_wrong_versions_and_damage() {
    let place = Place::warm();
    let [old, new, third] = [&[][..], &["quantize.scheme=dynamic-int8"], &["partition=portable"]];
    let (old, new) = (deployed(&place, "old", old), deployed(&place, "new", new));
    let third = deployed(&place, "third", third);
    let [old, new, third] = [old, new, third].map(|folder| folder.join("digits.pte"));
    let update = delta(&place, [&old, &new], "update.etd", &[]);
    assert_eq!(fs::read(&update).unwrap(), fs::read(delta(&place, [&old, &new], "again.etd", &[])).unwrap());

    for input in [&old, &new] {
        let before = fs::read(input).unwrap();
        let words =
            [Path::new("delta"), &old, &new, Path::new("-o"), input].map(|word| word.to_str().unwrap().to_owned());
        let said = Ran::of(&mut place.command(words)).expect(2).stderr;
        assert!(said.contains("is a file of a version"), "{said}");
        assert_eq!(fs::read(input).unwrap(), before);
    }

    let model = place.file("device/model.pte", fs::read(&old).unwrap());
    let model_text = model.to_str().unwrap();
    let apply = |rest: &[&str]| {
        let words = ["apply", model_text].into_iter().chain(rest.iter().copied());
        Ran::of(&mut place.command(words))
    };
    let bytes = fs::read(&update).unwrap();
    for length in [0, 3, bytes.len() / 2, bytes.len() - 1] {
        let cut = place.file("cut.etd", &bytes[..length]);
        let said = apply(&["--update", cut.to_str().unwrap()]);
        assert!(said.status != 0 && said.stderr.contains("ETB0612"), "{length}: {}", said.stderr);
    }
    for at in (0..bytes.len()).step_by(bytes.len() / 40 + 1) {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        let changed = place.file("changed.etd", changed);
        assert_ne!(apply(&["--update", changed.to_str().unwrap()]).status, 0, "{at}");
    }
    assert_eq!(fs::read(&model).unwrap(), fs::read(&old).unwrap());

    apply(&["--update", update.to_str().unwrap()]).expect(0);
    assert_eq!(fs::read(&model).unwrap(), fs::read(&new).unwrap());
    apply(&["--rollback"]).expect(0);
    assert_eq!(fs::read(&model).unwrap(), fs::read(&old).unwrap());
    apply(&["--update", update.to_str().unwrap()]).expect(0);
    apply(&["--confirm"]).expect(0);
    assert!(apply(&["--rollback"]).stderr.contains("ETB0615"));
    let beside = files::paths(&model.parent().unwrap().join(".model.update"));
    assert!(beside.iter().all(|path| path.ends_with("lock")), "the earlier version is removed: {beside:?}");

    fs::copy(&third, &model).unwrap();
    let said = apply(&["--update", update.to_str().unwrap()]);
    assert!(said.status != 0 && said.stderr.contains("ETB0613"), "{}", said.stderr);
    assert_eq!(fs::read(&model).unwrap(), fs::read(&third).unwrap());
}

#[test]
fn firmware_takes_no_updates() {
    let place = Place::cold();
    let said = place.run(&format!("check {RECIPE} --set updates=unsigned --target mps2-an505"));
    assert!(said.status != 0 && said.stderr.contains("cannot take updates"), "{}", said.stderr);
}
