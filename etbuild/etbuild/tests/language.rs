//! The tiny language model: deployment, conversation, and equal answers on every target. Comparisons with Python need
//! `ETBUILD_TEST_PYTHON`, a Python with torch, transformers and tokenizers; without it those tests fail, unless
//! `ETBUILD_SKIP_PYTHON=1` skips them.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, OnceLock};

use et_llm::Message;
use etbuild_engine::Event;
use serde_json::Value;

use crate::support::{self, Place, Ran, repository, unit};

const RECIPE: &str = "recipes/tiny-llama.yaml";
const MODEL: &str = "examples/tiny-llama/model";
const TARGETS: [&str; 2] = ["linux-x86_64", "linux-aarch64"];

/// A place with a deployed recipe, and the JSON output of the deploy.
fn deployed() -> &'static (Place, Value) {
    static DEPLOYED: OnceLock<(Place, Value)> = OnceLock::new();
    DEPLOYED.get_or_init(|| {
        let place = Place::cold_with_compiled_crates();
        let result = place.json(&format!("deploy {RECIPE}"));
        (place, result)
    })
}

/// The command that runs the binary of a target.
fn binary(target: &str) -> Command {
    let binary = deployed().0.out().join("tiny-llama").join(target).join("tiny-llama");
    if target == "linux-x86_64" {
        return Command::new(binary);
    }
    let mut emulator = Command::new("qemu-aarch64");
    emulator.arg(binary);
    emulator
}

fn run(target: &str, arguments: &[&str]) -> Ran {
    Ran::of(binary(target).args(arguments))
}

/// Python's results, computed once; `None` without a Python.
fn python() -> Option<&'static (tempfile::TempDir, Value)> {
    static EXPECTED: OnceLock<Option<(tempfile::TempDir, Value)>> = OnceLock::new();
    let expected = EXPECTED.get_or_init(|| {
        let python = support::python::with("torch, transformers and tokenizers")?;
        let folder = tempfile::tempdir().unwrap();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/language.py");
        Ran::of(Command::new(python).arg(script).arg(repository().join(MODEL)).arg(folder.path())).expect(0);
        let expected = serde_json::from_slice(&fs::read(folder.path().join("expected.json")).unwrap()).unwrap();
        Some((folder, expected))
    });
    expected.as_ref()
}

fn tokens(value: &Value) -> Vec<u32> {
    value.as_array().unwrap().iter().map(|token| token.as_u64().unwrap() as u32).collect()
}

/// A file of tokens in a folder.
fn token_file(folder: &Path, tokens: &[u32]) -> PathBuf {
    let words: Vec<String> = tokens.iter().map(u32::to_string).collect();
    let path = folder.join("tokens.txt");
    fs::write(&path, words.join(" ")).unwrap();
    path
}

#[test]
fn texts_of_many_languages_tokenize_like_python_and_round_trip() {
    let Some((folder, expected)) = python() else { return };
    for (name, cases) in expected["tokenizers"].as_object().unwrap() {
        let text = et_text::make(&fs::read(folder.path().join(name)).unwrap(), None).unwrap();
        for case in cases.as_array().unwrap() {
            let wanted = tokens(&case["tokens"]);
            assert_eq!(text.encode(case["text"].as_str().unwrap(), true).unwrap(), wanted, "{name}: {case}");
            assert_eq!(text.decode(&wanted).unwrap(), case["decoded"].as_str().unwrap(), "{name}: {case}");
        }
    }
}

#[test]
fn conversations_render_like_transformers() {
    let Some((_, expected)) = python() else { return };
    let config: Value =
        serde_json::from_slice(&fs::read(repository().join(MODEL).join("tokenizer_config.json")).unwrap()).unwrap();
    let chat = serde_json::json!({ "template": config["chat_template"], "bos_token": config["bos_token"] });
    let tokenizer = fs::read(repository().join(MODEL).join("tokenizer.json")).unwrap();
    let text = et_text::make(&tokenizer, Some(chat.to_string().as_bytes())).unwrap();
    for chat in expected["chats"].as_array().unwrap() {
        let role = |role: &Value| ["system", "user", "assistant"].into_iter().find(|known| role == known).unwrap();
        let messages = chat["messages"].as_array().unwrap().iter();
        let messages: Vec<Message> = messages
            .map(|message| Message::new(role(&message["role"]), message["content"].as_str().unwrap()))
            .collect();
        assert_eq!(text.conversation(&messages).unwrap(), chat["text"].as_str().unwrap());
    }
}

#[test]
fn both_architectures_equal_transformers() {
    for target in TARGETS {
        let verification = &unit(&deployed().1, target)["verification"];
        assert_eq!((&verification["state"], &verification["cases"]), (&"done".into(), &8.into()), "{verification}");
        assert_eq!(verification["same_prediction"], 8, "{target}: {verification}");
    }
}

#[test]
fn greedy_tokens_equal_transformers() {
    let Some((folder, expected)) = python() else { return };
    let mut compared = 0;
    for case in expected["greedy"].as_array().unwrap() {
        let (prompt, wanted) = (token_file(folder.path(), &tokens(&case["prompt"])), tokens(&case["tokens"]));
        let ran = run("linux-x86_64", &["--tokens-in", prompt.to_str().unwrap(), "--max-new-tokens", "150"]).expect(0);
        let got: Vec<u32> = ran.stdout.split_whitespace().map(|token| token.parse().unwrap()).collect();
        assert_eq!(got, wanted);
        compared += wanted.len();
    }
    assert!(compared >= 100, "only {compared} tokens were compared");
}

#[test]
fn both_architectures_tell_the_same_tale() {
    let told = TARGETS.map(|target| {
        let arguments = ["--chat", "--prompt", "Tell me a tale about a fox.", "--max-new-tokens", "60"];
        run(target, &arguments).expect(0).stdout
    });
    assert!(told[0].starts_with("Once there was a ") && told[0].split_whitespace().count() > 20, "{}", told[0]);
    assert_eq!(told[0], told[1]);
}

#[test]
fn a_seed_repeats_the_sampled_text() {
    let say = |seed| {
        let arguments = ["--prompt", "Once", "--temperature", "1", "--max-new-tokens", "40", "--seed", seed];
        run("linux-x86_64", &arguments).expect(0).stdout
    };
    assert_eq!(say("1"), say("1"));
    assert_ne!(say("1"), say("2"));
}

#[test]
fn speculative_decoding_keeps_the_text_on_both_architectures() {
    for target in TARGETS {
        for sampling in ["0", "1"] {
            let words = ["--chat", "--prompt", "Tell me a tale about a fox.", "--seed", "5", "--temperature", sampling];
            let say =
                |more: &[&str]| run(target, &[&words[..], &["--max-new-tokens", "120", "--stats"], more].concat());
            let (plain, guessed) = (say(&[]).expect(0), say(&["--lookup"]).expect(0));
            assert_eq!(guessed.stdout, plain.stdout, "{target}");
            assert!(
                guessed.stderr.contains("draft tokens accepted") && !plain.stderr.contains("draft tokens"),
                "{}",
                guessed.stderr
            );
        }
    }
}

#[test]
fn a_conversation_goes_on_line_by_line() {
    let mut command = binary("linux-x86_64");
    command.arg("--chat").arg("--stats").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let lines = "Hello!\n\nHow are you?\n/new\nHello!\n";
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let answers: Vec<&str> = said.lines().collect();
    assert_eq!(answers.len(), 3, "{said}");
    assert_eq!(answers[0], answers[2], "a conversation that begins anew remembers nothing");
    assert_eq!(String::from_utf8(output.stderr).unwrap().matches("tokens generated").count(), 3);
}

#[test]
fn a_message_beyond_the_context_does_not_end_a_conversation() {
    let mut command = binary("linux-x86_64");
    command.args(["--chat", "--stats", "--temperature", "0", "--max-new-tokens", "20"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let lines = format!("Hello!\n{}\nHow are you?\n/new\nHello!\nHow are you?\n", "a fox and ".repeat(2000));
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let (said, told) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    let answers: Vec<&str> = said.lines().collect();
    assert!(output.status.success() && answers.len() == 4, "{said}{told}");
    assert_eq!(answers[..2], answers[2..], "the conversation is the one without the message");
    let says = "that the program was built for: the conversation goes on without the message";
    assert_eq!((told.matches(says).count(), told.matches("tokens generated").count()), (1, 4), "{told}");
}

#[test]
fn several_answers_read_the_prompt_once_and_have_seeds_of_their_own() {
    let words = ["--prompt", "Once there was", "--max-new-tokens", "12", "--temperature", "1", "--stats", "--json"];
    let say = |more: &[&str]| run("linux-x86_64", &[&words[..], more].concat()).expect(0);
    let three = say(&["--n", "3", "--seed", "5", "--logprobs", "2"]);
    let answers: Vec<Value> = three.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), 3, "{}", three.stdout);
    let read = |ran: &Ran| ran.stderr.matches("; 1 tokens read").count();
    assert_eq!(read(&three), 2, "{}", three.stderr);
    for (seed, answer) in ["5", "6", "7"].into_iter().zip(&answers) {
        let alone = say(&["--seed", seed]).json();
        assert_eq!((&alone["text"], &alone["tokens"]), (&answer["text"], &answer["tokens"]), "{seed}");
        let logprobs = answer["logprobs"].as_array().unwrap();
        assert_eq!(logprobs.len(), answer["tokens"].as_array().unwrap().len());
        let sum: f64 = logprobs.iter().map(|token| token["logprob"].as_f64().unwrap()).sum();
        let mean = answer["mean_logprob"].as_f64().unwrap();
        assert!((mean - sum / logprobs.len() as f64).abs() < 1e-5 && mean < 0.0, "{answer}");
    }
    assert_ne!(answers[0]["text"], answers[1]["text"]);
    let greedy = ["--prompt", "Once there was", "--max-new-tokens", "4", "--temperature", "0", "--logprobs", "1"];
    let greedy = run("linux-x86_64", &greedy).expect(0);
    let lines: Vec<Value> = greedy.stderr.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines.len() == 4 && lines.iter().all(|line| line["top"][0]["token"] == line["token"]), "{lines:?}");
    let texts: String = lines.iter().map(|line| line["text"].as_str().unwrap()).collect();
    assert_eq!(texts, greedy.stdout.trim_end());
}

#[test]
fn etbuild_run_has_the_answers_in_its_result() {
    let place = &deployed().0;
    let words = ["run", MODEL, "--prompt", "Once there was", "--max-new-tokens", "5", "--temperature", "0", "--n", "2"];
    let told = Ran::of(&mut place.command(words.into_iter().chain(["--logprobs", "0", "--output", "json"])));
    let told = told.expect(0).json();
    let answers = told["answers"].as_array().unwrap();
    assert_eq!((answers.len(), &answers[0]), (2, &answers[1]));
    let own = run("linux-x86_64", &[&words[2..8], &["--json", "--logprobs", "0"]].concat()).expect(0).json();
    assert_eq!(own["tokens"], answers[0]["tokens"]);
}

#[test]
fn bench_prints_its_measurements() {
    let place = tempfile::tempdir().unwrap();
    let prompt = token_file(place.path(), &[0, 40, 41, 42]);
    let arguments = ["--tokens-in", prompt.to_str().unwrap(), "--threads", "2", "--temperature", "0"];
    let effort = ["--bench", "prefill=70,decode=9", "--rounds", "2"];
    let measured = run("linux-x86_64", &[&arguments[..], &effort].concat()).expect(0).json();
    let keys: Vec<&str> = measured.as_object().unwrap().keys().map(String::as_str).collect();
    let mut expected = ["load_ms", "first_token_ms", "prefill_tok_s", "decode_tok_s", "threads", "peak_rss_mib"];
    expected.sort_unstable();
    let mut found = keys.clone();
    found.sort_unstable();
    assert_eq!(found, expected);
    for key in ["first_token_ms", "prefill_tok_s", "decode_tok_s"] {
        let numbers = measured[key].as_array().unwrap();
        assert!(numbers.len() == 2 && numbers.iter().all(|number| number.as_f64().unwrap() > 0.0), "{measured}");
    }
    assert_eq!(measured["threads"], 2);
}

#[test]
fn logits_have_a_row_for_each_token() {
    let place = tempfile::tempdir().unwrap();
    let prompt = token_file(place.path(), &[0, 40, 41, 42]);
    let file = place.path().join("logits.safetensors");
    let arguments = ["--tokens-in", prompt.to_str().unwrap(), "--logits", file.to_str().unwrap(), "--max-new-tokens"];
    for (count, rows) in [("0", 4), ("2", 5)] {
        run("linux-x86_64", &[&arguments[..], &[count]].concat()).expect(0);
        let bytes = fs::read(&file).unwrap();
        let tensors = et_module::safetensors::SafeTensors::parse(&bytes).unwrap().tensors;
        assert_eq!(tensors["logits"].shape, [rows, 673]);
    }
}

/// The output of the model on the host, quantized with these options.
fn said_on_the_host(place: &Place, options: &[&str], more: &[&str]) -> Ran {
    let sets = options.iter().flat_map(|option| ["--set", *option]);
    let fixed = ["run", MODEL, "--partition", "cpu", "--set", "export.context=512"];
    Ran::of(&mut place.command(fixed.into_iter().chain(sets).chain(more.iter().copied()))).expect(0)
}

/// The options of int4 weights with this group size.
fn four_bits(group: usize, more: &[&str]) -> Vec<String> {
    let own = ["quantize.scheme=8da4w".to_owned(), format!("quantize.group_size={group}")];
    own.into_iter().chain(more.iter().map(|text| (*text).to_owned())).collect()
}

#[test]
fn weights_of_four_bits_foresee_text_about_as_well() {
    let (place, text) = (Place::cold(), repository().join("examples/tiny-llama/held-out.txt"));
    let foreseen = |options: &[String]| {
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        let said = said_on_the_host(&place, &options, &["--perplexity", text.to_str().unwrap()]).json();
        assert_eq!((&said["texts"], &said["tokens"]), (&24.into(), &1680.into()), "{said}");
        said["perplexity"].as_f64().unwrap()
    };
    let float = foreseen(&[]);
    let calibrate =
        format!("quantize.calibrate={}", repository().join("examples/tiny-llama/calibration.txt").display());
    for group in [32, 128] {
        let plain = foreseen(&four_bits(group, &[]));
        let compensated = foreseen(&four_bits(group, &["quantize.method=gptq", &calibrate]));
        let rotated = foreseen(&four_bits(group, &["quantize.rotate=hadamard"]));
        let both = foreseen(&four_bits(group, &["quantize.method=gptq", &calibrate, "quantize.rotate=hadamard"]));
        let all = format!("{group}: {float} {plain} {compensated} {rotated} {both}");
        assert!([plain, compensated, rotated, both].into_iter().all(|one| one < 1.03 * float), "{all}");
        assert!(compensated < plain, "{all}");
    }
}

/// int8 attention, int4 for the remaining layers.
const MIXED: [&str; 3] = [
    "quantize.scheme=8da4w",
    "quantize.group_size=32",
    "quantize.layers=[{ name: '*.self_attn.*', scheme: dynamic-int8 }]",
];

#[test]
fn attention_in_eight_bits_and_all_else_in_four_foresees_text_about_as_well() {
    let (place, text) = (Place::cold(), repository().join("examples/tiny-llama/held-out.txt"));
    let foreseen = |options: &[&str]| {
        let said = said_on_the_host(&place, options, &["--perplexity", text.to_str().unwrap()]).json();
        said["perplexity"].as_f64().unwrap()
    };
    let float = foreseen(&[]);
    let [mixed, cached] = [MIXED.to_vec(), [&MIXED[..], &["export.cache=int8"]].concat()].map(|all| foreseen(&all));
    assert!(mixed < 1.03 * float && cached < 1.01 * mixed, "{float} {mixed} {cached}");
    let integers = foreseen(&["quantize.scheme=int8-weights", "export.cache=int8"]);
    assert!(integers < 1.01 * float, "{float} {integers}");
}

/// Matrices of a layer, in weights: attention, and the feed-forward network.
const LAYER: [usize; 2] = [128 * (128 + 2 * 64 + 128), 3 * 128 * 320];
const TABLE: usize = 673 * 128;

/// The program file of the model with chunks of these lengths.
fn program_with_chunks(place: &Place, lengths: &str) -> Vec<u8> {
    let prefill = format!("export.prefill={lengths}");
    let options = [prefill.as_str(), "export.context=512", "quantize.scheme=8da4w", "quantize.group_size=32"];
    let files =
        support::logits::files_with(&repository().join(MODEL), &place.cache(), &options, Arc::new(|_: &Event| {}));
    files.program.to_vec()
}

#[test]
fn chunks_of_several_lengths_give_the_logits_of_one() {
    let place = Place::cold();
    let (one, several) = (program_with_chunks(&place, "128"), program_with_chunks(&place, "[8, 32, 128]"));
    // The methods share all weights.
    assert!(several.len() < one.len() + 150_000, "{} {}", several.len(), one.len());
    let [mut one, mut several] = [one, several].map(|program| support::logits::language_model(&program));
    for count in [1, 7, 16, 33, 140, 300] {
        let tokens: Vec<u32> = (0..count).map(|index| 40 + index % 60).collect();
        for model in [&mut one, &mut several] {
            model.reset();
            // A first piece, so that chunks begin at any position.
            model.read(&[41, 42, 43]).unwrap();
            model.read(&tokens).unwrap();
        }
        let pairs = one.logits().iter().zip(several.logits());
        let difference = pairs.map(|(one, other)| (one - other).abs()).fold(0.0, f32::max);
        assert!(difference < 0.05, "{count}: {difference}");
    }
}

#[test]
fn weights_take_the_room_of_their_bits() {
    let place = Place::cold_with_compiled_crates();
    let size = |options: &[&str]| {
        let sets = options.iter().flat_map(|option| ["--set", *option]);
        let fixed =
            ["build", MODEL, "--target", "linux-aarch64", "--set", "export.prefill=64", "--set", "export.context=64"];
        Ran::of(&mut place.command(fixed.into_iter().chain(sets))).expect(0);
        let paths = support::files::paths(&place.out()).into_iter();
        let [file] = &paths.filter(|path| path.extension().is_some_and(|end| end == "pte")).collect::<Vec<_>>()[..]
        else {
            panic!("one program file");
        };
        fs::metadata(file).unwrap().len() as usize
    };
    let small = size(&["quantize.scheme=8da4w", "quantize.group_size=32"]);
    let (four, layers) = (|weights: usize| weights / 2 + weights / 32, 4);
    // The size of the tokenizer and of instructions; `8da4w` has twice as many scales and instructions.
    const INSTRUCTIONS: usize = 60_000;
    let rest = small - four(layers * (LAYER[0] + LAYER[1]) + TABLE);
    let near = |got: usize, weights: usize| {
        let (least, most) = (weights + rest, weights + rest + weights / 20 + INSTRUCTIONS);
        assert!((least - INSTRUCTIONS..most).contains(&got), "{got} is not {weights} and {rest}");
    };
    // A group has a byte for its scale; an odd number of groups is padded.
    let groups = (layers * (LAYER[0] + LAYER[1]) + TABLE) / 64;
    let saved = small - size(&["quantize.scheme=8da4w", "quantize.group_size=64"]);
    assert!((groups - groups / 20..groups).contains(&saved), "{saved} is not {groups}");
    near(size(&MIXED), layers * LAYER[0] + four(layers * LAYER[1] + TABLE));
    // The checkpoint is in `bfloat16`.
    near(size(&[]), 2 * (layers * (LAYER[0] + LAYER[1]) + TABLE));
    near(size(&["quantize.scheme=int8-weights"]), layers * (LAYER[0] + LAYER[1]) + TABLE);
    near(size(&["quantize.scheme=dynamic-int8"]), layers * (LAYER[0] + LAYER[1]) + TABLE);
    near(size(&["quantize.scheme=int4-weights"]), four(layers * (LAYER[0] + LAYER[1]) + TABLE));
}

#[test]
fn contradictory_options_are_refused_with_a_reason() {
    let place = tempfile::tempdir().unwrap();
    for (tokens, reason) in
        [(vec![1; 513], "context of 512"), (vec![673], "no token 673"), (vec![], "no token to continue")]
    {
        let file = token_file(place.path(), &tokens);
        let said = run("linux-x86_64", &["--tokens-in", file.to_str().unwrap()]).expect(8).stderr;
        assert!(said.contains(reason), "{said}");
    }
    run("linux-x86_64", &[]).expect(2);
}

#[test]
fn a_checkpoint_runs_on_the_host() {
    let place = Place::cold();
    let command = |words: &[&str]| place.command(["run", MODEL].iter().chain(words));
    let arguments = ["--partition", "cpu", "--set", "export.context=512", "--set", "export.prefill=64"];
    let prompt = ["--chat", "--prompt", "Who are you?"];
    let said = Ran::of(&mut command(&[&arguments[..], &prompt].concat())).expect(0).stdout;
    assert_eq!(said, run("linux-x86_64", &prompt).expect(0).stdout);
    let refused = Ran::of(&mut command(&["--outputs", "/dev/null"])).expect(2).stderr;
    assert!(refused.contains("--prompt"), "{refused}");
}
