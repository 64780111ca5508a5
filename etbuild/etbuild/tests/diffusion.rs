//! Pipelines that make pictures: the tokens of prompts and the pictures are those of diffusers with the same seed, for each scheduler, on the
//! portable kernels, on the CPU and on the GPU. `diffusion.py` has the pipelines. Needs `ETBUILD_TEST_PYTHON`, a Python with torch,
//! transformers and diffusers; without it these tests fail, unless `ETBUILD_SKIP_PYTHON=1` skips them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;
use std::sync::{Arc, OnceLock};

use et_diffusion::{Loading, Picture, Pipeline, Settings};
use et_module::{FileBytes, Kernels};
use etbuild_engine::Event;
use serde::Deserialize;

use crate::recording::instructions;
use crate::support::logits::{ENGINES, files_with, kernel};
use crate::support::{self, Place, Ran};

/// The largest difference of a channel of a pixel.
const TOLERANCE: u8 = 2;

#[derive(Deserialize)]
struct Expected {
    texts: Vec<ExpectedText>,
    pictures: Vec<ExpectedPicture>,
}

#[derive(Deserialize)]
struct ExpectedText {
    text: String,
    tokens: Vec<u32>,
}

#[derive(Deserialize)]
struct ExpectedPicture {
    prompt: String,
    #[serde(default)]
    negative: String,
    steps: usize,
    guidance: f32,
    seed: u64,
    pipeline: String,
    file: String,
    /// The height and the width.
    size: [usize; 2],
}

/// The folder of all pipelines, written once; `None` without a Python.
pub fn pipelines() -> Option<&'static Path> {
    static FOLDER: OnceLock<Option<tempfile::TempDir>> = OnceLock::new();
    let script = support::repository().join("examples/diffusion/export.py").display().to_string();
    let write = || support::python::written_by("diffusion.py", "torch, transformers and diffusers", &[&script]);
    FOLDER.get_or_init(write).as_ref().map(tempfile::TempDir::path)
}

/// A recipe with the pipeline of this name.
pub fn recipe(place: &Place, name: &str) -> Option<PathBuf> {
    let folder = pipelines()?.join(name);
    let folder = folder.display();
    let text = format!(
        "etbuild: 1\nname: {name}-{process}\nmodel:\n  methods:\n    text_encoder: {folder}/text_encoder.pt2\n    unet: {folder}/unet.pt2\n    \
         vae_decoder: {folder}/vae_decoder.pt2\ndiffusion: {{ pipeline: {folder}/pipeline_0, steps: 5, seed: 3 }}\ntargets: [linux-{architecture}]\n",
        process = std::process::id(),
        architecture = std::env::consts::ARCH
    );
    Some(place.file(&format!("{name}.yaml"), text))
}

fn expected(name: &str) -> Option<Expected> {
    let bytes = fs::read(pipelines()?.join(name).join("expected.json")).unwrap();
    Some(serde_json::from_slice(&bytes).unwrap())
}

/// Calls `use_it` with the pipeline of a recipe and options.
fn with_pipeline<T>(recipe: &Path, place: &Place, options: &[&str], use_it: impl FnOnce(&Pipeline<'_>) -> T) -> T {
    let files = files_with(recipe, &place.cache(), options, Arc::new(|_: &Event| {}));
    let loading = Loading {
        kernels: Kernels::Lookup(&kernel),
        engines: ENGINES,
        threads: 2,
        text: Some(et_text::make),
        data: &[],
        observer: None,
    };
    let file = Rc::new(FileBytes::copied(&files.program));
    use_it(&Pipeline::find(&file, loading).unwrap().unwrap())
}

/// The largest difference of a picture from the picture of diffusers.
fn difference(place: &Place, name: &str, wanted: &ExpectedPicture, options: &[&str]) -> u8 {
    let (recipe, folder) = (recipe(place, name).unwrap(), pipelines().unwrap().join(name));
    let pipeline = format!("diffusion.pipeline={}", folder.join(&wanted.pipeline).display());
    let options: Vec<&str> = options.iter().copied().chain([pipeline.as_str()]).collect();
    let picture = with_pipeline(&recipe, place, &options, |pipeline| {
        let ExpectedPicture { steps, guidance, seed, .. } = *wanted;
        let (given, _) = pipeline.read(&wanted.prompt, &wanted.negative).unwrap();
        let made = pipeline.make(&given, &Settings { steps, guidance, seed }, &mut |_| Ok(()));
        let (sizes, numbers, _) = made.unwrap();
        Picture::of(&sizes, &numbers).unwrap()
    });
    let pixels = fs::read(folder.join(&wanted.file)).unwrap();
    assert_eq!(([picture.height, picture.width], picture.pixels.len()), (wanted.size, pixels.len()));
    picture.pixels.iter().zip(&pixels).map(|(found, wanted)| found.abs_diff(*wanted)).max().unwrap()
}

#[test]
fn pictures_are_those_of_diffusers() {
    let partitions = ["portable", "cpu", "gpu"].into_iter().filter(|name| *name != "gpu" || cfg!(feature = "gpu"));
    let partitions: Vec<String> = partitions.map(|name| format!("partition=[{name}]")).collect();
    let (place, mut wrong) = (Place::cold(), Vec::new());
    for name in ["both", "single", "half"] {
        let Some(expected) = expected(name) else { return };
        for (wanted, partition) in
            expected.pictures.iter().flat_map(|one| partitions.iter().map(move |name| (one, name)))
        {
            let precisions: &[&str] = if name == "half" { &["float32", "model"] } else { &["float32"] };
            for precision in precisions {
                let precision = format!("export.precision={precision}");
                let found = difference(&place, name, wanted, &[partition, &precision]);
                if found > TOLERANCE {
                    wrong.push(format!("{name}, {}, {partition}, {precision}: {found}", wanted.file));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn prompts_have_the_tokens_of_transformers() {
    let Some(expected) = expected("both") else { return };
    let place = Place::cold();
    let recipe = recipe(&place, "both").unwrap();
    for form in ["pipeline", "pipeline_words"] {
        let folder = format!("diffusion.pipeline={}", pipelines().unwrap().join("both").join(form).display());
        with_pipeline(&recipe, &place, &["partition=[portable]", &folder], |pipeline| {
            for ExpectedText { text, tokens } in &expected.texts {
                let (given, cuts) = pipeline.read(text, "").unwrap();
                assert_eq!((&given.prompt, given.negative.len()), (tokens, 77), "{form}: {text:?}");
                assert_eq!(cuts[0] > 0, text.len() > 300, "{text:?}");
            }
        });
    }
}

/// The width and the height in the header of a PNG file.
fn png_size(file: &[u8]) -> [u32; 2] {
    assert!(file.starts_with(b"\x89PNG\r\n\x1a\n"));
    [16, 20].map(|at| u32::from_be_bytes(file[at..at + 4].try_into().unwrap()))
}

#[test]
fn the_command_makes_the_same_picture_of_the_same_seed_and_another_of_another_prompt() {
    let place = Place::cold();
    let Some(recipe) = recipe(&place, "both") else { return };
    let make = |name: &str, more: &str| {
        let picture = place.path().join(name);
        let words = ["run", recipe.to_str().unwrap(), "-o", picture.to_str().unwrap(), "--output", "json"];
        let ran = Ran::of(&mut place.command(words.into_iter().chain(more.split(' ')))).expect(0);
        (ran, fs::read(picture).unwrap())
    };
    let (ran, first) = make("first.png", "--prompt light --steps 2");
    assert_eq!(png_size(&first), [48, 32]);
    let json = ran.json();
    assert_eq!(
        (json["steps"].as_u64(), json["seed"].as_u64(), json["guidance"].as_f64()),
        (Some(2), Some(3), Some(7.5))
    );
    assert_eq!(json["unet_ms"].as_array().unwrap().len(), 3, "the first step of PNDM has two calls");
    assert!(ran.stderr.contains("step 3 of 3"), "{}", ran.stderr);
    assert_eq!(make("again.png", "--prompt light --steps 2 --seed 3").1, first);
    for more in
        ["--prompt house --steps 2", "--prompt light --steps 2 --negative dusk", "--prompt light --steps 2 --seed 4"]
    {
        assert_ne!(make("other.png", more).1, first, "{more}");
    }
}

#[test]
fn a_binary_is_verified_and_makes_pictures() {
    let place = Place::warm();
    let Some(recipe) = recipe(&place, "both") else { return };
    let case = pipelines().unwrap().join("both/case.safetensors");
    let verify = format!("verify={{ inputs: {}, tolerance: 1e-3 }}", case.display());
    let recipe = recipe.display().to_string();
    let report =
        Ran::of(&mut place.command(["deploy", &recipe, "--set", &verify, "--output", "json"])).expect(0).json();
    let unit = &report["units"][0];
    let folder = place.out().join(unit["recipe"].as_str().unwrap()).join(unit["target"].as_str().unwrap());
    let run = |words: &[&str]| {
        Ran::of(Command::new(folder.join(unit["recipe"].as_str().unwrap())).args(words).current_dir(place.path()))
    };
    let long = "light ".repeat(90);
    let ran = run(&["--prompt", &long, "-o", "picture.png", "--steps", "1", "--guidance", "1", "--json"]).expect(0);
    assert_eq!(ran.json()["width"], 48);
    assert!(ran.stderr.contains("cut to 77 tokens"), "{}", ran.stderr);
    assert_eq!(png_size(&fs::read(place.path().join("picture.png")).unwrap()), [48, 32]);
    assert!(run(&["--prompt", "light"]).expect(2).stderr.contains("-o is needed"));
    assert!(run(&["--prompt", "a", "-o", "a.png", "--steps", "2000"]).expect(8).stderr.contains("from 1 to 1000"));
    assert!(run(&["--prompt", "a", "-o", "nowhere/a.png"]).expect(8).stderr.contains("nowhere"));
}

#[test]
fn a_trace_has_the_operators_of_all_methods_and_needs_no_file_for_the_picture() {
    let place = Place::warm();
    let Some(recipe) = recipe(&place, "single") else { return };
    let words = format!("trace {} --prompt fox --steps 2 --output json", recipe.display());
    let rows = instructions(&place.run(&words).expect(0).json());
    assert!(
        ["text_encoder", "unet", "vae_decoder"].iter().all(|name| rows.iter().any(|row| row[0].contains(name))),
        "{rows:?}"
    );
}

#[test]
fn recipes_that_no_pipeline_follows_are_refused_by_name() {
    let place = Place::cold();
    let Some(recipe) = recipe(&place, "both") else { return };
    let folder = pipelines().unwrap().join("both");
    let other = place.path().join("pipeline");
    support::files::copy(&folder.join("pipeline_0"), &other);
    let config = other.join("scheduler/scheduler_config.json");
    fs::write(&config, fs::read_to_string(&config).unwrap().replace("PNDM", "LMSDiscrete")).unwrap();
    let (other, words) = (other.display(), folder.join("words"));
    let swapped = format!("model.methods.unet={}", folder.join("vae_decoder.pt2").display());
    for (setting, word) in [
        (format!("diffusion.pipeline={other}"), "LMSDiscreteScheduler"),
        (format!("diffusion.pipeline={}", words.display()), "scheduler_config.json"),
        ("diffusion.steps=2000".to_owned(), "1000 timesteps"),
        ("diffusion.guidance=.inf".to_owned(), "finite"),
        ("library=true".to_owned(), "`library`"),
        ("targets=[pico2]".to_owned(), "no picture"),
        (swapped, "`sample`"),
    ] {
        let ran = Ran::of(&mut place.command(["check", recipe.to_str().unwrap(), "--set", &setting]));
        assert!(ran.status != 0 && ran.stderr.contains(word), "{setting}: {}", ran.stderr);
    }
    let words = ["run", recipe.to_str().unwrap(), "--prompt", "a", "-o", "a.png", "--temperature", "1"];
    assert!(Ran::of(&mut place.command(words)).expect(2).stderr.contains("--temperature is for language models"));
    let text = fs::read_to_string(&recipe).unwrap();
    let without = text.lines().filter(|line| !line.starts_with("    unet:")).collect::<Vec<_>>().join("\n");
    let ran = Ran::of(&mut place.command(["check".as_ref(), place.file("less.yaml", without).as_os_str()]));
    assert!(ran.expect(3).stderr.contains("`unet` has none"));
}

#[test]
fn options_of_pictures_are_refused_for_other_models() {
    let place = Place::cold();
    let ran = place.run("run recipes/tiny-llama.yaml --prompt Once --steps 3").expect(2);
    assert!(ran.stderr.contains("--steps is for pipelines"), "{}", ran.stderr);
}
