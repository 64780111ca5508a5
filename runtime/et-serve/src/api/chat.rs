//! Conversations: `/v1/chat/completions`.

use et_llm::{Conversation, Message, Random, Text};
use serde_json::{Map, Value, json};

use super::message::messages;
use super::shape::{Asked, Place, Prompt, Shape};
use crate::error::ApiError;
use crate::request::{Parameters, Wanted};
use crate::scheduler::{Alternative, Likelihood};
use crate::tools::{BEGIN, Call, Choice, END, Part, Reader, Thinking, Tools};

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

    fn take(&self, parameters: &mut Parameters, wanted: &mut Wanted) -> Result<Prompt, ApiError> {
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
        let (tools, has_form) = (Tools::take(parameters)?, wanted.form.is_some());
        if has_form && tools.as_ref().is_some_and(|tools| tools.choice != Choice::Auto) {
            return Err(ApiError::parameter("tool_choice", "an answer has one form, a call of a tool or another"));
        }
        Ok(Box::new(move |text, viewer| {
            let messages = messages.into_iter().map(|message| message.message(viewer));
            let messages = messages.collect::<Result<Vec<Message>, ApiError>>()?;
            let format = tools.as_ref().map(|tools| tools.format(text)).transpose()?;
            let form = tools.as_ref().zip(format).and_then(|(tools, format)| tools.form(format, text));
            let conversation = Conversation {
                messages: &messages,
                tools: tools.as_ref().map(|tools| tools.json.as_str()),
                variables: variables.as_deref(),
            };
            let prompt = text.render(&conversation)?;
            let thinking = thinking(text, &prompt, has_form || form.is_some());
            let behind = thinking.as_ref().filter(|thinking| thinking.is_inside()).and_then(|_| text.token(END));
            let mut shown = format.map(|format| format.shown(text)).unwrap_or_default();
            shown.extend([BEGIN, END].into_iter().filter_map(|name| Some((text.special(name)?, name))));
            let names = tools.map(|tools| tools.list.into_iter().map(|tool| tool.name).collect());
            let reader = Reader::new(thinking, format.zip(names));
            let prompt = et_llm::Prompt::of_conversation(&prompt, &messages, text, viewer)?;
            Ok(Asked { prompt, form, behind, shown, reader })
        }))
    }

    fn whole(&self, parts: &[Part], likelihoods: Option<&[Likelihood]>, place: Place<'_>) -> Value {
        let (mut content, mut reasoning, mut calls) = (String::new(), String::new(), Vec::new());
        for part in parts {
            match part {
                Part::Text(text) => content.push_str(text),
                Part::Reasoning(text) => reasoning.push_str(text),
                Part::Call(call) => calls.push(called(call, &Place { calls: calls.len(), ..place })),
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

    fn piece(&self, part: &Part, likelihoods: Option<&[Likelihood]>, place: Place<'_>) -> Value {
        let delta = match part {
            Part::Text(text) => json!({ "content": text }),
            Part::Reasoning(text) => json!({ "reasoning_content": text }),
            Part::Call(call) => {
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

/// Reads thoughts of a model whose template has thoughts. An answer with a form has thoughts only if the prompt begins thoughts, and if
/// their end is a token, behind which the form holds.
fn thinking(text: &dyn Text, prompt: &str, has_form: bool) -> Option<Thinking> {
    let template = text.template()?;
    let thinking = (template.contains(BEGIN) && template.contains(END)).then(|| Thinking::of(prompt))?;
    (!has_form || (thinking.is_inside() && text.token(END).is_some())).then_some(thinking)
}

/// The name of a call: nine letters and digits, which templates of Mistral demand.
fn name_of(place: &Place<'_>) -> String {
    let answer = u64::from_str_radix(place.id, 16).unwrap_or_default();
    let mut bits = Random::new(answer ^ ((place.choice as u64) << 32 | place.calls as u64)).bits();
    let mut digit = || {
        let digit = (bits % 36) as u32;
        bits /= 36;
        char::from_digit(digit, 36).unwrap_or('0')
    };
    (0..9).map(|_| digit()).collect()
}

/// A call of a tool in OpenAI's form: arguments are a text.
fn called(call: &Call, place: &Place<'_>) -> Value {
    json!({
        "id": name_of(place),
        "type": "function",
        "function": { "name": call.name, "arguments": call.arguments.to_string() },
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
