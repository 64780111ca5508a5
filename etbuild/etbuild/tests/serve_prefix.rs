//! Prompts that begin alike, and the server's trace of them.

use std::fs;
use std::io::Write;

use serde_json::{Value, json};

use crate::serve::{CHAT, Response, Server, post};

#[test]
fn a_prefix_of_several_prompts_is_read_once() {
    let tale = "Once there was a fox who lived in a wood. The fox had a red coat and a kind heart. ".repeat(5);
    let requests = ["fox", "mole", "swan", "hare", "owl", "bear", "frog", "mouse"].map(|animal| {
        let asked = json!({ "role": "user", "content": format!("And the {animal}?") });
        json!({ "messages": [{ "role": "system", "content": tale }, asked], "max_tokens": 30, "temperature": 0 })
    });
    let single = Server::start(&["--slots", "1"]);
    let alone = requests.each_ref().map(|request| single.post(CHAT, request));
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("trace.json");
    let server = Server::start(&["--slots", "8", "--trace", trace.to_str().unwrap()]);
    let mut clients = requests.each_ref().map(|_| server.connect());
    for (client, request) in clients.iter_mut().zip(&requests) {
        client.write_all(&post(CHAT, &request.to_string(), "")).unwrap();
    }
    let together = clients.each_mut().map(Response::read);
    assert_eq!(together.each_ref().map(Response::text), alone.each_ref().map(Response::text));
    let usage = |answer: &Response| answer.json()["usage"].clone();
    let prompt = usage(&alone[0])["prompt_tokens"].as_u64().unwrap();
    let cached =
        together.each_ref().map(|answer| usage(answer)["prompt_tokens_details"]["cached_tokens"].as_u64().unwrap());
    assert!(
        prompt > 100 && cached.iter().filter(|cached| **cached > prompt - 20).count() == 7,
        "{cached:?} of {prompt}"
    );
    assert_eq!(server.metric("etbuild_cached_tokens_total"), cached.iter().sum::<u64>());
    let read = together.each_ref().map(|answer| usage(answer)["prompt_tokens"].as_u64().unwrap()).iter().sum::<u64>();
    check_trace(&fs::read_to_string(trace).unwrap(), read - cached.iter().sum::<u64>());
}

/// The trace of eight requests, which have read so many tokens of their prompts.
fn check_trace(text: &str, prompts: u64) {
    // A server that runs has not written the end.
    let events: Vec<Value> = serde_json::from_str(&format!("{text}]")).unwrap();
    let named = |name: &str| -> Vec<&Value> {
        events.iter().filter(|event| event["ph"] == "X" && event["name"].as_str().unwrap().starts_with(name)).collect()
    };
    let (requests, prefill, decode) = (named("request "), named("prefill"), named("decode"));
    assert_eq!((requests.len(), events.iter().filter(|event| event["ph"] == "b").count()), (8, 8), "{text}");
    assert_eq!(prefill.iter().map(|event| event["args"]["tokens"].as_u64().unwrap()).sum::<u64>(), prompts, "{text}");
    assert_eq!(named("copy prefix").len(), 7, "{text}");
    let generated: usize = requests.iter().map(|event| event["args"]["generated"].as_u64().unwrap() as usize).sum();
    assert!(decode.len() >= generated - 8 && decode.len() <= generated, "{} of {generated}", decode.len());
    for step in prefill.iter().chain(&decode) {
        let time = |event: &Value| {
            let begin = event["ts"].as_f64().unwrap();
            (begin, begin + event["dur"].as_f64().unwrap())
        };
        let own = requests.iter().find(|request| request["tid"] == step["tid"]).unwrap();
        let ((from, to), (begin, end)) = (time(own), time(step));
        assert!(from <= begin && end <= to + 1.0, "{step} outside of {own}");
    }
}
