//! `--session FILE`: texts and conversations that go on in another process.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use et_module::safetensors::SafeTensors;

use crate::support::{Place, Ran, files};

/// The binary of the tiny language model.
fn binary() -> PathBuf {
    static BUILT: OnceLock<Place> = OnceLock::new();
    let place = BUILT.get_or_init(|| {
        let place = Place::cold_with_compiled_crates();
        place.run("build recipes/tiny-llama.yaml --target linux-x86_64").expect(0);
        place
    });
    place.out().join("tiny-llama/linux-x86_64/tiny-llama")
}

fn say(session: Option<&Path>, arguments: &[&str]) -> Ran {
    let mut command = Command::new(binary());
    if let Some(file) = session {
        command.arg("--session").arg(file);
    }
    Ran::of(command.args(arguments).args(["--stats", "--max-new-tokens", "30", "--temperature", "0"]))
}

/// The tokens that the prompt took.
fn read(ran: &Ran) -> usize {
    let words: Vec<&str> = ran.stderr.split_whitespace().collect();
    let place = words.windows(2).position(|words| words == ["tokens", "read,"]).unwrap();
    words[place - 1].parse().unwrap()
}

/// What happens to the bytes of a file.
type Damage = fn(&mut Vec<u8>);

/// The answers to lines in one process.
fn answers(lines: &str) -> Vec<String> {
    let mut command = Command::new(binary());
    command.args(["--chat", "--max-new-tokens", "30", "--temperature", "0"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let said = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    said.lines().map(str::to_owned).collect()
}

#[test]
fn a_conversation_goes_on_in_another_process() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("talk.session");
    let whole = answers("Tell me a tale about a fox.\nHow are you?\nAnd then?\n");
    let mut parts = Vec::new();
    for message in ["Tell me a tale about a fox.", "How are you?", "And then?"] {
        let ran = say(Some(&file), &["--chat", "--prompt", message]).expect(0);
        // The template and the message alone: the conversation before is in the file.
        assert!(read(&ran) < 40, "{}", ran.stderr);
        parts.push(ran.stdout.trim_end().to_owned());
    }
    assert_eq!(parts, whole);
    let bytes = fs::read(&file).unwrap();
    let saved = SafeTensors::parse(&bytes).unwrap();
    assert_eq!(saved.metadata.keys().filter(|key| key.ends_with(" user")).count(), 3);
    assert_eq!(files::paths(place.path()).len(), 1, "nothing is left beside the session");
}

#[test]
fn a_prompt_that_was_read_is_not_read_again() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("text.session");
    let long = "Once there was a fox who lived near a river. The fox had a friend. ".repeat(4);
    let longer = format!("{long}One day");
    let plain = say(None, &["--prompt", &longer]).expect(0);
    let first = say(Some(&file), &["--prompt", &long]).expect(0);
    let second = say(Some(&file), &["--prompt", &longer]).expect(0);
    assert_eq!(second.stdout, plain.stdout);
    assert!(read(&first) > 60 && read(&second) < 10, "{}\n{}", first.stderr, second.stderr);
    // A text that begins otherwise.
    let other = say(Some(&file), &["--prompt", "Hello"]).expect(0);
    assert_eq!(other.stdout, say(None, &["--prompt", "Hello"]).expect(0).stdout);
}

#[test]
fn a_file_of_another_model_or_a_damaged_file_is_refused_and_stays() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("talk.session");
    say(Some(&file), &["--prompt", "Hello"]).expect(0);
    let whole = fs::read(&file).unwrap();
    let damages: [(&str, Damage); 3] = [
        ("the session is of another model", |bytes| {
            let place = bytes.windows(9).position(|part| part == b"\"model\":\"").unwrap() + 9;
            bytes[place] = if bytes[place] == b'0' { b'1' } else { b'0' };
        }),
        ("talk.session", |bytes| bytes.truncate(bytes.len() / 2)),
        ("talk.session", |bytes| bytes.clear()),
    ];
    for (problem, damage) in damages {
        let mut damaged = whole.clone();
        damage(&mut damaged);
        fs::write(&file, &damaged).unwrap();
        let refused = say(Some(&file), &["--prompt", "Hello"]);
        assert!(refused.status != 0 && refused.stderr.contains(problem), "{}", refused.stderr);
        assert_eq!(fs::read(&file).unwrap(), damaged);
    }
}

#[test]
fn etbuild_run_keeps_a_session_as_well() {
    let place = Place::cold();
    let file = place.path().join("run.session");
    let run = |message: &str| {
        let words = ["run", "examples/tiny-llama/model", "--chat", "--prompt", message, "--session"];
        let rest = [file.to_str().unwrap(), "--max-new-tokens", "30", "--temperature", "0"];
        Ran::of(&mut place.command(words.into_iter().chain(rest))).expect(0).stdout.trim_end().to_owned()
    };
    assert_eq!(
        ["Tell me a tale about a fox.", "How are you?"].map(run),
        answers("Tell me a tale about a fox.\nHow are you?\n")[..]
    );
    files::change(&file, |bytes| {
        let place = bytes.windows(9).position(|part| part == b"\"model\":\"").unwrap() + 9;
        bytes[place] = if bytes[place] == b'0' { b'1' } else { b'0' };
    });
    let words = ["run", "examples/tiny-llama/model", "--prompt", "Hello", "--session", file.to_str().unwrap()];
    let refused = Ran::of(&mut place.command(words)).expect(3);
    assert!(refused.stderr.contains("another model") && refused.stderr.contains("help: "), "{}", refused.stderr);
}
