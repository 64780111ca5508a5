//! Errors in the form of OpenAI's protocol.

use axum::http::StatusCode;
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::response::{IntoResponse, Response};
use et_llm::Error;
use serde_json::{Value, json};

use crate::scheduler::{Failure, Full};

/// An error of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiError {
    /// The status.
    pub status: StatusCode,
    /// The kind: `invalid_request_error`, for example.
    kind: &'static str,
    /// A word for programs, if any.
    code: Option<&'static str>,
    /// The parameter at fault, if any.
    parameter: Option<String>,
    /// A sentence for people.
    message: String,
}

impl ApiError {
    /// A mistake in a request.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid_request_error", None, message)
    }

    /// A mistake in a parameter of a request.
    pub fn parameter(name: &str, message: impl Into<String>) -> Self {
        Self { parameter: Some(name.to_owned()), ..Self::invalid(message) }
    }

    /// A wrong or missing key.
    pub fn unauthorized() -> Self {
        let message = "the header `Authorization: Bearer KEY` is missing, or has a wrong key";
        Self::new(StatusCode::UNAUTHORIZED, "invalid_request_error", Some("invalid_api_key"), message)
    }

    /// A path that does not exist.
    pub fn no_path(path: &str, paths: &str) -> Self {
        let message = format!("there is no `{path}`; paths are {paths} and /v1/models");
        Self::new(StatusCode::NOT_FOUND, "invalid_request_error", Some("unknown_url"), message)
    }

    /// A path with another method.
    pub fn no_method() -> Self {
        let message = "the path has another method: POST for answers, GET for everything else";
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "invalid_request_error", None, message)
    }

    /// A model that is none of this server's.
    pub fn no_model<'s>(name: &str, served: impl Iterator<Item = &'s str>) -> Self {
        let served: Vec<String> = served.map(|name| format!("`{name}`")).collect();
        let message = format!("there is no model `{name}`; this server has {}", served.join(", "));
        let error = Self::new(StatusCode::NOT_FOUND, "invalid_request_error", Some("model_not_found"), message);
        Self { parameter: Some("model".to_owned()), ..error }
    }

    /// A body with more bytes than a request may have.
    pub fn too_large(most: usize) -> Self {
        let message = format!("the request has more than {most} bytes");
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "invalid_request_error", None, message)
    }

    /// A body that came too slowly.
    pub fn too_slow() -> Self {
        let message = "the request did not come in time";
        Self::new(StatusCode::REQUEST_TIMEOUT, "invalid_request_error", None, message)
    }

    /// A body that says not to be JSON.
    pub fn no_json() -> Self {
        let message = "the request needs the header `Content-Type: application/json`";
        Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "invalid_request_error", None, message)
    }

    /// A request that is no form.
    pub fn no_form() -> Self {
        let message = "a recording comes in a form: `Content-Type: multipart/form-data`";
        Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "invalid_request_error", None, message)
    }

    /// A prompt that leaves no room for an answer.
    pub fn context_full(tokens: usize, context: usize) -> Self {
        let message = format!("the prompt has {tokens} tokens, and the context of {context} has no room for an answer");
        Self { code: Some("context_length_exceeded"), ..Self::invalid(message) }
    }

    /// The text with a number, which has more tokens than the model reads.
    pub fn too_long(index: usize, tokens: usize, most: usize) -> Self {
        let message = format!(
            "text {index} has {tokens} tokens, and the model reads {most}; `truncate_prompt_tokens: -1` cuts texts"
        );
        Self { code: Some("context_length_exceeded"), ..Self::invalid(message) }
    }

    /// A server that ends.
    pub fn stopping() -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "server_error", None, "the server is shutting down")
    }

    fn new(status: StatusCode, kind: &'static str, code: Option<&'static str>, message: impl Into<String>) -> Self {
        Self { status, kind, code, parameter: None, message: message.into() }
    }

    /// The body of the response.
    pub fn json(&self) -> Value {
        let Self { kind, code, parameter, message, .. } = self;
        json!({ "error": { "message": message, "type": kind, "param": parameter, "code": code } })
    }
}

impl From<Full> for ApiError {
    fn from(Full: Full) -> Self {
        let message = "too many requests wait for an answer; try again later";
        Self::new(StatusCode::TOO_MANY_REQUESTS, "rate_limit_error", Some("queue_full"), message)
    }
}

impl From<Failure> for ApiError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Stopping => Self::stopping(),
            Failure::TimedOut => {
                let message = "the answer did not end in time";
                Self::new(StatusCode::GATEWAY_TIMEOUT, "server_error", Some("timeout"), message)
            }
            Failure::Model(message) => Self::new(StatusCode::INTERNAL_SERVER_ERROR, "server_error", None, message),
        }
    }
}

/// Errors of templates, tokenizers and options of sampling: mistakes in a request.
impl From<Error> for ApiError {
    fn from(error: Error) -> Self {
        let message = error.to_string();
        match error {
            Error::Sampling { option, .. } => Self::parameter(option, message),
            Error::Question { parameter, .. } => Self::parameter(&parameter, message),
            Error::NoTemplate => Self::invalid(
                "the model has no chat template, because the checkpoint has no `chat_template.jinja`; use /v1/completions",
            ),
            _ => Self::invalid(message),
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let json = [(CONTENT_TYPE, "application/json")];
        let mut response = (self.status, json, self.json().to_string()).into_response();
        let extra = match self.status {
            StatusCode::UNAUTHORIZED => Some((WWW_AUTHENTICATE, "Bearer")),
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => Some((RETRY_AFTER, "1")),
            _ => None,
        };
        response.headers_mut().extend(extra.map(|(name, value)| (name, axum::http::HeaderValue::from_static(value))));
        response
    }
}
