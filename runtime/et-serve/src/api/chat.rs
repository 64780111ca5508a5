//! Conversations: `/v1/chat/completions`.

use et_llm::{Alternative, Call, Likelihood, Message, Piece, Question};
use serde_json::{Map, Value, json};

use super::message::messages;
use super::shape::{Asked, Place, Prompt, Shape};
use super::tools;
use crate::error::ApiError;
use crate::request::{Parameters, Wanted};

/// The shape of conversations.
pub static CHAT: Chat = Chat;

/// The shape of conversations.
pub struct Chat;

/// The most alternatives of a token, as in OpenAI's protocol.
const MOST_ALTERNATIVES: usize = 20;

impl Shape for Chat {
    fn prefix(&self) -> &'static str {
        "chatcmpl-"
    }

    fn object(&self, is_piece: bool) -> &'static str {
        if is_piece { "chat.completion.chunk" } else { "chat.completion" }
    }

    fn take(&self, parameters: &mut Parameters, wanted: &mut Wanted) -> Result<Vec<Prompt>, ApiError> {
        if let Some(most) = parameters.take_count("max_completion_tokens")? {
            wanted.most = Some(most);
        }
        let (is_wanted, count) = (parameters.take("logprobs")?.unwrap_or(false), parameters.take("top_logprobs")?);
        wanted.alternatives = is_wanted.then_some(count.unwrap_or(0));
        match count {
            Some(_) if !is_wanted => {
                return Err(ApiError::parameter("top_logprobs", "`top_logprobs` needs `logprobs`"));
            }
            Some(count) if count > MOST_ALTERNATIVES => {
                let message = format!("`top_logprobs` is {count}, but may be {MOST_ALTERNATIVES}");
                return Err(ApiError::parameter("top_logprobs", message));
            }
            _ => {}
        }
        let messages = messages(parameters.take("messages")?)?;
        let variables: Option<Map<String, Value>> = parameters.take("chat_template_kwargs")?;
        let variables = variables.map(|variables| Value::Object(variables).to_string());
        let (tools, has_form) = (tools::take(parameters)?, wanted.form.is_some());
        let prompt: Prompt = Box::new(move |text, viewer| {
            let messages = messages.into_iter().map(|message| message.message(viewer));
            let messages = messages.collect::<Result<Vec<Message>, ApiError>>()?;
            let (tools, variables) = (tools.as_ref(), variables.as_deref());
            let asked =
                text.ask(&Question { messages: &messages, tools, variables, has_form, splits_thoughts: true })?;
            let prompt = et_llm::Prompt::of_conversation(&asked.prompt, &messages, text, viewer)?;
            Ok(Asked { prompt, answer: asked.answer })
        });
        Ok(vec![prompt])
    }

    fn whole(&self, pieces: &[Piece], likelihoods: Option<&[Likelihood]>, place: Place<'_>) -> Value {
        let (mut content, mut reasoning, mut calls) = (String::new(), String::new(), Vec::new());
        for piece in pieces {
            match piece {
                Piece::Text(text) => content.push_str(text),
                Piece::Thoughts(text) => reasoning.push_str(text),
                Piece::Call(call) => calls.push(called(call, &Place { calls: calls.len(), ..place })),
            }
        }
        let has_content = calls.is_empty() || !content.trim().is_empty();
        let content = if has_content { json!(content) } else { Value::Null };
        let mut message = json!({ "role": "assistant", "content": content, "refusal": null });
        if let Some(fields) = message.as_object_mut() {
            fields.extend((!reasoning.is_empty()).then(|| ("reasoning_content".to_owned(), json!(reasoning))));
            fields.extend((!calls.is_empty()).then(|| ("tool_calls".to_owned(), json!(calls))));
        }
        json!({ "message": message, "logprobs": likelihoods.map(logprobs) })
    }

    fn piece(&self, piece: &Piece, likelihoods: Option<&[Likelihood]>, place: Place<'_>) -> Value {
        let delta = match piece {
            Piece::Text(text) => json!({ "content": text }),
            Piece::Thoughts(text) => json!({ "reasoning_content": text }),
            Piece::Call(call) => {
                let mut call = called(call, &place);
                if let Some(fields) = call.as_object_mut() {
                    fields.insert("index".to_owned(), json!(place.calls));
                }
                json!({ "tool_calls": [call] })
            }
        };
        json!({ "delta": delta, "logprobs": likelihoods.map(logprobs) })
    }

    fn first(&self) -> Option<Value> {
        Some(json!({ "delta": { "role": "assistant", "content": "" } }))
    }

    fn last(&self) -> Value {
        json!({ "delta": {} })
    }
}

/// The id of a call.
fn id_of(place: &Place<'_>) -> String {
    let answer = u64::from_str_radix(place.id, 16).unwrap_or_default();
    Call::id(answer ^ ((place.choice as u64) << 32 | place.calls as u64))
}

/// A call of a tool in OpenAI's form: arguments are a text.
fn called(call: &Call, place: &Place<'_>) -> Value {
    json!({
        "id": id_of(place),
        "type": "function",
        "function": { "name": call.name, "arguments": call.arguments },
    })
}

fn logprobs(likelihoods: &[Likelihood]) -> Value {
    let token = |likelihood: &Likelihood| {
        let mut token = alternative(&likelihood.picked);
        let others: Vec<Value> = likelihood.alternatives.iter().map(alternative).collect();
        if let Some(fields) = token.as_object_mut() {
            fields.insert("top_logprobs".to_owned(), others.into());
        }
        token
    };
    json!({ "content": likelihoods.iter().map(token).collect::<Vec<_>>(), "refusal": null })
}

fn alternative(alternative: &Alternative) -> Value {
    json!({
        "token": alternative.text, "logprob": alternative.logarithm, "bytes": alternative.text.as_bytes(),
    })
}
