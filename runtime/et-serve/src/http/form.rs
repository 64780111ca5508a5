//! Forms with files (`multipart/form-data`, RFC 7578).

use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;

use crate::error::ApiError;

/// A field of a form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The name.
    pub name: String,
    /// The content: a text or a file.
    pub content: Vec<u8>,
}

/// The text that divides the fields of a form, as the headers state it.
///
/// # Errors
/// Another type of content.
pub fn boundary(headers: &HeaderMap) -> Result<String, ApiError> {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let (kind, parameters) = kind.split_once(';').unwrap_or((kind, ""));
    let value = parameters.split(';').find_map(|parameter| parameter.trim().strip_prefix("boundary="));
    let value = value.map(|value| value.trim_matches('"')).filter(|value| !value.is_empty());
    let is_form = kind.trim().eq_ignore_ascii_case("multipart/form-data");
    value.filter(|_| is_form).map(str::to_owned).ok_or_else(ApiError::no_form)
}

/// The fields of a form.
///
/// # Errors
/// A form without an end, or with a field without a name.
pub fn fields(body: &[u8], boundary: &str) -> Result<Vec<Field>, ApiError> {
    let malformed = || ApiError::invalid("the form is malformed");
    let (first, between) = (format!("--{boundary}"), format!("\r\n--{boundary}"));
    let mut rest = find(body, first.as_bytes()).and_then(|at| body.get(at + first.len()..)).ok_or_else(malformed)?;
    let mut fields = Vec::new();
    while !rest.starts_with(b"--") {
        let head = find(rest, b"\r\n\r\n").ok_or_else(malformed)?;
        let (headers, content) = rest.split_at(head);
        let content = content.get(4..).unwrap_or_default();
        let end = find(content, between.as_bytes()).ok_or_else(malformed)?;
        let (content, behind) = content.split_at(end);
        let name = name(&String::from_utf8_lossy(headers)).ok_or_else(malformed)?;
        fields.push(Field { name, content: content.to_vec() });
        rest = behind.get(between.len()..).unwrap_or_default();
    }
    Ok(fields)
}

/// The name in the headers of a field.
fn name(headers: &str) -> Option<String> {
    let is_disposition = |line: &&str| line.to_ascii_lowercase().starts_with("content-disposition:");
    let line = headers.lines().find(is_disposition)?;
    let value = line.split(';').find_map(|part| part.trim().strip_prefix("name="))?;
    Some(value.trim_matches('"').to_owned())
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    let (first, rest) = wanted.split_first()?;
    let starts = bytes.iter().enumerate().filter(|(_, byte)| *byte == first).map(|(at, _)| at);
    let mut found = starts.filter(|at| bytes.get(at + 1..).is_some_and(|behind| behind.starts_with(rest)));
    found.next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_texts_and_files() {
        let body = b"--x\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\nears\r\n--x\r\n\
            content-disposition: form-data; name=\"file\"; filename=\"a.wav\"\r\nContent-Type: audio/wav\r\n\r\n\r\n--\0\r\n--x--\r\n";
        let field = |name: &str, content: &[u8]| Field { name: name.to_owned(), content: content.to_vec() };
        assert_eq!(fields(body, "x"), Ok(vec![field("model", b"ears"), field("file", b"\r\n--\0")]));
        for end in [0, 5, 20, body.len() - 8] {
            assert!(fields(&body[..end], "x").is_err(), "{end}");
        }
    }

    #[test]
    fn the_boundary_is_in_the_type_of_the_content() {
        let of = |kind: &str| boundary(&HeaderMap::from_iter([(CONTENT_TYPE, kind.parse().unwrap())]));
        assert_eq!(of("multipart/form-data; boundary=\"a b\"; charset=utf-8"), Ok("a b".to_owned()));
        assert!(of("application/json").is_err() && of("multipart/form-data").is_err());
    }
}
