//! Conversations with tools, thoughts, stop texts and biases in apps: the programs in C, C++, Kotlin, Swift, JavaScript and Rust tell what the
//! server answers.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use et_llm::{Matcher, Question, Random, Token};
use etbuild_run::Loader;
use etbuild_run::language::{
    Alternative, Choice, Constraint, LanguageModel, Likelihood, NamedCall, Options, Piece, Sampling, Tools, Turn,
};
use serde_json::{Value, json};

use crate::adapters::write_tiny_adapter;
use crate::apple;
use crate::constrain::{mistake, model_with_tools, tools};
use crate::java::App;
use crate::library::linked;
use crate::serve::{CHAT, RECIPE, Response, Server, post};
use crate::support::programs::has;
use crate::support::{Place, Ran, repository};

const COMPLETIONS: &str = "/v1/completions";
const QUESTION: &str = "Tell me a tale.";
const WRITTEN: &str =
    r#"Ho <tool_call>\n\{"name": "tell", "arguments": \{"words": "fox", "count": 3\}\}\n</tool_call>"#;

/// A part of a long prompt.
const LONG: &str = "fox and ";

/// Texts of tokens with the logarithms of their probabilities, in a form that every language prints alike.
fn shown_likely(tokens: impl IntoIterator<Item = (String, f64)>) -> String {
    let tokens: Vec<String> =
        tokens.into_iter().map(|(text, logprob)| format!("{}{logprob:.3}", line(&text))).collect();
    format!("|{}", tokens.join("~"))
}

/// A text in a line.
fn line(text: &str) -> String {
    text.replace('\n', "\\n")
}

/// The lines that the programs print, by what the server answers.
struct Wanted {
    server: Server,
    lines: Vec<String>,
}

impl Wanted {
    /// Adds the answer to a conversation; returns the message.
    fn ask(&mut self, name: &str, messages: &Value, more: &Value) -> Value {
        let mut request = json!({ "messages": messages, "max_tokens": 200, "temperature": 0 });
        request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let answer = self.server.post(CHAT, &request).json();
        let message = answer["choices"][0]["message"].clone();
        let text = |key: &str| line(message[key].as_str().unwrap_or_default());
        let calls = message["tool_calls"].as_array().into_iter().flatten();
        let calls = calls.map(|call| {
            let function = &call["function"];
            format!("|{}{}", function["name"].as_str().unwrap(), function["arguments"].as_str().unwrap())
        });
        let said = text("reasoning_content") + &text("content") + &calls.collect::<String>();
        self.lines.push(format!("{name}={said}"));
        if name == "answer" {
            self.lines.push(format!("prompt={}", answer["usage"]["prompt_tokens"]));
        }
        message
    }

    /// Adds how probable the tokens of an answer and the two most probable tokens are.
    fn likely(&mut self, messages: &Value) {
        let request =
            json!({ "messages": messages, "max_tokens": 3, "temperature": 0, "logprobs": true, "top_logprobs": 2 });
        let answer = self.server.post(CHAT, &request).json();
        let tokens = answer["choices"][0]["logprobs"]["content"].as_array().unwrap();
        let one = |value: &Value| (value["token"].as_str().unwrap().to_owned(), value["logprob"].as_f64().unwrap());
        let likely = tokens.iter().map(|token| {
            let top = token["top_logprobs"].as_array().unwrap().iter().map(one);
            shown_likely(std::iter::once(one(token)).chain(top))
        });
        self.lines.push(format!("likely={}", likely.collect::<String>()));
    }

    /// Adds how probable the tokens of a continuation are.
    fn rated(&mut self) {
        let request = json!({ "prompt": "Once", "max_tokens": 3, "temperature": 0, "logprobs": 0 });
        let answer = self.server.post(COMPLETIONS, &request).json();
        let logprobs = &answer["choices"][0]["logprobs"];
        let texts = logprobs["tokens"].as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned());
        let numbers = logprobs["token_logprobs"].as_array().unwrap().iter().map(|number| number.as_f64().unwrap());
        let rated = texts.zip(numbers).map(|pair| shown_likely([pair]));
        self.lines.push(format!("rated={}", rated.collect::<String>()));
    }

    fn continued(&mut self, name: &str, end: &str, more: &Value) {
        let mut request = json!({ "prompt": "Once", "max_tokens": 200, "temperature": 0 });
        request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let answer = self.server.post(COMPLETIONS, &request).json();
        self.lines.push(format!("{name}={}{end}", line(answer["choices"][0]["text"].as_str().unwrap())));
    }

    /// What the server of the model answers.
    fn of(binary: &Path, biased: u32, other: &Path) -> Vec<String> {
        let adapter = format!("other={}", other.display());
        let server = Server::of(Command::new(binary).args(["--serve", "127.0.0.1:0", "--adapter", &adapter]));
        let mut wanted = Self { server, lines: Vec::new() };
        let question = json!({ "role": "user", "content": QUESTION });
        let (first, tools) = (json!([question]), tools());
        wanted.ask("written", &first, &json!({ "tools": tools, "guided_regex": WRITTEN }));
        let demanded = json!({ "tools": tools, "tool_choice": "required", "temperature": 1, "seed": 7 });
        let message = wanted.ask("required", &first, &demanded);
        let calls = message["tool_calls"].as_array().unwrap();
        let mut messages = vec![question, message.clone()];
        messages
            .extend(calls.iter().map(|call| json!({ "role": "tool", "tool_call_id": call["id"], "content": "a fox" })));
        wanted.ask("answer", &json!(messages), &json!({ "tools": tools, "max_tokens": 20 }));
        let thinking = json!({ "chat_template_kwargs": { "enable_thinking": true }, "max_tokens": 9 });
        wanted.ask("thoughts", &first, &thinking);
        wanted.continued("stopped", "|0", &json!({ "stop": ["no such text", " a"] }));
        wanted.lines.push("decoded=Once there was".to_owned());
        wanted.continued("biased", "", &json!({ "max_tokens": 3, "logit_bias": { biased.to_string(): 100 } }));
        let once = json!({ "max_tokens": 9 });
        wanted.continued("adapted", "", &json!({ "model": "other", "max_tokens": 9 }));
        wanted.continued("back", "", &once);
        wanted.likely(&first);
        wanted.rated();
        wanted.continued("kept", "", &json!({ "prompt": LONG.repeat(40), "max_tokens": 3 }));
        wanted.lines.push("foreign=the session is of another model".to_owned());
        several_at_once(&wanted.server);
        wanted.lines
    }
}

/// Requests with both adapters at the same time have the answers that each has alone.
fn several_at_once(server: &Server) {
    let requests: [Value; 8] = std::array::from_fn(|index| {
        let (prompt, model) =
            (["Once", "The fox", "An owl", "Once upon"][index / 2], ["tiny-llama", "other"][index % 2]);
        json!({ "prompt": prompt, "model": model, "max_tokens": 40, "temperature": 0 })
    });
    let told = |answer: Response| {
        let answer = answer.json();
        (answer["model"].clone(), answer["choices"][0]["text"].clone())
    };
    let alone = requests.each_ref().map(|request| told(server.post(COMPLETIONS, request)));
    let mut clients = requests.each_ref().map(|_| server.connect());
    for (client, request) in clients.iter_mut().zip(&requests) {
        client.write_all(&post(COMPLETIONS, &request.to_string(), "")).unwrap();
    }
    assert_eq!(clients.each_mut().map(|client| told(Response::read(client))), alone);
    let differ = |pair: &[(Value, Value)]| pair[0].1 != pair[1].1 && pair[1].0 == "other";
    assert!(alone.chunks(2).all(differ), "{alone:?}");
    assert!(server.metric("etbuild_batched_tokens_total") > 0);
}

/// The refusals, in their order: a malformed tool, a missing one, tools without a function for calls or with a prompt, a call of the user, weights in
/// the place of an adapter.
const REFUSED: [&str; 6] = [
    "refused=`tools[0]`: `function.name` is missing",
    "refused=there is no tool `dance`",
    "refused=`tools` need the function `call`, which is told calls",
    "refused=`tools` is for conversations",
    "refused=calls are parts of messages of the roles `assistant` and `tool`",
    "refused=tensor adapter:model.layers.0.self_attn.q_proj.lora_A.weight@cpu.x86_64: no data file has it: that of an adapter does",
];

#[track_caller]
fn compare(ran: &Ran, wanted: &[String]) {
    assert!(!ran.stderr.contains("WARNING"), "{}", ran.stderr);
    let found: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(found, wanted);
}

#[test]
fn apps_call_tools_and_tell_thoughts_as_the_server_does() {
    let place = Place::cold_with_compiled_crates();
    let checkpoint = model_with_tools(&place).display().to_string();
    let settings = "--set constrain=true --set library=true --set export.weights=external";
    // Packed for the processor of the target.
    let other = |target: &str| place.path().join(format!("other-{target}.ptd"));
    let build = |target: &str, more: &str| {
        for (seed, adapter) in [(2, "other"), (1, "own")] {
            let folder = place.path().join(adapter);
            write_tiny_adapter(&folder, seed);
            let model = format!("--set model.checkpoint={checkpoint} --set adapter={}", folder.display());
            place.run(&format!("build {RECIPE} --target {target} {model} {settings} {more}")).expect(0);
            if adapter == "other" {
                let made = place.out().join("tiny-llama").join(target).join("tiny-llama.adapter.ptd");
                fs::copy(made, other(target)).unwrap();
            }
        }
        place.out().join("tiny-llama").join(target)
    };
    let folder = build("linux-x86_64", "--set server=true");
    let data = ["ptd", "adapter.ptd"].map(|ending| folder.join("tiny-llama").with_extension(ending));
    let mut files = data.to_vec();
    files.push(other("linux-x86_64"));
    let (program, tools) = (folder.join("tiny-llama.pte"), tools().to_string());
    let mut model = data.iter().fold(Loader::new(), Loader::data).open_language_model(&program).unwrap();
    let biased = model.encode("Once there was", false).unwrap()[0];
    let mut wanted = Wanted::of(&folder.join("tiny-llama"), biased, &files[2]);
    rust(&mut model, &tools, &wanted);
    let mut once = |adapter: &Path| {
        model.use_adapter(adapter).unwrap();
        let greedy = Sampling { temperature: 0.0, ..model.sampling() };
        let options = Options::default().max_new_tokens(9).sampling(greedy);
        line(&model.generate("Once", &options).unwrap().text().unwrap())
    };
    let adapted = [format!("adapted={}", once(&files[2])), format!("back={}", once(&files[1]))];
    assert_eq!(adapted, wanted[8..10]);
    assert_ne!(once(&files[2]), once(&files[1]));
    rated(&mut model, &wanted[10..12]);
    sessions(&mut model, [&files[1], &files[2]], &wanted[12..14]);
    let mut thinks = Command::new(folder.join("tiny-llama"));
    thinks.args(["--chat", "--prompt", QUESTION, "--max-new-tokens", "9", "--temperature", "0"]);
    let thought = Ran::of(thinks.args(["--template-variables", r#"{"enable_thinking": true}"#])).expect(0).stdout;
    assert_eq!(format!("thoughts={}", thought.trim_end()), wanted[4]);

    let wanted_kept = wanted[12].clone();
    go_on(&folder, [&files[1], &files[2]], &wanted_kept);

    let source = |name: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
    let library = folder.join("libtiny-llama.a");
    let told = |command: &mut Command| {
        forget(&files[1]);
        let ran = Ran::of(command.arg(&program).arg(&tools).args(&files)).expect(0);
        check_sessions(&files[1]);
        go_on(&folder, [&files[1], &files[2]], &wanted_kept);
        ran
    };
    wanted.push("cancelled=3|0".to_owned());
    compare(&told(&mut linked(&place, &library, &source("chat.cpp"), &[])), &wanted);
    wanted.extend(REFUSED.map(str::to_owned));
    compare(&told(&mut linked(&place, &library, &source("chat.c"), &[])), &wanted);
    if let Some(app) = App::compiled() {
        compare(&told(app.run("ChatKt", &[&folder]).arg("tiny-llama")), &wanted);
    }
    if let Some(compiler) = apple::swift() {
        let app = apple::app(&compiler, &place, &["Language"], &library, &[source("swift/Chat.swift")]);
        compare(&told(&mut Command::new(app)), &wanted);
    }
    if has("node", &["--version"]) {
        let folder = build("web", "");
        let own = ["ptd", "adapter.ptd"].map(|ending| folder.join("tiny-llama").with_extension(ending));
        let mut command = Command::new("node");
        command.arg(source("chat.mjs")).arg(folder.join("index.js")).arg(&tools).args(own).arg(other("web"));
        let packed = |line: &String| line.replace("@cpu.x86_64", "@cpu.wasm32");
        compare(&Ran::of(&mut command).expect(0), &wanted.iter().map(packed).collect::<Vec<_>>());
        check_sessions(&folder.join("tiny-llama.adapter.ptd"));
    }
}

/// The files of sessions that the apps write beside an adapter: one of the text that the model has read, and one of that text once it was restored.
fn session_files(adapter: &Path) -> [PathBuf; 2] {
    ["session", "again"].map(|ending| PathBuf::from(format!("{}.{ending}", adapter.display())))
}

fn forget(adapter: &Path) {
    session_files(adapter).iter().for_each(|file| fs::remove_file(file).unwrap());
}

#[track_caller]
fn check_sessions(adapter: &Path) {
    let [saved, again] = session_files(adapter).map(|file| fs::read(file).unwrap());
    assert!(saved.len() > 1000 && saved == again, "a session is the same when it was restored");
}

/// The binary goes on with the session of an app, with the adapter of the session alone.
#[track_caller]
fn go_on(folder: &Path, [own, other]: [&Path; 2], kept: &str) {
    let [session, _] = session_files(own);
    let said = |adapter: &Path| {
        let mut command = Command::new(folder.join("tiny-llama"));
        command.args([
            "--temperature",
            "0",
            "--max-new-tokens",
            "3",
            "--stats",
            "--json",
            "--prompt",
            &LONG.repeat(40),
        ]);
        Ran::of(command.arg("--adapter").arg(adapter).arg("--session").arg(&session))
    };
    let refused = said(other);
    assert!(refused.status != 0 && refused.stderr.contains("another model"), "{}", refused.stderr);
    let went_on = said(own).expect(0);
    assert!(went_on.stderr.contains("; 1 tokens read"), "{}", went_on.stderr);
    assert_eq!(format!("kept={}", line(went_on.json()["text"].as_str().unwrap())), kept);
}

/// How probable tokens are, in Rust.
fn rated(model: &mut LanguageModel, wanted: &[String]) {
    let greedy = Sampling { temperature: 0.0, ..model.sampling() };
    let usual = Options::default().max_new_tokens(3).sampling(greedy);
    let shown = |likelihoods: &[Likelihood]| {
        let one = |other: &Alternative| (other.text.clone(), f64::from(other.logarithm));
        let all = likelihoods.iter().map(|likelihood| {
            shown_likely(std::iter::once(&likelihood.picked).chain(&likelihood.alternatives).map(one))
        });
        all.collect::<String>()
    };
    let mut answer = model.chat(&[Turn::user(QUESTION)], &usual.clone().top_logprobs(2)).unwrap();
    answer.text().unwrap();
    assert_eq!(format!("likely={}", shown(answer.likelihoods())), wanted[0]);
    let mut answer = model.generate("Once", &usual.top_logprobs(0)).unwrap();
    answer.text().unwrap();
    assert_eq!(format!("rated={}", shown(answer.likelihoods())), wanted[1]);
}

/// Sessions in Rust, beside the first of two adapters, which is the one in use.
fn sessions(model: &mut LanguageModel, [own, other]: [&Path; 2], wanted: &[String]) {
    let greedy = Sampling { temperature: 0.0, ..model.sampling() };
    let usual = Options::default().max_new_tokens(3).sampling(greedy);
    let said = |model: &mut LanguageModel, prompt: &str| model.generate(prompt, &usual).unwrap().text().unwrap();
    let ([session, again], long) = (session_files(own), LONG.repeat(40));
    model.use_adapter(own).unwrap();
    said(model, &long);
    model.save(&session).unwrap();
    said(model, "Once");
    model.restore(&session).unwrap();
    model.save(&again).unwrap();
    check_sessions(own);
    assert_eq!(format!("kept={}", line(&said(model, &long))), wanted[0]);
    model.use_adapter(other).unwrap();
    let foreign = model.restore(&session).unwrap_err().to_string();
    assert_eq!(format!("foreign={}", foreign.rsplit(": ").next().unwrap()), wanted[1]);
    model.use_adapter(own).unwrap();
}

/// The same in Rust.
fn rust(model: &mut LanguageModel, tools: &str, wanted: &[String]) {
    let greedy = Sampling { temperature: 0.0, ..model.sampling() };
    let usual = Options::default().max_new_tokens(200).sampling(greedy);
    let tools = Tools::new(tools.to_owned());
    let question = [Turn::user(QUESTION)];
    let mut lines = Vec::new();
    let mut ask = |model: &mut LanguageModel, name: &str, turns: &[Turn<'_>], options: &Options| {
        let pieces: Vec<Piece> = model.chat(turns, options).unwrap().pieces().map(Result::unwrap).collect();
        let shown = pieces.iter().map(|piece| match piece {
            Piece::Text(text) | Piece::Thoughts(text) => line(text),
            Piece::Call(call) => format!("|{}{}", call.name, call.arguments),
        });
        lines.push(format!("{name}={}", shown.collect::<String>()));
        model.calls().to_vec()
    };
    let forced = Constraint::Regex(WRITTEN.to_owned());
    ask(model, "written", &question, &usual.clone().tools(tools.clone()).constraint(forced));
    let demanded = Tools { choice: Choice::Required, ..tools.clone() };
    let random = Sampling { temperature: 1.0, seed: 7, ..greedy };
    let calls = ask(model, "required", &question, &usual.clone().tools(demanded).sampling(random));
    let named: Vec<NamedCall<'_>> =
        calls.iter().map(|(id, call)| NamedCall { id, name: &call.name, arguments: &call.arguments }).collect();
    let mut turns = vec![question[0].clone(), Turn { calls: named.clone(), ..Turn::assistant("") }];
    turns.extend(named.iter().map(|call| Turn::result(*call, "a fox")));
    let options = usual.clone().tools(tools).max_new_tokens(20);
    ask(model, "answer", &turns, &options);
    let thinking = Options {
        template_variables: Some(r#"{"enable_thinking": true}"#.to_owned()),
        splits_thoughts: true,
        ..usual.clone().max_new_tokens(9)
    };
    ask(model, "thoughts", &question, &thinking);
    lines.insert(3, format!("prompt={}", model.encode_turns(&turns, &options).unwrap().len()));
    let mut stopped = model.generate("Once", &usual.stops(["no such text", " a"])).unwrap();
    lines.push(format!("stopped={}|0", line(&stopped.text().unwrap())));
    assert_eq!(lines, wanted[..6]);
}

/// Texts of chat templates, each with the marks of a format of calls.
const FORMATS: [&str; 17] = [
    "<tool_call>",
    "<tool_call> <function= <parameter=",
    "<tool_call> <arg_key>",
    "<minimax:tool_call> <invoke name=",
    "<|tool_call_start|>",
    "<|tool_list_start|>",
    "[TOOL_CALLS] [ARGS]",
    "[TOOL_CALLS]",
    "<｜tool▁calls▁begin｜>",
    "<|tool_calls_section_begin|>",
    "<|START_ACTION|>",
    "<function_calls>",
    "<|tool_call>call:",
    "<|tool_call|>",
    "[func_name1(params_name1=params_value1",
    "dictionary of argument name and its value",
    "<|channel|> <|message|>",
];

/// Tools with arguments of every type.
fn tools_of_every_type() -> Value {
    let text = json!({ "type": "string", "maxLength": 6 });
    let place = json!({ "type": "object", "properties": { "name": text, "far": { "type": "boolean" } },
        "required": ["far"], "additionalProperties": false });
    let plan = json!({ "type": "object", "additionalProperties": false, "required": ["who", "note", "place"], "properties": {
        "who": { "type": "string", "enum": ["fox", "hen"] },
        "count": { "type": "integer", "minimum": 1, "maximum": 9 },
        "note": text,
        "words": { "type": "array", "items": text, "maxItems": 2 },
        "place": place,
    } });
    let option = json!({ "type": "object", "additionalProperties": false, "properties": { "loud": { "type": "boolean" }, "note": text } });
    json!([
        { "type": "function", "function": { "name": "plan", "parameters": plan } },
        { "type": "function", "function": { "name": "option", "parameters": option } },
    ])
}

#[test]
fn demanded_calls_fit_their_schemas_in_every_format() {
    let place = Place::cold();
    let (checkpoint, tools) = (model_with_tools(&place), tools_of_every_type());
    for (index, marks) in FORMATS.iter().enumerate() {
        let template = format!("{{{{ bos_token }}}}Tell.{{#- tools {marks} -#}}");
        place.file("model/chat_template.jinja", template);
        let program = place.path().join(format!("format-{index}.pte"));
        place.run(&format!("compile {} --program {}", checkpoint.display(), program.display())).expect(0);
        let mut model = LanguageModel::open(&program).unwrap();
        for seed in 0..4 {
            let sampling = Sampling { temperature: 1.0, seed, ..model.sampling() };
            let demanded = Tools { choice: Choice::Required, is_several: false, ..Tools::new(tools.to_string()) };
            let options = Options::default().sampling(sampling).tools(demanded).max_new_tokens(400);
            let mut answer = model.chat(&[Turn::user("")], &options).unwrap();
            let text = answer.text().unwrap();
            let calls = answer.calls();
            assert!(!calls.is_empty() && text.is_empty(), "{marks}: {calls:?} {text}");
            for (_, call) in calls {
                let tools = tools.as_array().unwrap();
                let tool = tools.iter().find(|tool| tool["function"]["name"] == *call.name).unwrap();
                assert_eq!(mistake(&tool["function"]["parameters"], &call.arguments), None, "{marks}");
            }
        }
    }
}

/// Schemas of arguments: texts without a limit, types that may be missing, lists, objects, names that are none in Python.
fn schemas_of_arguments() -> Vec<Value> {
    let object = |properties: Value, required: Value| json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false });
    let one = |schema: Value| object(json!({ "s": schema }), json!(["s"]));
    let text = json!({ "type": "string" });
    vec![
        json!({ "type": "object" }),
        object(json!({ "s": text, "t": text, "n": { "type": "integer" } }), json!([])),
        object(json!({ "s": text, "t": text, "n": { "type": "integer" } }), json!(["t"])),
        one(json!({ "type": "string", "minLength": 2, "maxLength": 4 })),
        one(json!({ "type": "string", "enum": ["a", "b c", "d, e"] })),
        one(json!({ "enum": ["a", "x}", 2] })),
        one(json!({ "anyOf": [text, { "type": "null" }] })),
        one(json!({ "type": "array", "items": text, "maxItems": 2 })),
        one(json!({ "type": "array", "items": { "type": "integer" }, "minItems": 2, "maxItems": 3 })),
        one(json!({ "type": "array", "items": { "type": "boolean" }, "maxItems": 0 })),
        one(object(json!({ "a": text, "b": { "type": "number" } }), json!(["a"]))),
        one(json!({ "anyOf": [object(json!({ "a": { "type": "integer" } }), json!(["a"])), { "type": "null" }] })),
        object(json!({ "$filter": { "type": "integer" }, "xml:lang": text, "a b": text }), json!(["$filter", "a b"])),
        json!({ "type": "object", "properties": { "a": { "type": "integer" } }, "required": ["a", "k"] }),
    ]
}

/// A text that a constraint allows, by random tokens among which those that end something come often.
fn walked(matcher: &mut dyn Matcher, vocabulary: &[Token], stop: u32, random: &mut Random) -> Option<String> {
    let ends = |bytes: &[u8]| bytes.first().is_some_and(|byte| b"\n]})\"'</>".contains(byte));
    let mut text = Vec::new();
    for _ in 0..600 {
        let allowed = matcher.allowed().unwrap().to_vec();
        let may = |token: u32| allowed.get(token as usize / 32).is_some_and(|word| word >> (token % 32) & 1 == 1);
        let all: Vec<u32> = (0..vocabulary.len() as u32).filter(|token| *token != stop && may(*token)).collect();
        if all.is_empty() || (may(stop) && random.bits().is_multiple_of(2)) {
            return Some(String::from_utf8_lossy(&text).into_owned());
        }
        let bytes = |token: &u32| match &vocabulary[*token as usize] {
            Token::Bytes(bytes) => bytes.as_slice(),
            Token::Special(_) | Token::Unused => &[],
        };
        // A line break and `<` begin the end of a text in tags.
        let next: Option<&[u8]> = match text.last() {
            Some(b'\n') => Some(b"<"),
            Some(b'<') => Some(b"/"),
            _ => None,
        };
        let closing: Vec<u32> = match next {
            Some(next) => all.iter().copied().filter(|token| bytes(token) == next).collect(),
            None => all.iter().copied().filter(|token| ends(bytes(token))).collect(),
        };
        let chosen = if closing.is_empty() || random.bits().is_multiple_of(4) { &all } else { &closing };
        let token = chosen[(random.bits() % chosen.len() as u64) as usize];
        text.extend_from_slice(bytes(&token));
        matcher.advance(token).unwrap();
        if matcher.is_complete() {
            return Some(String::from_utf8_lossy(&text).into_owned());
        }
    }
    None
}

#[test]
fn texts_of_grammars_are_read_as_calls_that_fit_their_schemas() {
    let tokenizer = fs::read(repository().join("examples/tiny-llama/model/tokenizer.json")).unwrap();
    let mut random = Random::new(7);
    for marks in FORMATS {
        let chat = json!({ "template": format!("{{#- tools {marks} -#}}") }).to_string();
        let text = et_text::make(&tokenizer, Some(chat.as_bytes())).unwrap();
        let vocabulary = text.vocabulary().unwrap();
        let stop = text.token("<|end|>").unwrap();
        let compiler = et_constrain::make(&vocabulary, &[stop]).unwrap();
        for schema in schemas_of_arguments() {
            let json = json!([{ "function": { "name": "f", "parameters": schema } }]).to_string();
            let tools = Tools { choice: Choice::Required, is_several: false, ..Tools::new(json) };
            let asked =
                text.ask(&Question { tools: Some(&tools), splits_thoughts: true, ..Question::default() }).unwrap();
            let constraint = asked.answer.constraint.unwrap();
            let mut ended = 0;
            for _ in 0..4 {
                let mut matcher = compiler.compile(&constraint).unwrap();
                let Some(said) = walked(&mut *matcher, &vocabulary, stop, &mut random) else { continue };
                let mut reader = asked.answer.reader.again();
                let pieces = [reader.push(&said), reader.finish()].concat();
                let [Piece::Call(call)] = pieces.as_slice() else { panic!("{marks} {schema}: {said:?} is {pieces:?}") };
                assert_eq!(mistake(&schema, &call.arguments), None, "{marks}: {said:?}");
                ended += 1;
            }
            assert!(ended > 0, "{marks} {schema}: {ended} texts end");
        }
    }
}
