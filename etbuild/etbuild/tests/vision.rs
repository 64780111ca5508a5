//! Models that read pictures: prompts, logits and greedy texts equal those of transformers, for texts without pictures, one picture and
//! several, in one turn and in two, on the portable kernels and on the CPU backend. `vision.py` has the table of models. Needs
//! `ETBUILD_TEST_PYTHON`, a Python with torch and transformers; without it these tests fail, unless `ETBUILD_SKIP_PYTHON=1` skips them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use et_llm::{Loading, Prompt, Session, Vision, is_image};
use et_module::{DataFiles, FileBytes};
use etbuild_engine::Event;
use serde_json::{Value, json};

use crate::serve::Server;
use crate::support::logits::{Expected, cosine, expect_no_mistake, files_with, loading};
use crate::support::talks::{Talk, cases, mistake_in_talk, prompt};
use crate::support::{Place, Ran, python};

/// The tokens behind each prompt.
const STEPS: &str = "50";

/// The folders of all models, written once; `None` without a Python.
pub fn models() -> Option<Vec<PathBuf>> {
    static FOLDER: OnceLock<Option<tempfile::TempDir>> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| python::written_by("vision.py", "torch and transformers", &[STEPS]));
    folder.as_ref().map(python::folders)
}

/// The folder of a model.
pub fn folder(name: &str) -> Option<PathBuf> {
    models()?.into_iter().find(|model| model.ends_with(name))
}

pub fn loaded(model: &Path, place: &Place, options: &[&str]) -> Session {
    let options: Vec<&str> = options.iter().copied().chain(["export.prefill=[8, 32]", "export.context=480"]).collect();
    let files = files_with(model, &place.cache(), &options, Arc::new(|_: &Event| {}));
    let loading = Loading { vision: Some(Vision { open: et_vision::open, read: et_media::tiles }), ..loading() };
    let file = FileBytes::copied(&files.program);
    Session::load(file, || Ok(DataFiles::default()), &loading, Instant::now()).unwrap()
}

fn mistake(folder: &Path, place: &Place, partition: &str) -> Option<String> {
    let mut session = loaded(&folder.join("model"), place, &[partition]);
    let mut cases = cases::<Talk>(folder).into_iter().enumerate();
    cases.find_map(|(index, case)| mistake_in_talk(&mut session, folder, index, &case))
}

#[test]
fn every_family_gives_the_logits_and_the_text_of_transformers() {
    let Some(models) = models() else { return };
    expect_no_mistake(models, mistake);
}

#[test]
fn a_second_turn_reads_no_picture_again_and_another_picture_is_not_confused() {
    for name in ["gemma3", "gemma4-experts", "qwen2-vl", "qwen3-vl", "mistral3"] {
        let Some(folder) = folder(name) else { return };
        let place = Place::cold();
        let mut session = loaded(&folder.join("model"), &place, &["partition=[cpu]"]);
        let cases = cases::<Talk>(&folder);
        let prompts: Vec<Prompt> = [1, 3, 2].map(|index| prompt(&session, &folder, &cases[index])).into();
        session.model.show(&prompts[0].tiles);
        session.model.read(&prompts[0].tokens).unwrap();
        let known = session.model.rewind(&prompts[1].tokens);
        assert!(known >= prompts[0].tokens.len() - "assistant:".len(), "{known} of {}", prompts[0].tokens.len());
        assert_eq!(mistake_in_talk(&mut session, &folder, 3, &cases[3]), None, "{name}");
        // Both prompts begin with the same text, and continue with different pictures.
        let known = session.model.rewind(&prompts[2].tokens);
        let first = prompts[2].tokens.iter().position(|token| is_image(*token)).unwrap();
        assert!(known <= first, "{known} tokens, of which the first of a picture is {first}");
    }
}

#[test]
fn quantized_models_stay_near() {
    for name in ["smolvlm", "gemma3", "gemma4-mutual", "qwen2.5-vl", "qwen3-vl", "mistral3"] {
        let Some(folder) = folder(name) else { return };
        let place = Place::cold();
        let case = &cases::<Talk>(&folder)[2];
        let logits = |options: &[&str]| {
            let mut session = loaded(&folder.join("model"), &place, options);
            let prompt = prompt(&session, &folder, case);
            session.model.show(&prompt.tiles);
            session.model.read(&prompt.tokens).unwrap().to_vec()
        };
        let wanted = logits(&["partition=[cpu]"]);
        // Random weights in 4 bits are far from those of a decoder that normalizes everything, with pictures and without.
        let wide = if name == "gemma4-mutual" { &[][..] } else { &["8da4w", "int4-weights"] };
        for scheme in ["dynamic-int8", "int8-weights"].iter().chain(wide) {
            let found = logits(&["partition=[cpu]", &format!("quantize.scheme={scheme}")]);
            let cosine = cosine(&found, &wanted);
            assert!(cosine > 0.9 && found != wanted, "{name}, {scheme}: {cosine}");
        }
    }
}

/// The tokens of a file that the command wrote.
fn tokens(path: &Path) -> Vec<i64> {
    fs::read_to_string(path).unwrap().split_whitespace().map(|token| token.parse().unwrap()).collect()
}

/// The greedy tokens of transformers up to the end of the text.
fn wanted(folder: &Path, index: usize) -> Vec<i64> {
    let expected = Expected::read(&folder.join(format!("{index}.safetensors")));
    expected.steps().map(|(token, _)| token).take_while(|token| *token != 2).collect()
}

#[test]
fn the_command_answers_questions_about_pictures() {
    let pad = "<|vision_start|><|image_pad|><|vision_end|>";
    for (name, mark) in [
        ("smolvlm", "<image>"),
        ("llava-clip", "<image>"),
        ("gemma3", "<start_of_image>"),
        ("gemma4", "<|image|>"),
        ("gemma4-experts", "<|image|>"),
        ("qwen2.5-vl", pad),
        ("qwen3-vl", pad),
        ("qwen3.5", pad),
        ("mistral3", "[IMG]"),
    ] {
        let Some(folder) = folder(name) else { return };
        let place = Place::cold();
        let (model, out) = (folder.join("model").display().to_string(), place.path().join("tokens.txt"));
        let run = |more: &[&str]| {
            let start = ["run", &model, "--max-new-tokens", STEPS, "--set", "export.context=480", "--tokens-out"];
            let arguments = start.iter().map(|word| (*word).to_owned()).chain([out.display().to_string()]);
            let more = more.iter().map(|word| (*word).to_owned());
            Ran::of(place.command(arguments.chain(more)).current_dir(&folder))
        };
        run(&["--image", "wide.png", "--prompt", "What is this?"]).expect(0);
        assert_eq!(tokens(&out), wanted(&folder, 1), "{name}");
        let text = format!("<s>user: Is {mark} like {mark}{mark}?assistant:");
        run(&["--image", "high.png", "--image", "square.png", "--image", "thin.png", "--prompt", &text]).expect(0);
        assert_eq!(tokens(&out), wanted(&folder, 2), "{name}");
        run(&["--chat", "--prompt", "What is this?"]).expect(0);
        assert_eq!(tokens(&out), wanted(&folder, 0), "{name}");
    }
}

#[test]
fn mistakes_about_pictures_are_named() {
    let Some(folder) = folder("smolvlm") else { return };
    let place = Place::cold();
    let model = folder.join("model");
    place.file("broken.png", &fs::read(folder.join("wide.png")).unwrap()[..900]);
    place.file("text.png", "no picture");
    place.file("text.txt", "a text");
    let stories = crate::support::repository().join("examples/tiny-llama/model");
    let refusal = |model: &Path, more: &[&str]| {
        let start = ["run".to_owned(), model.display().to_string()];
        let more = more.iter().map(|word| (*word).to_owned());
        let mut command = place.command(start.into_iter().chain(more));
        let ran = Ran::of(command.current_dir(place.path()));
        assert_ne!(ran.status, 0, "{}", ran.stdout);
        ran.stderr
    };
    let wide = folder.join("wide.png").display().to_string();
    for (model, more, words) in [
        (&stories, vec!["--image", &wide, "--prompt", "a"], ["reads no pictures", "docs/vision-language.md"]),
        (&model, vec!["--image", "broken.png", "--prompt", "a"], ["ends too early", "PNG or a JPEG"]),
        (&model, vec!["--image", "text.png", "--prompt", "a"], ["neither PNG nor JPEG", "PNG or a JPEG"]),
        (&model, vec!["--image", "none.png", "--prompt", "a"], ["none.png", "error"]),
        (&model, vec!["--image", &wide, "--prompt", "<image><image>"], ["2 times, for 1 pictures", "--image FILE"]),
        (&model, vec!["--prompt", "<image> a"], ["1 times, for 0 pictures", "--image FILE"]),
        (
            &model,
            vec!["--image", &wide, "--prompt", "a", "--set", "export.context=40"],
            ["context of 40", "export.context"],
        ),
        (&model, vec!["--image", &wide, "--tokens-in", "a"], ["--image", "--tokens-in"]),
    ] {
        let said = refusal(model, &more);
        assert!(words.iter().all(|word| said.contains(word)), "{more:?}: {said}");
    }
    let gptq = "quantize={ scheme: 8da4w, method: gptq, calibrate: text.txt }";
    let check = ["check", &model.display().to_string(), "--target", "linux-x86_64", "--set", gptq];
    let checked = Ran::of(place.command(check).current_dir(place.path()));
    assert!(checked.status != 0 && checked.stderr.contains("has no calibrated quantization"), "{}", checked.stderr);
    // A checkpoint without the file about pictures, with another tower, and with another decoder.
    let other = place.path().join("other");
    let copied = |config: &dyn Fn(&mut Value)| {
        fs::create_dir_all(&other).unwrap();
        for file in fs::read_dir(&model).unwrap() {
            let path = file.unwrap().path();
            fs::copy(&path, other.join(path.file_name().unwrap())).unwrap();
        }
        let mut value: Value = serde_json::from_slice(&fs::read(model.join("config.json")).unwrap()).unwrap();
        config(&mut value);
        fs::write(other.join("config.json"), value.to_string()).unwrap();
    };
    copied(&|_| ());
    fs::remove_file(other.join("processor_config.json")).unwrap();
    assert!(refusal(&other, &["--prompt", "a"]).contains("`processor_config.json`"));
    copied(&|config| config["vision_config"]["model_type"] = "owl".into());
    assert!(refusal(&other, &["--prompt", "a"]).contains("`vision_config.model_type` is `\"owl\"`"));
    copied(&|config| config["text_config"]["model_type"] = "mamba".into());
    assert!(refusal(&other, &["--prompt", "a"]).contains("`text_config.model_type` is `\"mamba\"`"));
}

#[test]
fn pictures_that_become_too_many_image_tokens_are_named() {
    let (Some(folder), Some(grid)) = (folder("qwen2-vl"), folder("smolvlm")) else { return };
    let place = Place::cold();
    let refusal = |folder: &Path, image: &str, setting: &str| {
        let model = folder.join("model").display().to_string();
        let start = ["run", &model, "--image", image, "--prompt", "a", "--set", "export.context=480", "--set", setting];
        let ran = Ran::of(place.command(start).current_dir(folder));
        assert_ne!(ran.status, 0, "{}", ran.stdout);
        ran.stderr
    };
    for (image, setting, words) in [
        ("strip.png", "export.image_tokens=20", ["1x250", "200 times"]),
        ("ribbon.png", "export.image_tokens=9", ["18 image tokens", "at most 9"]),
        ("wide.png", "export.image_tokens=8", ["`min_pixels`", "raise `export.image_tokens`"]),
        ("wide.png", "export.image_tokens=480", ["`export.image_tokens` is 480", "context of 480"]),
        ("wide.png", "export.image_tokens=0", ["`export.image_tokens` is 0", "leave the key out"]),
    ] {
        let said = refusal(&folder, image, setting);
        assert!(words.iter().all(|word| said.contains(word)), "{image}, {setting}: {said}");
    }
    let model = grid.join("model").display().to_string();
    let check = ["check", &model, "--target", "linux-x86_64", "--set", "export.image_tokens=20"];
    let said = Ran::of(&mut place.command(check)).stderr;
    assert!(said.contains("pictures of any size") && said.contains("leave the key out"), "{said}");
}

/// A picture as a `data:` URL, by the tool of the system that everybody has.
fn url(file: &Path) -> String {
    let text = Ran::of(Command::new("base64").arg("-w0").arg(file)).expect(0).stdout;
    format!("data:image/png;base64,{text}")
}

#[test]
fn a_binary_and_its_server_answer_questions_about_pictures() {
    for name in ["smolvlm", "gemma4-mutual", "qwen2.5-vl", "qwen3-vl", "qwen3.5", "mistral3"] {
        let Some(folder) = folder(name) else { return };
        expect_answers(&folder);
    }
}

fn expect_answers(folder: &Path) {
    let place = Place::cold_with_compiled_crates();
    let target = format!("linux-{}", std::env::consts::ARCH);
    let recipe = format!(
        "etbuild: 1\nname: seer\nmodel: {{ checkpoint: {} }}\nexport: {{ context: 480 }}\ntargets: [{target}]\nserver: true\n",
        folder.join("model").display()
    );
    let recipe = place.file("seer.yaml", recipe);
    Ran::of(&mut place.command(["build", &recipe.display().to_string()])).expect(0);
    let binary = place.out().join("seer").join(&target).join("seer");
    let out = place.path().join("tokens.txt");
    let run = |more: &[&str]| {
        let mut command = Command::new(&binary);
        command.args(["--max-new-tokens", STEPS, "--tokens-out"]).arg(&out).args(more).current_dir(folder);
        Ran::of(&mut command)
    };
    let told = run(&["--image", "wide.png", "--prompt", "What is this?"]).expect(0);
    assert_eq!(tokens(&out), wanted(folder, 1));
    assert!(run(&["--image", "cases.json", "--prompt", "a"]).expect(8).stderr.contains("neither PNG nor JPEG"));
    assert!(Ran::of(Command::new(&binary).arg("--help")).expect(0).stdout.contains("--image FILE"));

    let server = Server::of(Command::new(&binary).args(["--serve", "127.0.0.1:0"]));
    let image = |name: &str| json!({ "type": "image_url", "image_url": { "url": url(&folder.join(name)) } });
    let text = |text: &str| json!({ "type": "text", "text": text });
    let ask = |messages: Value, answers: usize| {
        let steps: usize = STEPS.parse().unwrap();
        server.post(
            "/v1/chat/completions",
            &json!({ "messages": messages, "temperature": 0, "max_tokens": steps, "n": answers }),
        )
    };
    let question = json!({ "role": "user", "content": [image("wide.png"), text("What is this?")] });
    let answer = ask(json!([question]), 2).json();
    let content =
        |answer: &Value, index: usize| answer["choices"][index]["message"]["content"].as_str().unwrap().to_owned();
    for index in [0, 1] {
        assert_eq!(content(&answer, index), told.stdout.strip_suffix('\n').unwrap());
    }
    assert_eq!(answer["usage"]["prompt_tokens"], cases::<Talk>(folder)[1].tokens.len());
    // The next turn reads the new message alone.
    let more = json!({ "role": "user", "content": [text("Why, and "), image("high.png"), text("?")] });
    let next = ask(json!([question, { "role": "assistant", "content": "a dog" }, more]), 1).json();
    let cached = next["usage"]["prompt_tokens_details"]["cached_tokens"].as_u64().unwrap();
    // A state that has read the mark of an answer cannot be cut ahead of the mark.
    let known =
        if folder.ends_with("qwen3.5") { 0 } else { cases::<Talk>(folder)[1].tokens.len() - "assistant:".len() };
    assert!(cached as usize >= known, "{next}");
    assert_eq!(next["usage"]["prompt_tokens"], cases::<Talk>(folder)[3].tokens.len());
    let plain = ask(json!([{ "role": "user", "content": "What is this?" }]), 1).json();
    assert_eq!(plain["usage"]["prompt_tokens"], cases::<Talk>(folder)[0].tokens.len());
    for (part, word) in [
        (json!({ "type": "image_url", "image_url": { "url": "http://localhost/cat.png" } }), "loads no other URLs"),
        (json!({ "type": "image_url", "image_url": { "url": "data:image/png;base64,Zm9v" } }), "neither PNG nor JPEG"),
        (json!({ "type": "image_url" }), "image_url.url"),
    ] {
        let refused = ask(json!([{ "role": "user", "content": [part] }]), 1);
        assert_eq!(refused.status, 400);
        let error = refused.json();
        assert_eq!(error["error"]["param"], "messages[0]");
        assert!(error["error"]["message"].as_str().unwrap().contains(word), "{error}");
    }
    let pictures: Vec<Value> = (0..60).map(|_| image("thin.png")).collect();
    let full = ask(json!([{ "role": "user", "content": pictures }]), 1);
    assert_eq!((full.status, &full.json()["error"]["code"]), (400, &json!("context_length_exceeded")));
}
