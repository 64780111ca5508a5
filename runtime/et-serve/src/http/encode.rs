//! A request to an encoder becomes a job, answers become JSON.

use std::sync::Arc;
use std::time::Instant;

use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value};
use tokio::sync::oneshot::channel;

use super::answer::check_model;
use crate::api::{TakeTexts, Texts};
use crate::encoder::{Answered, Desk, EncoderJob, Input};
use crate::error::ApiError;
use crate::request::Parameters;
use crate::scheduler::Failure;
use crate::server::Server;

/// The answer to a request.
///
/// # Errors
/// A mistake in the request; a full queue; a failure of the model.
pub async fn encode(
    server: &Arc<Server>,
    desk: &Desk,
    object: Map<String, Value>,
    take: TakeTexts,
) -> Result<Response, ApiError> {
    let mut parameters = Parameters::new(object);
    check_model(server, &mut parameters)?;
    let Texts { inputs, cuts, shape } = take(&mut parameters)?;
    parameters.finish()?;
    let mut fields = shape(answers(server, desk, inputs, cuts).await?);
    fields.insert("model".to_owned(), server.name.into());
    Ok(([(CONTENT_TYPE, "application/json")], Value::Object(fields).to_string()).into_response())
}

/// The answers to the texts of a request.
async fn answers(server: &Server, desk: &Desk, inputs: Vec<Input>, cuts: bool) -> Result<Vec<Answered>, ApiError> {
    if server.is_stopping() {
        return Err(ApiError::stopping());
    }
    let (answers, receiver) = channel();
    let job = EncoderJob { inputs, cuts, deadline: Instant::now() + server.timeout, answers };
    desk.queue.push(job).map_err(|full| server.refusal(full))?;
    // The thread has ended where a job has no end.
    receiver.await.unwrap_or_else(|_| Err(Failure::Stopping.into()))
}
