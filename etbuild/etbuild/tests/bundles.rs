//! Bundles for several targets: made of deployed folders, taken apart again, and installed by the binary at its first start.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::npu::has_kit;
use crate::support::{Place, RECIPE, Ran, files, repository};

/// The secret key of the seed 7, 7, ..., 7, as `openssl genpkey -algorithm ed25519` writes keys.
const SECRET: &str = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIAcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcH\n-----END PRIVATE KEY-----\n";
/// The public key, by `openssl pkey -pubout`.
const PUBLIC: &str = "ea4a6c63e29c520abef5507b132ec5f9954776aebebe7b92421eea691446d22c";

/// A target for Linux on x86-64.
fn target(place: &Place, name: &str, facts: &str) -> String {
    let text = format!(
        "etbuild: 1\nname: {name}\nsummary: Linux\nkind: hosted\ntemplate: host-app\npointer_width: 64\nendian: little\n\
         rust: {{ triple: x86_64-unknown-linux-gnu }}\n{facts}\nconsole: stdio\nimage: [elf]\nrun: native\n"
    );
    place.file(&format!("{name}.yaml"), text).display().to_string()
}

/// Builds a recipe for the target files, and returns the folders of results.
fn built(place: &Place, recipe: &str, name: &str, targets: &[String], settings: &[&str]) -> Vec<PathBuf> {
    let mut words = vec!["build", recipe];
    targets.iter().for_each(|target| words.extend(["--target", target]));
    settings.iter().for_each(|setting| words.extend(["--set", setting]));
    Ran::of(&mut place.command(words)).expect(0);
    let folder = |target: &String| place.out().join(name).join(Path::new(target).file_stem().unwrap());
    targets.iter().map(folder).collect()
}

fn bundle(place: &Place, folders: &[PathBuf], targets: &[String], file: &str, rest: &[&str]) -> PathBuf {
    let out = place.path().join(file);
    let mut words = vec!["bundle".to_owned(), "make".to_owned(), "-o".to_owned(), out.display().to_string()];
    words.extend(folders.iter().map(|folder| folder.display().to_string()));
    targets.iter().for_each(|target| words.extend(["--target".to_owned(), target.clone()]));
    words.extend(rest.iter().map(|word| (*word).to_owned()));
    Ran::of(&mut place.command(words)).expect(0);
    out
}

fn extract(place: &Place, bundle: &Path, target: &str, rest: &[&str]) -> (Ran, PathBuf) {
    let folder = place.path().join("extracted").join(target);
    let mut words =
        vec!["bundle", "extract", bundle.to_str().unwrap(), "--target", target, "-o", folder.to_str().unwrap()];
    words.extend(rest);
    (Ran::of(&mut place.command(words)), folder)
}

/// Checks that the files of a folder of results come out of a bundle as they went in.
fn assert_extracted(place: &Place, bundle: &Path, folder: &Path, names: &[&str]) {
    let (ran, extracted) = extract(place, bundle, folder.file_name().unwrap().to_str().unwrap(), &[]);
    ran.expect(0);
    for name in names {
        assert_eq!(fs::read(extracted.join(name)).unwrap(), fs::read(folder.join(name)).unwrap(), "{name}");
    }
}

fn binary(path: &Path, arguments: &[&str]) -> Ran {
    Ran::of(Command::new(path).args(arguments).current_dir(repository()))
}

#[test]
fn a_binary_installs_the_version_for_the_machine_at_its_first_start() {
    let place = Place::warm();
    let facts = ["instruction_sets: []", "instruction_sets: [avx2]"];
    let targets = [target(&place, "linux-any", facts[0]), target(&place, "linux-avx2", facts[1])];
    let updates = format!("updates={PUBLIC}");
    let folders = built(&place, RECIPE, "digits", &targets, &[&updates]);
    let (key, other) =
        (place.file("update.pem", SECRET), place.file("other.pem", SECRET.replace("HBwcH\n", "HBwcI\n")));
    let signed = bundle(&place, &folders, &targets, "digits.etb", &["--key", key.to_str().unwrap()]);
    let again = bundle(&place, &folders, &targets, "again.etb", &["--key", key.to_str().unwrap()]);
    assert_eq!(fs::read(&signed).unwrap(), fs::read(again).unwrap());
    for folder in &folders {
        assert_extracted(&place, &signed, folder, &["digits", "digits.pte"]);
    }

    let starter = fs::read(folders[0].join("digits")).unwrap();
    let device = place.path().join("device");
    fs::create_dir(&device).unwrap();
    fs::copy(folders[0].join("digits"), device.join("digits")).unwrap();
    let app = device.join("digits");
    let beside = device.join("digits.etb");
    let inputs = ["--inputs", "examples/digits/test.safetensors", "--outputs", "/dev/null"];
    let unsigned = bundle(&place, &folders, &targets, "unsigned.etb", &[]);
    let strange = bundle(&place, &folders, &targets, "strange.etb", &["--key", other.to_str().unwrap()]);
    let cut = place.file("cut.etb", &fs::read(&signed).unwrap()[..1000]);
    for (refused, code) in [(unsigned, "ETB0614"), (strange, "ETB0614"), (cut, "ETB0612")] {
        fs::copy(refused, &beside).unwrap();
        let said = binary(&app, &inputs).expect(8).stderr;
        assert!(said.contains(&format!("error[{code}]")) && said.contains("help: "), "{said}");
        assert!(!device.join("digits.pte").exists());
        assert_eq!(fs::read(&app).unwrap(), starter);
    }
    fs::copy(&signed, &beside).unwrap();
    let said = binary(&app, &["--chip", "SM8650", "--version"]).expect(8).stderr;
    assert!(said.contains("ETB0616") && said.contains("linux-avx2 (x86_64-linux)"), "{said}");

    let first = binary(&app, &inputs).expect(0).stderr;
    let best = if std::arch::is_x86_feature_detected!("avx2") { "linux-avx2" } else { "linux-any" };
    assert!(first.contains(&format!("took `{best}`")), "{first}");
    assert_eq!(fs::read(device.join("digits.pte")).unwrap(), fs::read(folders[1].join("digits.pte")).unwrap());
    assert!(!binary(&app, &inputs).expect(0).stderr.contains("took"));
    binary(&app, &["--chip", "linux-any", "--version"]).expect(0);
    assert!(binary(&app, &["--bundle", signed.to_str().unwrap()]).expect(0).stdout.contains("took"));
}

#[test]
fn folders_that_make_no_bundle_are_refused_with_the_folders_that_do() {
    let place = Place::cold();
    let out = place.path().join("out/digits");
    ["linux-x86_64", "linux-aarch64"].iter().for_each(|target| fs::create_dir_all(out.join(target)).unwrap());
    let file = place.file("digits.pte", "no program").display().to_string();
    let out = out.display().to_string();
    for (folder, status, said) in [
        (out.clone(), 3, "`digits`, the name of the folder"),
        (format!("{out}/linux-x86_64"), 2, "has no binary and no program file"),
        (format!("{out}/pico"), 2, "does not exist"),
        (format!("{out}/linux-aarch64 {out}/linux-aarch64"), 2, "several folders are for the target `linux-aarch64`"),
        (file, 2, "is a file, and no folder"),
    ] {
        let ran = place.run(&format!("bundle make {folder} -o {out}/digits.etb")).expect(status);
        assert!(ran.stderr.contains(said) && ran.stderr.contains("out/digits/linux-x86_64"), "{}", ran.stderr);
    }
}

#[test]
fn damaged_bundles_and_absent_targets_are_refused_with_a_code() {
    let place = Place::warm();
    let targets = [target(&place, "linux-any", "instruction_sets: []")];
    let folders = built(&place, RECIPE, "digits", &targets, &[]);
    let whole = bundle(&place, &folders, &targets, "digits.etb", &[]);
    let said = extract(&place, &whole, "linux-none", &[]).0;
    assert!(
        said.status != 0 && said.stderr.contains("ETB0616") && said.stderr.contains("linux-any"),
        "{}",
        said.stderr
    );
    let said = extract(&place, &whole, "linux-any", &["--key", PUBLIC]).0;
    assert!(said.status != 0 && said.stderr.contains("ETB0614"), "{}", said.stderr);
    let size = fs::metadata(&whole).unwrap().len() as usize;
    for length in [0, 100, size / 2, size - 1] {
        files::change(&whole, |bytes| bytes.truncate(length));
        let said = extract(&place, &whole, "linux-any", &[]).0;
        assert!(said.status != 0 && said.stderr.contains("ETB0612"), "{length}: {}", said.stderr);
        bundle(&place, &folders, &targets, "digits.etb", &[]);
    }
    files::change(&whole, |bytes| *bytes.last_mut().unwrap() ^= 1);
    let (said, folder) = extract(&place, &whole, "linux-any", &[]);
    assert!(said.status != 0 && said.stderr.contains("ETB0612"), "{}", said.stderr);
    let left = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(left.into_iter().all(|name| name == "digits"));
}

#[test]
fn phones_get_a_group_per_chip_in_a_pack_of_play() {
    let place = Place::warm();
    let targets = ["android-arm64".to_owned(), "galaxy-s25".to_owned()];
    let folders = built(&place, RECIPE, "digits", &targets, &["updates=unsigned"]);
    let made = bundle(&place, &folders, &[], "digits.etb", &[]);
    for folder in &folders {
        assert_extracted(&place, &made, folder, &["digits", "digits.pte"]);
    }
    let listed = place.json(&format!("bundle list {}", made.display()));
    assert_eq!(listed["targets"][0]["platform"], "aarch64-android");
    let pack = place.path().join("play");
    place.run(&format!("bundle play {} -o {}", made.display(), pack.display())).expect(0);
    let assets = pack.join("digits/src/main/assets");
    // No operator of the recipe is for the NPU: the programs are for any chip.
    let program = fs::read(assets.join("digits#group_other/digits.pte")).unwrap();
    assert_eq!(program, fs::read(folders[0].join("digits.pte")).unwrap());
    assert!(!assets.join("digits#group_other/digits").exists());
    assert!(fs::read_to_string(pack.join("device_targeting_config.xml")).unwrap().contains("device-targeting-config"));
}

#[test]
fn a_program_for_an_npu_is_for_its_chip_alone() {
    if !has_kit() {
        return;
    }
    let place = Place::cold_with_compiled_crates();
    let facts = |chip: &str| format!("npu: {{ soc: {chip} }}");
    let targets =
        ["SM8650", "SM8750"].map(|chip| target(&place, &format!("linux-{}", chip.to_lowercase()), &facts(chip)));
    let examples = repository().join("examples/digits");
    let recipe = place.file(
        "recipe/npu.yaml",
        format!(
            "etbuild: 1\nname: digits-npu\nmodel: {{ pt2: {0}/digits.pt2 }}\npartition: [qnn, cpu]\nupdates: unsigned\n\
             quantize: {{ scheme: w8a8, calibrate: {0}/calibration.safetensors }}\n",
            examples.display()
        ),
    );
    let folders = built(&place, recipe.to_str().unwrap(), "digits-npu", &targets, &[]);
    let made = bundle(&place, &folders, &targets, "npu.etb", &[]);
    let device = place.path().join("device");
    fs::create_dir(&device).unwrap();
    let app = device.join("digits-npu");
    fs::copy(folders[1].join("digits-npu"), &app).unwrap();
    fs::copy(made, device.join("digits-npu.etb")).unwrap();
    let said = binary(&app, &["--version"]).expect(8).stderr;
    assert!(said.contains("ETB0616") && said.contains("linux-sm8650 (x86_64-linux, SM8650)"), "{said}");
    let inputs = ["--inputs", "examples/digits/test.safetensors", "--outputs", "/dev/null"];
    binary(&app, &[["--chip", "SM8650"].as_slice(), &inputs].concat()).expect(0);
    assert_eq!(fs::read(device.join("digits-npu.pte")).unwrap(), fs::read(folders[0].join("digits-npu.pte")).unwrap());
}
