//! Conversations with pictures or sounds, and what transformers computes for them.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use et_llm::{Message, Part, Picture, Prompt, Session, is_image};
use et_module::preprocess::Media;
use serde::Deserialize;

use super::logits::{Expected, difference};

/// A conversation, and the tokens of its prompt.
#[derive(Deserialize)]
pub struct Talk {
    messages: Vec<Said>,
    pub tokens: Vec<u32>,
}

#[derive(Deserialize)]
struct Said {
    role: String,
    parts: Vec<SaidPart>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum SaidPart {
    Text(String),
    #[serde(alias = "picture", alias = "sound")]
    File(String),
}

/// The cases that a script wrote beside a model.
pub fn cases<T: for<'de> Deserialize<'de>>(folder: &Path) -> Vec<T> {
    serde_json::from_slice(&fs::read(folder.join("cases.json")).unwrap()).unwrap()
}

/// The prompt of a conversation.
pub fn prompt(session: &Session, folder: &Path, case: &Talk) -> Prompt {
    let (viewer, text) = (session.viewer().unwrap(), session.text().unwrap());
    let picture = |name: &str| -> Arc<Picture> {
        Arc::new(viewer.picture(Media::File(&fs::read(folder.join(name)).unwrap())).unwrap())
    };
    let part = |part: &SaidPart| match part {
        SaidPart::Text(text) => Part::Text(text.clone()),
        SaidPart::File(name) => Part::Picture(picture(name)),
    };
    let role = |name: &str| ["system", "user", "assistant"].into_iter().find(|role| *role == name).unwrap();
    let message = |said: &Said| Message::of_parts(role(&said.role), said.parts.iter().map(part).collect());
    let messages: Vec<Message> = case.messages.iter().map(message).collect();
    let rendered = text.conversation(&messages).unwrap();
    viewer.prompt(&*text, &rendered, false, &Message::pictures(&messages)).unwrap()
}

/// The mistake of a model in a conversation, if any. The KV cache has what the conversation before left.
pub fn mistake_in_talk(session: &mut Session, folder: &Path, index: usize, case: &Talk) -> Option<String> {
    let prompt = prompt(session, folder, case);
    let image = case.tokens.iter().zip(&prompt.tokens).find(|(_, found)| is_image(**found)).map(|(token, _)| *token);
    let found: Vec<u32> =
        prompt.tokens.iter().map(|token| if is_image(*token) { image.unwrap_or(*token) } else { *token }).collect();
    if found != case.tokens {
        return Some(format!("{index}: other tokens: {found:?}, not {:?}", case.tokens));
    }
    let expected = Expected::read(&folder.join(format!("{index}.safetensors")));
    let model = &mut session.model;
    let known = model.rewind(&prompt.tokens);
    model.show(&prompt.tiles);
    let mut most = difference(&expected.prompt_logits, model.read(&prompt.tokens[known..]).unwrap());
    for (step, (token, wanted)) in expected.steps().enumerate() {
        let largest = (0..).zip(model.logits()).max_by(|left, right| left.1.total_cmp(right.1)).unwrap();
        if largest.0 != token {
            return Some(format!("{index}: another token at {step}"));
        }
        most = most.max(difference(wanted, model.read(&[token as u32]).unwrap()));
    }
    (most.is_nan() || most > 1e-4).then(|| format!("{index}: {most:e}"))
}
