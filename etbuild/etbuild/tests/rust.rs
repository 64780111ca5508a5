//! Programs in Rust programs: the crate `etbuild-run`, with types generated from a program file, and in this process.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use et_module::safetensors::SafeTensors;
use etbuild_run::language::{LanguageModel, Options, Turn};
use etbuild_run::{Program, View};

use crate::support::{Place, Ran, files, repository, tensors};

const TEST: &str = "examples/digits/test.safetensors";

/// The example outside the workspace.
struct Example {
    folder: PathBuf,
    target: PathBuf,
}

impl Example {
    fn new(place: &Place) -> Self {
        let folder = place.path().join("rust");
        files::copy(&repository().join("examples/rust"), &folder);
        let manifest = folder.join("Cargo.toml");
        let ours = repository().join("etbuild/etbuild-run");
        let text = fs::read_to_string(&manifest).unwrap().replace("../../etbuild/etbuild-run", ours.to_str().unwrap());
        fs::write(manifest, text).unwrap();
        Self { folder, target: Path::new(env!("CARGO_TARGET_TMPDIR")).join("rust") }
    }

    /// Compiles the example with a program file for these backends.
    fn compiled(&self, place: &Place, backends: &str) -> Ran {
        let program = self.folder.join("digits.pte");
        place
            .run(&format!("compile recipes/digits.yaml --partition {backends} --program {}", program.display()))
            .expect(0);
        self.cargo()
    }

    fn cargo(&self) -> Ran {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--locked", "--quiet"]).current_dir(&self.folder).env("CARGO_TARGET_DIR", &self.target);
        Ran::of(cargo.env("CARGO_PROFILE_DEV_DEBUG", "false").env_remove("RUSTFLAGS"))
    }

    /// What the program prints for images.
    fn said(&self, place: &Place, arguments: &[&Path], images: &[u8]) -> Ran {
        let images = place.file("images", images);
        let mut program = Command::new(self.target.join("debug/classify"));
        Ran::of(program.args(arguments).stdin(fs::File::open(images).unwrap()))
    }
}

/// The numbers of the lines behind the digits.
fn scores(lines: &str) -> Vec<f32> {
    let numbers = |line: &str| -> Vec<f32> {
        let (_, list) = line.split_once(" [").unwrap();
        list.trim_end_matches(']').split(", ").map(|number| number.parse().unwrap()).collect()
    };
    lines.lines().flat_map(numbers).collect()
}

#[track_caller]
fn expect_close(got: &[f32], wanted: &[f32]) {
    assert_eq!(got.len(), wanted.len());
    let apart = got.iter().zip(wanted).map(|(got, wanted)| (got - wanted).abs()).fold(0.0, f32::max);
    assert!(apart <= 1e-4, "{apart}");
}

/// A package of Cargo with a build script, for a program of the cpu backend and for one of portable kernels.
#[test]
fn a_package_with_types_of_the_program_equals_pytorch() {
    let place = Place::cold();
    let example = Example::new(&place);
    let file = fs::read(repository().join(TEST)).unwrap();
    let (images, wanted) = (tensors::tensor(&file, "x").bytes, tensors::tensor(&file, "output_0").to_floats().unwrap());
    for backends in ["cpu", "portable"] {
        let built = example.compiled(&place, backends).expect(0);
        assert_eq!(built.stderr, "");
        expect_close(&scores(&example.said(&place, &[], &images).expect(0).stdout), &wanted);
    }
    let program = example.folder.join("digits.pte");
    let bytes = fs::read(&program).unwrap();
    let damaged = place.file("damaged.pte", &bytes[..bytes.len() / 2]);
    assert!(example.said(&place, &[&damaged], &images).expect(1).stderr.starts_with("Error: "));
    assert!(example.said(&place, &[&program], &images[..12]).expect(1).stderr.contains("does not take 3 elements"));

    let source = example.folder.join("src/main.rs");
    let wrong = "fn wrong(program: &mut digits::Program) { _ = program.forward(&[[[[0.0; 8]; 9]]]); }\n";
    fs::write(&source, fs::read_to_string(&source).unwrap() + wrong).unwrap();
    let refused = example.cargo().expect(101).stderr;
    assert!(refused.contains("expected an array with a size of 8, found one with a size of 9"), "{refused}");
    fs::write(&program, &bytes[..100]).unwrap();
    assert!(example.cargo().expect(101).stderr.contains("the program file: "));
}

#[test]
fn two_programs_of_a_process_move_between_threads() {
    let place = Place::cold();
    let file = fs::read(repository().join(TEST)).unwrap();
    let wanted = tensors::tensor(&file, "output_0").to_floats().unwrap();
    let programs = ["cpu", "portable"].map(|backends| {
        let path = place.path().join(format!("{backends}.pte"));
        place
            .run(&format!("compile recipes/digits.yaml --partition {backends} --program {}", path.display()))
            .expect(0);
        Program::open(path).unwrap()
    });
    let x = SafeTensors::parse(&file).unwrap().tensors["x"].clone();
    std::thread::scope(|scope| {
        for mut program in programs {
            let (x, wanted) = (&x, &wanted);
            scope.spawn(move || {
                let mut forward = program.method("forward").unwrap();
                for (image, wanted) in x.bytes.chunks(4 * 64).zip(wanted.chunks(10)).take(40) {
                    forward.set("x", View::of_bytes(x.scalar_type, [1, 1, 8, 8], image).unwrap()).unwrap();
                    forward.run().unwrap();
                    expect_close(forward.output::<f32>(0).unwrap().elements(), wanted);
                }
            });
        }
    });
}

#[test]
fn a_language_model_in_a_rust_program_equals_the_command() {
    let place = Place::cold();
    let program = place.path().join("tiny.pte");
    place.run(&format!("compile recipes/tiny-llama.yaml --program {}", program.display())).expect(0);
    let mut model = LanguageModel::open(&program).unwrap();
    let options = Options::default().max_new_tokens(32);
    let said = |words: &[&str]| {
        let mut command = place.command(["run", program.to_str().unwrap(), "--max-new-tokens", "32"]);
        Ran::of(command.args(words)).expect(0).stdout
    };

    let prompt = "Once there was a fox";
    let pieces: Vec<String> = model.generate(prompt, &options).unwrap().map(Result::unwrap).collect();
    assert!(pieces.len() > 5, "{pieces:?}");
    assert_eq!(said(&["--prompt", prompt]).trim_end(), pieces.concat().trim_end());

    let mut answer = model.chat(&[Turn::user("Tell me a story.")], &options).unwrap();
    let (text, ended) = (answer.text().unwrap(), answer.ended());
    assert!(ended.is_some() && !answer.tokens().is_empty());
    assert_eq!(said(&["--chat", "--prompt", "Tell me a story."]).trim_end(), text.trim_end());

    let tokens = model.encode(prompt, true).unwrap();
    let new: Vec<u32> = model.generate_tokens(&tokens, &options).unwrap().map(Result::unwrap).collect();
    assert_eq!(model.decode(&new).unwrap().trim_end(), pieces.concat().trim_end());
    assert!(model.generate_tokens(&[u32::MAX - 1], &options).unwrap().next().unwrap().is_err());
    assert!(LanguageModel::open(repository().join("runtime/et-format/tests/data/add.pte")).is_err());
}
