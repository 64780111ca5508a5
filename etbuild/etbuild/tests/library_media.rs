//! C libraries of models that read pictures or hear: the programs in `examples/c` print what the binaries print, in C and in C++. Needs
//! `ETBUILD_TEST_PYTHON`, a Python with torch and transformers; without it these tests fail, unless `ETBUILD_SKIP_PYTHON=1` skips them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::java::App;
use crate::library::linked;
use crate::support::{Place, Ran, repository};
use crate::{apple, hearing, vision};

/// Builds a binary and a library of a checkpoint; returns the folder of the results.
fn built(place: &Place, folder: &Path, context: usize) -> PathBuf {
    let target = format!("linux-{}", std::env::consts::ARCH);
    let recipe = format!(
        "etbuild: 1\nname: senses\nmodel: {{ checkpoint: {} }}\nexport: {{ context: {context} }}\ntargets: [{target}]\nlibrary: true\n",
        folder.join("model").display()
    );
    let recipe = place.file("senses.yaml", recipe);
    Ran::of(&mut place.command(["build", &recipe.display().to_string()])).expect(0);
    place.out().join("senses").join(target)
}

/// A program of the repository, compiled with the library in a folder of results.
fn program(place: &Place, out: &Path, source: &str, flags: &[&str]) -> Command {
    let program = linked(place, &out.join("libsenses.a"), &repository().join(source), flags);
    let mut command = Command::new(program.get_program());
    command.arg(out.join("senses.pte"));
    command
}

/// Runs the binary in a folder of results; returns the text.
fn told(out: &Path, folder: &Path, more: &[&str]) -> String {
    let mut binary = Command::new(out.join("senses"));
    Ran::of(binary.args(["--max-new-tokens", "50"]).args(more).current_dir(folder)).expect(0).stdout
}

#[test]
fn a_program_in_c_reads_pictures_from_files_and_from_pixels() {
    let Some(folder) = vision::folder("smolvlm") else { return };
    let place = Place::cold_with_compiled_crates();
    let out = built(&place, &folder, 480);
    let pixels: Vec<u8> = (0..40 * 30 * 3_usize).map(|index| (index * index / 7 % 256) as u8).collect();
    place.file("noise.ppm", [&b"P6 40 30 255\n"[..], &pixels].concat());
    let png = place.file("noise.png", et_media::write_png(40, 30, &pixels).unwrap());
    let said = |pictures: &[&Path]| {
        let mut look = program(&place, &out, "examples/c/look.c", &[]);
        Ran::of(look.arg("What is this?").args(pictures).current_dir(&folder))
    };
    let wanted = told(&out, &folder, &["--image", "wide.png", "--image", "high.png", "--prompt", "What is this?"]);
    let one = said(&["wide.png".as_ref(), "high.png".as_ref()]).expect(0).stdout;
    assert_eq!(one, wanted);
    let noise = told(&out, &folder, &["--image", &png.display().to_string(), "--prompt", "What is this?"]);
    assert_ne!(noise, wanted);
    for picture in ["noise.png", "noise.ppm"] {
        assert_eq!(said(&[&place.path().join(picture)]).expect(0).stdout, noise, "{picture}");
    }
    if let Some(app) = App::compiled() {
        let said = |pictures: &[&str]| {
            let mut look = app.run("SensesKt", &[&out]);
            look.args(["look", "senses"]).arg(out.join("senses.pte")).arg("What is this?").args(pictures);
            Ran::of(look.current_dir(&folder)).expect(0).stdout
        };
        assert_eq!(said(&["wide.png", "high.png"]), wanted);
        assert_eq!(said(&[place.path().join("noise.ppm").to_str().unwrap()]), noise);
    }
    if let Some(look) = swift_app(&place, &out, &["Language"], "Look.swift") {
        for (pictures, wanted) in
            [(&["wide.png", "high.png"][..], &wanted), (&[place.path().join("noise.ppm").to_str().unwrap()], &noise)]
        {
            let mut look = Command::new(&look);
            look.arg(out.join("senses.pte")).arg("What is this?").args(pictures).current_dir(&folder);
            let said = Ran::of(&mut look).expect(0).stdout;
            assert_eq!(said, format!("{wanted}the picture: neither PNG nor JPEG\n"));
        }
    }
    assert!(said(&["cases.json".as_ref()]).expect(8).stderr.contains("neither PNG nor JPEG"));
    let refused = Ran::of(&mut program(&place, &out, PARTS, &[])).expect(0).stdout;
    let wanted = "there is no kind 9 of parts
a pointer is missing
the picture: neither PNG nor JPEG
the picture: 2x1 pixels of 3 bytes are not 3 bytes
the model does not hear: the program has no audio encoder, or the binary was built without one
the model does not hear: the program has no audio encoder, or the binary was built without one
the samples are not at an address for `float`
";
    assert_eq!(refused, twice(wanted));
}

/// An app in Swift over the library in a folder of results; `None` without a compiler of Swift.
fn swift_app(place: &Place, out: &Path, api: &[&str], source: &str) -> Option<PathBuf> {
    let source = repository().join("etbuild/etbuild/tests/data/swift").join(source);
    Some(apple::app(&apple::swift()?, place, api, &out.join("libsenses.a"), &[source]))
}

/// A program that gives parts which a model refuses, once in a conversation and once in a prompt.
const PARTS: &str = "etbuild/etbuild/tests/data/parts.c";

/// Every line twice.
fn twice(lines: &str) -> String {
    lines.lines().map(|line| format!("{line}\n{line}\n")).collect()
}

/// The segments in the output of the binary, or of the program.
fn segments(text: &str) -> Vec<String> {
    let texts = text.lines().filter_map(|line| line.split_once(']'));
    texts.map(|(_, text)| text.trim().to_owned()).collect()
}

#[test]
fn a_program_in_cpp_transcribes_files_and_samples() {
    let Some(folder) = hearing::folder("whisper") else { return };
    let place = Place::cold_with_compiled_crates();
    let out = built(&place, &folder, 96);
    let hear = |file: &str, more: &[&str]| {
        let mut hear = program(&place, &out, "examples/c/hear.cpp", &[]);
        hear.arg(file).args(more).current_dir(&folder);
        hear
    };
    let swift = swift_app(&place, &out, &["Language", "Speech"], "Hear.swift");
    for (sound, language) in [("short.wav", "de"), ("long.wav", "fr")] {
        let wanted = segments(&told(&out, &folder, &["--audio", sound, "--timestamps", "--language", language]));
        let ran = Ran::of(&mut hear(sound, &[language])).expect(0);
        assert_eq!(segments(&ran.stdout), wanted);
        assert!(ran.stderr.starts_with(language), "{}", ran.stderr);
        let samples = place.file("sound.samples", &fs::read(folder.join(sound)).unwrap()[44..]);
        let ran = Ran::of(hear("-", &[language]).stdin(fs::File::open(&samples).unwrap())).expect(0);
        assert_eq!(segments(&ran.stdout), wanted);
        if let Some(app) = &swift {
            for sound in [&folder.join(sound), &samples] {
                let mut hear = Command::new(app);
                let ran = Ran::of(hear.arg(out.join("senses.pte")).arg(sound).arg(language)).expect(0);
                assert_eq!(segments(&ran.stdout), wanted);
            }
        }
        if let Some(app) = App::compiled() {
            for sound in [folder.join(sound), samples] {
                let mut hear = app.run("SensesKt", &[&out]);
                hear.args(["hear", "senses"]).arg(out.join("senses.pte")).arg(sound).arg(language);
                assert_eq!(segments(&Ran::of(&mut hear).expect(0).stdout), wanted);
            }
        }
    }
    let heard = segments(&told(&out, &folder, &["--audio", "short.wav", "--timestamps"]));
    assert_eq!(segments(&Ran::of(&mut hear("short.wav", &[])).expect(0).stdout), heard);
    assert!(Ran::of(&mut hear("cases.json", &[])).expect(8).stderr.contains("not a WAV file"));
    let refused = Ran::of(&mut program(&place, &out, PARTS, &["-DHEARS"])).expect(0).stdout;
    let lines: Vec<&str> = refused.lines().collect();
    assert_eq!(
        lines[..4],
        [
            "the model does not know the language `tlh`; known are de, en, fr",
            "there is no task 7",
            "the model makes transcripts, and there is no sound",
            "the model makes transcripts, and has no form of answers",
        ]
    );
    assert!(lines[4..].iter().all(|line| line.contains("there is no sound")), "{refused}");
}

#[test]
fn a_library_of_a_model_that_hears_refuses_pictures_and_wrong_sounds() {
    let Some(folder) = hearing::folder("voxtral") else { return };
    let place = Place::cold_with_compiled_crates();
    let out = built(&place, &folder, 400);
    let refused = Ran::of(&mut program(&place, &out, PARTS, &[])).expect(0).stdout;
    let wanted = "there is no kind 9 of parts
a pointer is missing
the model reads no pictures: the program has no vision encoder, or the binary was built without one
the model reads no pictures: the program has no vision encoder, or the binary was built without one
the sound: not a WAV file
the sound: the sampling rate is 0
the samples are not at an address for `float`
";
    assert_eq!(refused, twice(wanted));
}

#[test]
fn a_library_of_a_model_for_texts_has_no_functions_for_pictures() {
    let place = Place::cold_with_compiled_crates();
    place.run("build recipes/tiny-llama.yaml --target linux-x86_64 --set library=true").expect(0);
    let library = place.out().join("tiny-llama/linux-x86_64/libtiny-llama.a");
    let symbols = Ran::of(Command::new("nm").arg("--defined-only").arg(library)).stdout;
    assert!(symbols.contains(" T et_language_answer\n"));
    for name in ["et_language_transcribe", "et_hearing", "et_vision", "et_media"] {
        assert!(!symbols.contains(name), "{name}");
    }
}
