//! The language model of a server, as HTTP sees the model.

use std::sync::Arc;

use et_llm::app::AppSpec;
use et_llm::{Error, Facts, LazyCompiler, Matcher, Text, Viewer, is_image};
use tokio::task::spawn_blocking;

use crate::api::{Asked, Prompt};
use crate::error::ApiError;
use crate::request::Form;
use crate::scheduler::{Failure, Job, Queue};

/// The facts about the model for HTTP.
pub struct Language {
    /// The defaults of the program file for texts.
    pub facts: Facts,
    /// The jobs of the scheduler.
    pub queue: Arc<Queue<Job>>,
    text: Arc<dyn Text>,
    /// Makes prompts of texts and pictures, for a model that reads pictures.
    viewer: Option<Arc<dyn Viewer>>,
    forms: Arc<Forms>,
    /// The number of tokens that the model has.
    vocabulary: usize,
    /// The names of the adapters behind the usual one, which are names of models.
    pub adapters: Vec<String>,
}

impl Language {
    /// A model with a tokenizer, whose jobs wait in `queue`.
    pub fn new(
        spec: &AppSpec,
        (facts, text, viewer): (Facts, Arc<dyn Text>, Option<Arc<dyn Viewer>>),
        vocabulary: usize,
        adapters: Vec<String>,
        queue: Arc<Queue<Job>>,
    ) -> Self {
        let compiler = LazyCompiler::new(spec.constrain, &facts.stops);
        let forms = Arc::new(Forms { text: Arc::clone(&text), compiler });
        Self { facts, queue, text, viewer, forms, vocabulary, adapters }
    }

    /// Makes the tokens of prompts and the matchers of `answers` answers to each, on threads of their own. The form is compiled once for
    /// all prompts that demand the same.
    ///
    /// # Errors
    /// A prompt that cannot be answered; a form that cannot be compiled.
    pub async fn read(
        &self,
        prompts: Vec<Prompt>,
        form: Option<Form>,
        answers: usize,
    ) -> Result<Vec<(Asked, Vec<Option<Box<dyn Matcher>>>)>, ApiError> {
        let (text, viewer) = (Arc::clone(&self.text), self.viewer.clone());
        let read = move || prompts.into_iter().map(|prompt| prompt(&*text, viewer.as_deref())).collect();
        let asked: Result<Vec<Asked>, ApiError> =
            spawn_blocking(read).await.map_err(|_| Failure::Model("the tokenizer failed".to_owned()))?;
        let mut asked = asked?;
        asked.iter().try_for_each(|asked| self.check(&asked.prompt.tokens))?;
        let form = asked.iter_mut().find_map(|asked| asked.answer.constraint.take()).map(Form::of_tool).or(form);
        let (forms, count) = (Arc::clone(&self.forms), asked.len() * answers);
        let matchers = spawn_blocking(move || forms.matchers(form.as_ref(), count)).await;
        let mut matchers =
            matchers.map_err(|_| Failure::Model("the form of the answer failed".to_owned()))??.into_iter();
        Ok(asked.into_iter().map(|asked| (asked, matchers.by_ref().take(answers).collect())).collect())
    }

    /// Whether the model reads pictures.
    pub const fn reads_pictures(&self) -> bool {
        self.viewer.is_some()
    }

    fn check(&self, prompt: &[u32]) -> Result<(), ApiError> {
        if prompt.is_empty() {
            return Err(ApiError::invalid("the prompt is empty"));
        }
        if let Some(token) = prompt.iter().find(|token| **token as usize >= self.vocabulary && !is_image(**token)) {
            return Err(Error::UnknownToken { token: *token, vocabulary: self.vocabulary }.into());
        }
        match self.facts.context.filter(|context| prompt.len() >= *context) {
            Some(context) => Err(ApiError::context_full(prompt.len(), context)),
            None => Ok(()),
        }
    }
}

/// Makes matchers of the forms of answers.
struct Forms {
    text: Arc<dyn Text>,
    compiler: LazyCompiler,
}

impl Forms {
    /// A matcher for each answer. The form is compiled once.
    fn matchers(&self, form: Option<&Form>, answers: usize) -> Result<Vec<Option<Box<dyn Matcher>>>, ApiError> {
        let compile = |form: &Form| {
            let first = self.compiler.matcher(&form.constraint, || self.text.vocabulary());
            first.map_err(|error| ApiError::parameter(&form.parameter, error.to_string()))
        };
        let first = form.map(compile).transpose()?;
        Ok((0..answers).map(|_| first.as_ref().map(|first| first.again())).collect())
    }
}
