//! Bodies of requests: JSON, of bounded size, in bounded time.

use std::time::Duration;

use axum::body::Body;
use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use serde_json::{Map, Value};
use tokio::time::timeout;
use tokio_stream::StreamExt;

use crate::error::ApiError;

/// The limit of bytes of a request whose prompt fills a context: more than the text of the context, and some pictures or sounds for a
/// model that reads such.
pub fn most_bytes(context: Option<usize>, reads_pictures: bool) -> usize {
    const PICTURES: usize = MOST_FILES;
    let besides = if reads_pictures { PICTURES } else { BESIDES };
    context.unwrap_or(BESIDES / 8).saturating_mul(TOKEN).saturating_add(besides)
}

/// The limit of bytes of pictures and sounds.
pub const MOST_FILES: usize = 32 << 20;
/// The limit of bytes besides the tokens of a context.
const BESIDES: usize = 1 << 20;
/// The limit of bytes of a token.
const TOKEN: usize = 64;

/// The limit of bytes that are read and dropped of a larger request: a client that is still sending does not see the response.
const MOST_DROPPED: usize = 64 << 20;

/// Reads a JSON object of at most `most` bytes, which has to come within `time`.
///
/// # Errors
/// Another type of content, another JSON value, too many bytes, too much time.
pub async fn read_json(
    headers: &HeaderMap,
    body: Body,
    most: usize,
    time: Duration,
) -> Result<Map<String, Value>, ApiError> {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let is_json = kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"));
    let bytes = read_bytes(body, most, time).await?;
    if !is_json {
        // A page of another site can send other types without being asked for permission.
        return Err(ApiError::no_json());
    }
    match serde_json::from_slice(&bytes) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(ApiError::invalid("the request is no JSON object")),
        Err(error) => Err(ApiError::invalid(format!("the request is not JSON: {error}"))),
    }
}

/// Reads at most `most` bytes, which have to come within `time`.
///
/// # Errors
/// Too many bytes, too much time.
pub async fn read_bytes(body: Body, most: usize, time: Duration) -> Result<Vec<u8>, ApiError> {
    timeout(time, read(body, most)).await.map_err(|_| ApiError::too_slow())?
}

async fn read(body: Body, most: usize) -> Result<Vec<u8>, ApiError> {
    let (mut parts, mut bytes, mut dropped) = (body.into_data_stream(), Vec::new(), 0);
    while let Some(part) = parts.next().await {
        let part = part.map_err(|error| ApiError::invalid(format!("the request broke off: {error}")))?;
        if dropped == 0 && bytes.len() + part.len() <= most {
            bytes.extend_from_slice(&part);
        } else {
            dropped += bytes.len() + part.len();
            bytes = Vec::new();
        }
        if dropped > MOST_DROPPED {
            break;
        }
    }
    if dropped == 0 { Ok(bytes) } else { Err(ApiError::too_large(most)) }
}
