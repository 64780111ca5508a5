//! Scores of documents for a query: `/v1/rerank` of Cohere and Jina, as the servers of llama.cpp and vLLM have the path.

use et_llm::Answer;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::texts::{Texts, check_count, take_cuts, usage};
use crate::encoder::{Answered, Input};
use crate::error::ApiError;
use crate::request::Parameters;

/// A document: a text, alone or in an object.
#[derive(Deserialize)]
#[serde(untagged)]
enum Document {
    Text(String),
    Object { text: String },
}

impl Document {
    fn into_text(self) -> String {
        match self {
            Self::Text(text) | Self::Object { text } => text,
        }
    }
}

/// Takes the texts of a request for scores.
///
/// # Errors
/// A mistake in the parameters.
pub fn take_rerank(parameters: &mut Parameters) -> Result<Texts, ApiError> {
    let query: String = parameters.take("query")?.ok_or_else(|| ApiError::parameter("query", "`query` is missing"))?;
    let documents: Vec<Document> = parameters.take("documents")?.unwrap_or_default();
    check_count("documents", documents.len())?;
    let documents: Vec<String> = documents.into_iter().map(Document::into_text).collect();
    let most = parameters.take_count("top_n")?.unwrap_or(documents.len());
    let shows = parameters.take("return_documents")?.unwrap_or(false);
    let cuts = take_cuts(parameters)?;
    let inputs = documents.iter().map(|document| Input::Pair(query.clone(), document.clone())).collect();
    let shown = if shows { documents } else { Vec::new() };
    Ok(Texts { inputs, cuts, shape: Box::new(move |answers| shape(&answers, most, &shown)) })
}

/// The `most` best documents, the best first; those in `shown` with the text.
fn shape(answers: &[Answered], most: usize, shown: &[String]) -> Map<String, Value> {
    let score = |answered: &Answered| match answered.answer {
        Answer::Score(score) => score,
        _ => 0.0,
    };
    let mut ranked: Vec<(usize, f32)> = answers.iter().map(score).enumerate().collect();
    ranked.sort_by(|left, right| right.1.total_cmp(&left.1));
    let result = |(index, score): &(usize, f32)| {
        let mut result = json!({ "index": index, "relevance_score": score });
        if let (Some(fields), Some(text)) = (result.as_object_mut(), shown.get(*index)) {
            fields.insert("document".to_owned(), json!({ "text": text }));
        }
        result
    };
    let results: Vec<Value> = ranked.iter().take(most).map(result).collect();
    let fields = [("object", "list".into()), ("results", results.into()), ("usage", usage(answers))];
    fields.map(|(name, value)| (name.to_owned(), value)).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(score: f32) -> Answered {
        Answered { answer: Answer::Score(score), tokens: 4 }
    }

    #[test]
    fn the_best_document_comes_first() {
        let answers = [0.25, 0.75, 0.5].map(answered);
        let shown = ["a", "b", "c"].map(str::to_owned);
        let found = Value::Object(shape(&answers, 2, &shown));
        let best = json!([
            { "index": 1, "relevance_score": 0.75, "document": { "text": "b" } },
            { "index": 2, "relevance_score": 0.5, "document": { "text": "c" } },
        ]);
        assert_eq!((&found["results"], &found["usage"]["total_tokens"]), (&best, &12.into()));
        assert_eq!(shape(&answers, 1, &[])["results"], json!([{ "index": 1, "relevance_score": 0.75 }]));
    }

    #[test]
    fn documents_are_texts_or_objects_with_a_text() {
        let take = |value: Value| {
            let Value::Object(object) = value else { panic!() };
            take_rerank(&mut Parameters::new(object)).map(|texts| texts.inputs)
        };
        let pair = |document: &str| Input::Pair("q".to_owned(), document.to_owned());
        assert_eq!(take(json!({ "query": "q", "documents": ["a", { "text": "b" }] })), Ok(vec![pair("a"), pair("b")]));
        for mistake in [
            json!({ "documents": ["a"] }),
            json!({ "query": "q", "documents": [] }),
            json!({ "query": "q", "documents": [1] }),
            json!({ "query": "q", "documents": ["a"], "top_n": 0 }),
        ] {
            assert!(take(mistake.clone()).is_err(), "{mistake}");
        }
    }
}
