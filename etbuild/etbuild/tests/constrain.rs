//! Constrained output and tool calls of the tiny language model, in the server and on the command line.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use serde_json::{Value, json};

use crate::serve::{CHAT, RECIPE, Server, binary, deployed};
use crate::support::{Place, Ran, python, repository, schemas};

/// How many random schemas are tried.
const SCHEMAS: u64 = 1000;

/// The mistake of a text by a JSON schema; `None` for a text that the schema accepts.
pub fn mistake(schema: &Value, text: &str) -> Option<String> {
    let validator = jsonschema::options().should_validate_formats(true).build(schema).unwrap();
    let value: Value = match serde_json::from_str(text) {
        Ok(value) => value,
        Err(error) => return Some(format!("{error} in {text} for {schema}")),
    };
    validator.validate(&value).err().map(|error| format!("{error} in {text} for {schema}"))
}

#[test]
fn answers_to_random_schemas_are_valid() {
    let server = Server::start(&["--slots", "8"]);
    let next = AtomicU64::new(0);
    let ask = |seed: u64| {
        let schema = schemas::random(seed);
        let format = json!({ "type": "json_schema", "json_schema": { "name": "a", "strict": true, "schema": schema } });
        let request =
            json!({ "prompt": "Once", "max_tokens": 500, "temperature": 1, "seed": seed, "response_format": format });
        let answer = server.post("/v1/completions", &request).json();
        let choice = &answer["choices"][0];
        assert_eq!(choice["finish_reason"], "stop", "{answer} for {schema}");
        assert_eq!(mistake(&schema, choice["text"].as_str().unwrap()), None);
    };
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let seeds = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
                seeds.take_while(|seed| *seed < SCHEMAS).for_each(ask);
            });
        }
    });
}

/// What the command line answers.
fn told(arguments: &[&str]) -> Ran {
    Ran::of(Command::new(binary()).args(["--prompt", "Once"]).args(arguments))
}

#[test]
fn the_command_line_has_forms() {
    let place = deployed();
    let schema = json!({ "type": "object", "properties": { "fox": { "type": "boolean" } }, "required": ["fox"], "additionalProperties": false });
    let file = place.file("fox.json", schema.to_string());
    for given in [schema.to_string(), file.display().to_string()] {
        let text = told(&["--temperature", "1", "--json-schema", &given]).expect(0).stdout;
        assert_eq!(mistake(&schema, &text), None);
    }
    let grammar = place.file("sum.lark", "start: NUMBER (\"+\" NUMBER)~2\nNUMBER: /[1-9]{1,2}/\n");
    for temperature in ["0", "1"] {
        let with = ["--temperature", temperature, "--grammar", grammar.to_str().unwrap()];
        let sum = told(&with).expect(0).stdout;
        assert_eq!(sum.trim_end().split('+').filter(|number| number.parse::<u32>().is_ok()).count(), 3, "{sum}");
        // Draft tokens are accepted only if they may follow.
        let guessed = told(&[&with[..], &["--lookup"]].concat());
        assert!(guessed.status != 0 || guessed.stdout == sum, "{} {sum}", guessed.stdout);
    }
    let ran = told(&["--regex", "a("]).expect(8);
    assert!(ran.stderr.contains("the regular expression") && ran.stderr.contains("unclosed group"), "{}", ran.stderr);
    let stopped = told(&["--temperature", "0", "--stop", " a"]).expect(0).stdout;
    assert!(!stopped.contains(" a") && told(&["--temperature", "0"]).stdout.starts_with(stopped.trim_end()));
}

/// A chat template with tools and thoughts, and tools.
const TOOLS: &str = "etbuild/etbuild/tests/data/tools";

/// A copy of the tiny model with the template, in a folder of the place.
pub fn model_with_tools(place: &Place) -> PathBuf {
    for entry in std::fs::read_dir(repository().join("examples/tiny-llama/model")).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        place.file(&format!("model/{name}"), std::fs::read(entry.path()).unwrap());
    }
    let template = std::fs::read(repository().join(TOOLS).join("chat_template.jinja")).unwrap();
    place.file("model/chat_template.jinja", template).parent().unwrap().to_owned()
}

/// The server of the model with this template.
fn with_tools() -> Server {
    static BUILT: OnceLock<Place> = OnceLock::new();
    let place = BUILT.get_or_init(|| {
        let place = Place::cold_with_compiled_crates();
        let settings = format!("--set server=true --set model.checkpoint={}", model_with_tools(&place).display());
        place.run(&format!("build {RECIPE} --target linux-x86_64 {settings}")).expect(0);
        place
    });
    let binary = place.out().join("tiny-llama/linux-x86_64/tiny-llama");
    Server::of(Command::new(binary).args(["--serve", "127.0.0.1:0"]))
}

pub fn tools() -> Value {
    serde_json::from_slice(&std::fs::read(repository().join(TOOLS).join("tools.json")).unwrap()).unwrap()
}

#[test]
fn a_demanded_call_has_the_arguments_of_its_schema() {
    let server = with_tools();
    let named = json!({ "type": "function", "function": { "name": "tell" } });
    for (seed, choice) in [(1, json!("required")), (2, json!("required")), (3, named)] {
        let request = json!({
            "messages": [{ "role": "user", "content": "Tell me a tale." }],
            "tools": tools(), "tool_choice": choice, "parallel_tool_calls": false, "temperature": 1, "seed": seed,
        });
        let answer = server.post(CHAT, &request).json();
        let choice = &answer["choices"][0];
        assert_eq!(
            (&choice["finish_reason"], &choice["message"]["content"]),
            (&json!("tool_calls"), &json!(null)),
            "{answer}"
        );
        let calls = choice["message"]["tool_calls"].as_array().unwrap();
        let function = &calls[0]["function"];
        let tool = tools()
            .as_array()
            .unwrap()
            .iter()
            .find(|tool| tool["function"]["name"] == function["name"])
            .cloned()
            .unwrap();
        let schema = tool["function"].get("parameters").cloned().unwrap_or(json!({ "type": "object" }));
        assert_eq!((calls.len(), mistake(&schema, function["arguments"].as_str().unwrap())), (1, None));
    }
}

#[test]
fn thoughts_come_ahead_of_the_answer() {
    let server = with_tools();
    let request = json!({
        "messages": [{ "role": "user", "content": "Tell me a tale." }], "temperature": 0, "max_tokens": 9,
        "guided_regex": "<think>fox</think>\n\nhen",
    });
    // The form holds from the beginning, so the words are text.
    let message = server.post(CHAT, &request).json()["choices"][0]["message"].clone();
    assert!(
        message["content"].as_str().unwrap().starts_with("<think>") && message.get("reasoning_content").is_none(),
        "{message}"
    );
    let thinking = json!({
        "messages": [{ "role": "user", "content": "Tell me a tale." }], "temperature": 0, "max_tokens": 9,
        "chat_template_kwargs": { "enable_thinking": true },
    });
    let message = server.post(CHAT, &thinking).json()["choices"][0]["message"].clone();
    assert!(!message["reasoning_content"].as_str().unwrap().is_empty() && message["content"] == "", "{message}");
}

#[test]
fn the_client_of_openai_calls_tools() {
    let Some(python) = python::with("openai") else { return };
    let server = with_tools();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tools.py");
    let base = format!("http://{}/v1", server.address);
    let got = Ran::of(Command::new(python).arg(script).args([&base, &tools().to_string()])).expect(0).json();
    let calls = got["whole"].as_array().unwrap();
    assert!(
        !calls.is_empty() && calls.iter().all(|call| call["type"] == "function" && call["has_id"] == true),
        "{got}"
    );
    assert_eq!(got["streamed"], got["whole"]);
    assert_eq!(got["written"], json!([["tell", { "words": "fox", "count": 3 }]]));
    assert_eq!((&got["text"], &got["reason"]), (&json!("Ho "), &json!("tool_calls")));
    assert_eq!(got["without"], json!(null));
    assert!(got["answer"].as_str().is_some_and(|text| !text.is_empty()), "{got}");
    let parsed = &got["parsed"];
    assert!(parsed["fox"].is_boolean() && parsed["hens"].as_array().unwrap().len() <= 2, "{got}");
}
