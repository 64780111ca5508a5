//! Tokenizers and chat templates of language models: the `tokenizers` library reads Hugging Face's `tokenizer.json`,
//! `minijinja` renders chat templates. A binary that takes token ids needs neither library.

mod json;
mod reading;
mod template;
mod tokenizer;
mod tools;
mod vocabulary;

use et_llm::{Asked, Conversation, Error, Question, Reading, Text, Token};

use template::Template;
use tokenizer::Tokenizer;

/// The tokenizer of the named data [`et_llm::TOKENIZER_KEY`] with the template of [`et_llm::CHAT_KEY`], as an
/// [`et_llm::MakeText`].
///
/// # Errors
/// [`Error::Text`] for an unreadable tokenizer or template.
pub fn make(tokenizer: &[u8], chat: Option<&[u8]>) -> Result<Box<dyn Text>, Error> {
    let template = chat.map(Template::read).transpose()?;
    Ok(Box::new(Both { tokenizer: Tokenizer::read(tokenizer)?, template }))
}

struct Both {
    tokenizer: Tokenizer,
    template: Option<Template>,
}

impl Text for Both {
    fn encode(&self, text: &str, begins: bool) -> Result<Vec<u32>, Error> {
        self.tokenizer.encode(text, begins)
    }

    fn read(&self, text: &str, pair: Option<&str>, most: usize) -> Result<Reading, Error> {
        self.tokenizer.reading(text, pair, most)
    }

    fn decode(&self, tokens: &[u32]) -> Result<String, Error> {
        self.tokenizer.decode(tokens)
    }

    fn vocabulary(&self) -> Result<Vec<Token>, Error> {
        self.tokenizer.vocabulary()
    }

    fn render(&self, conversation: &Conversation<'_>) -> Result<String, Error> {
        self.template.as_ref().ok_or(Error::NoTemplate)?.fill_in(conversation)
    }

    fn ask(&self, question: &Question<'_>) -> Result<Asked, Error> {
        tools::ask(self, question)
    }

    fn template(&self) -> Option<&str> {
        self.template.as_ref().map(Template::source)
    }

    fn token(&self, name: &str) -> Option<u32> {
        self.tokenizer.token(name)
    }

    fn special(&self, name: &str) -> Option<u32> {
        self.tokenizer.special(name)
    }
}
