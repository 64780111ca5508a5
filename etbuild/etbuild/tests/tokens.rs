//! Tokenizers in other forms than `tokenizer.json` give the tokens of the libraries that the forms come from. `tokens.py` has the models.
//! Needs `ETBUILD_TEST_PYTHON`, a Python with torch, transformers, sentencepiece and tiktoken; without it these tests fail, unless
//! `ETBUILD_SKIP_PYTHON=1` skips them.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use et_llm::{Conversation, Message, Part, Picture, Text};
use etbuild_engine::Event;
use serde::Deserialize;
use serde_json::Value;

use crate::support::{Place, Ran, files, logits, python};

/// The folders of all models, written once; `None` without a Python.
fn models() -> Option<Vec<PathBuf>> {
    static FOLDER: OnceLock<Option<tempfile::TempDir>> = OnceLock::new();
    let folder =
        FOLDER.get_or_init(|| python::written_by("tokens.py", "torch, transformers, sentencepiece and tiktoken", &[]));
    folder.as_ref().map(python::folders)
}

/// The tokenizer in the program file of a model.
fn tokenizer(model: &Path, place: &Place) -> Box<dyn Text> {
    let options = ["partition=[portable]", "export.context=16", "export.prefill=4"];
    let files = logits::files_with(&model.join("model"), &place.cache(), &options, Arc::new(|_: &Event| {}));
    let data = |key: &str| et_module::named_data(&files.program, key);
    et_text::make(data(et_llm::TOKENIZER_KEY).unwrap(), data(et_llm::CHAT_KEY)).unwrap()
}

#[test]
fn tokenizers_of_other_forms_give_the_tokens_of_their_libraries() {
    let Some(models) = models() else { return };
    let place = Place::cold();
    for model in models {
        let tokenizer = tokenizer(&model, &place);
        let texts: Vec<(String, Vec<u32>)> =
            serde_json::from_slice(&fs::read(model.join("texts.json")).unwrap()).unwrap();
        assert_eq!(texts.len(), 200);
        for (text, tokens) in texts {
            assert_eq!(tokenizer.encode(&text, true).unwrap(), tokens, "{}: {text:?}", model.display());
        }
    }
}

/// A conversation of `conversations.json`.
#[derive(Deserialize)]
struct Talk {
    messages: Vec<Value>,
    tools: Vec<Value>,
    tokens: Vec<u32>,
}

#[test]
fn conversations_without_a_template_are_those_of_mistral_common() {
    let Some(models) = models() else { return };
    let place = Place::cold();
    let mut count = 0;
    for model in models.iter().filter(|model| model.join("conversations.json").exists()) {
        let tokenizer = tokenizer(model, &place);
        let talks: Vec<Talk> = serde_json::from_slice(&fs::read(model.join("conversations.json")).unwrap()).unwrap();
        for talk in &talks {
            let messages: Vec<Message> = talk.messages.iter().map(message).collect();
            let tools = Value::from(talk.tools.clone()).to_string();
            let tools = (!talk.tools.is_empty()).then_some(tools.as_str());
            let text = tokenizer.render(&Conversation { messages: &messages, tools, variables: None }).unwrap();
            assert_eq!(tokenizer.encode(&text, false).unwrap(), talk.tokens, "{}: {text:?}", model.display());
        }
        count += talks.len();
        let sound = Picture { rows: 0, columns: 0, is_sound: true, tiles: Vec::new() };
        let parts = vec![Part::Picture(Arc::new(sound)), Part::Text("What is said?".to_owned())];
        let text = tokenizer.conversation(&[Message::of_parts("user", parts)]).unwrap();
        assert_eq!(text, "<s>[INST][BEGIN_AUDIO][AUDIO]What is said?[/INST]");
    }
    assert_eq!(count, 48);
}

/// A message of a client.
fn message(said: &Value) -> Message {
    let role = ["system", "user", "assistant", "tool"].into_iter().find(|role| said["role"] == *role).unwrap();
    let message = Message::new(role, said["content"].as_str().unwrap_or_default());
    Message { more: Some(said.to_string()), ..message }
}

#[test]
fn a_damaged_tokenizer_is_refused_by_name() {
    let Some(models) = models() else { return };
    let place = Place::cold();
    for (name, file) in [
        ("t5", "spiece.model"),
        ("llama", "tokenizer.model"),
        ("tekken", "tekken.json"),
        ("gpt2", "vocab.json"),
        ("gpt2", "merges.txt"),
    ] {
        let model = models.iter().find(|model| model.ends_with(name)).unwrap().join("model");
        let folder = place.path().join(file);
        files::copy(&model, &folder);
        files::change(&folder.join(file), |bytes| bytes.truncate(bytes.len() / 2 - 1));
        let ran = Ran::of(&mut place.command(["run", &folder.display().to_string(), "--prompt", "a"]));
        assert!(ran.status != 0 && ran.stderr.contains(file) && ran.stderr.contains("ETB"), "{}", ran.stderr);
    }
}

#[test]
fn a_class_without_a_rule_for_words_is_refused_by_name() {
    let Some(models) = models() else { return };
    let place = Place::cold();
    let model = models.iter().find(|model| model.ends_with("codegen")).unwrap().join("model");
    let folder = place.path().join("other");
    files::copy(&model, &folder);
    for (class, part) in [(r#""CodeGenTokenizer""#, "DebertaTokenizer"), (r#""DebertaTokenizer""#, "null")] {
        let named = if part == "null" { part.to_owned() } else { format!("\"{part}\"") };
        files::change(&folder.join("tokenizer_config.json"), |bytes| {
            *bytes = String::from_utf8_lossy(bytes).replace(class, &named).into_bytes();
        });
        let ran = Ran::of(&mut place.command(["run", &folder.display().to_string(), "--prompt", "a"]));
        let found = if part == "null" { "`model_type` is `\"llama\"`" } else { part };
        assert!(ran.status != 0 && ran.stderr.contains(found), "{}", ran.stderr);
        assert!(ran.stderr.contains("`GPT2Tokenizer`"), "{}", ran.stderr);
    }
}
