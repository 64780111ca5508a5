//! A request to an encoder becomes a job, answers become JSON.

use std::sync::Arc;

use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value};

use super::answer::take_model;
use super::ask::ask;
use crate::api::{TakeTexts, Texts};
use crate::encoder::{Desk, Inputs};
use crate::error::ApiError;
use crate::request::Parameters;
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
    take_model(server, &mut parameters)?;
    let Texts { inputs, cuts, shape } = take(&mut parameters)?;
    parameters.finish()?;
    let mut fields = shape(ask(server, &desk.queue, Inputs { inputs, cuts }).await?);
    fields.insert("model".to_owned(), server.name.into());
    Ok(([(CONTENT_TYPE, "application/json")], Value::Object(fields).to_string()).into_response())
}
