//! Bills of materials, provenance, checking a folder of results, JUnit, manual pages.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::support::{Place, RECIPE, files};

fn attested() -> (Place, PathBuf) {
    let place = Place::warm();
    place.run(&format!("attest {RECIPE} --target linux-x86_64")).expect(0);
    let folder = place.out().join("digits/linux-x86_64");
    (place, folder)
}

fn json(path: PathBuf) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

#[test]
fn the_bill_of_materials_is_cyclonedx_with_model_and_data() {
    let (_place, folder) = attested();
    let text = fs::read(folder.join("sbom.cdx.json")).unwrap();
    let bom = cyclonedx_bom::prelude::Bom::parse_from_json_v1_5(text.as_slice()).unwrap();
    let result = cyclonedx_bom::prelude::Validate::validate(&bom);
    assert!(result.passed(), "{result:?}");
    let value = json(folder.join("sbom.cdx.json"));
    let of_type = |kind: &str| -> Vec<String> {
        let components = value["components"].as_array().unwrap().iter().filter(|component| component["type"] == kind);
        components.map(|component| component["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(of_type("machine-learning-model"), ["examples/digits/digits.pt2"]);
    assert_eq!(of_type("data"), ["examples/digits/test.safetensors"]);
    assert_eq!(of_type("file"), ["recipes/digits.yaml", "digits", "digits.pte", "size.json"]);
}

#[test]
fn the_provenance_lists_inputs_and_is_reproducible() {
    let (place, folder) = attested();
    let value = json(folder.join("provenance.intoto.json"));
    assert_eq!(value["predicateType"], "https://slsa.dev/provenance/v1");
    let build = &value["predicate"]["buildDefinition"];
    assert_eq!(build["externalParameters"]["unit"], "digits@linux-x86_64");
    assert_eq!(build["resolvedDependencies"].as_array().unwrap().len(), 3);
    assert!(build["internalParameters"]["stages"]["link"].as_str().unwrap().len() == 64);
    let before = files::tree(&place.out());
    place.run(&format!("attest {RECIPE} --target linux-x86_64")).expect(0);
    assert_eq!(files::tree(&place.out()), before);
}

#[test]
fn a_folder_of_results_is_checked_offline_and_any_changed_byte_is_found() {
    let (place, folder) = attested();
    let verify = |status: i32| place.run(&format!("verify {}", folder.display())).expect(status);
    verify(0);
    for name in ["digits", "digits.pte", "size.json", "manifest.json"] {
        let whole = fs::read(folder.join(name)).unwrap();
        files::change(&folder.join(name), |bytes| {
            // A digit or letter becomes another, so that a manifest stays JSON.
            let at = bytes.iter().rposition(u8::is_ascii_alphanumeric).unwrap();
            bytes[at] = if bytes[at] == b'1' { b'2' } else { b'1' };
        });
        let ran = verify(6);
        assert!(ran.stderr.contains(name), "{name}: {}", ran.stderr);
        fs::write(folder.join(name), whole).unwrap();
    }
    verify(0);
    place.run(&format!("deploy {RECIPE} --target linux-x86_64")).expect(0);
    verify(0);
    fs::remove_file(folder.join("size.json")).unwrap();
    verify(6);
}

#[test]
fn a_manifest_has_no_say_about_files_elsewhere() {
    let place = Place::cold();
    place.file("secret", "x");
    for name in ["../secret", "/etc/hostname", "a/../../secret"] {
        place.file("bundle/manifest.json", format!("{{\"files\": {{\"{name}\": {{\"b3\": \"\", \"size\": 1}}}}}}"));
        let ran = place.run(&format!("verify {}", place.path().join("bundle").display())).expect(6);
        assert!(ran.stderr.contains("is outside the folder"), "{}", ran.stderr);
    }
    std::os::unix::fs::symlink(place.path().join("secret"), place.path().join("bundle/link")).unwrap();
    place.file("bundle/manifest.json", "{\"files\": {\"link\": {\"b3\": \"\", \"size\": 1}}}");
    let ran = place.run(&format!("verify {}", place.path().join("bundle").display())).expect(6);
    assert!(ran.stderr.contains("is missing or not a file"), "{}", ran.stderr);
}

#[test]
fn verify_writes_junit() {
    let place = Place::warm();
    let file = place.path().join("junit.xml");
    place.run(&format!("verify {RECIPE} --target linux-x86_64 --junit {}", file.display())).expect(0);
    assert!(fs::read_to_string(&file).unwrap().contains("tests=\"1\" failures=\"0\" skipped=\"0\""));
    let words =
        format!("verify {RECIPE} --target linux-x86_64 --set verify.tolerance=1e-12 --junit {}", file.display());
    place.run(&words).expect(8);
    assert!(fs::read_to_string(&file).unwrap().contains("<failure type=\"ETB0702\""));
}

#[test]
fn every_command_has_a_manual_page() {
    let place = Place::cold();
    place.run(&format!("man {}", place.path().join("man").display())).expect(0);
    let pages = files::paths(&place.path().join("man"));
    assert!(pages.iter().any(|page| page.ends_with("etbuild.1")), "{pages:?}");
    assert!(pages.iter().any(|page| page.ends_with("etbuild-matrix.1")), "{pages:?}");
}
