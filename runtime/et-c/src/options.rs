//! How an answer is made.
#![expect(unsafe_code, reason = "C hands over pointers")]

use std::ffi::c_char;
use std::ptr::null;

use et_llm::{Choice, Constraint, Matcher, Sampler, Sampling, Tools};

use crate::functions::{SeeCall, SeeLikelihood, Think};
use crate::held::Result;
use crate::pointers::{elements, optional, text};

/// `et_options` in the header.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Options {
    /// The most tokens of an answer.
    pub max_new_tokens: usize,
    /// What logits are divided by; 0 takes the most probable token each time.
    pub temperature: f32,
    /// The number of the most probable tokens to pick from; 0 for all.
    pub top_k: usize,
    /// The share of the probability that the tokens to pick from make up; 1 for all.
    pub top_p: f32,
    /// The seed of the random numbers.
    pub seed: u64,
    /// The least share of the largest probability; 0 for any.
    pub min_p: f32,
    /// Divides positive logits of tokens in the text, and multiplies negative ones; 1 for none.
    pub repetition_penalty: f32,
    /// The length of sequences that do not come twice; 0 for none.
    pub no_repeat_ngram_size: usize,
    /// The share of the tokens nearest to the entropy; 1 for all.
    pub typical_p: f32,
    /// Is subtracted from logits of tokens in the answer, for each time; 0 for none.
    pub frequency_penalty: f32,
    /// Is subtracted from logits of tokens in the answer, once; 0 for none.
    pub presence_penalty: f32,
    /// A JSON schema that accepts the answer; null for any answer.
    pub json_schema: *const c_char,
    /// A regular expression that matches the answer; null for any answer.
    pub regex: *const c_char,
    /// A grammar of the answer, in Lark's syntax; null for any answer.
    pub grammar: *const c_char,
    /// The first of `stop_count` texts that end the answer.
    pub stop: *const *const c_char,
    /// The number of texts.
    pub stop_count: usize,
    /// The first of `logit_bias_count` biases.
    pub logit_bias: *const Bias,
    /// The number of biases.
    pub logit_bias_count: usize,
    /// Variables of the chat template, a JSON object; null for none.
    pub template_variables: *const c_char,
    /// The tools that the model may call, a JSON list; null for none.
    pub tools: *const c_char,
    /// `auto`, `required`, or the name of a tool; null for `auto`.
    pub tool_choice: *const c_char,
    /// Is told what the model thinks; null where thoughts are text.
    pub think: Think,
    /// Is told calls of tools.
    pub call: SeeCall,
    /// How many of the most probable tokens `likely` is told.
    pub top_logprobs: usize,
    /// Is told how probable tokens are.
    pub likely: SeeLikelihood,
}

/// `et_bias` in the header.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Bias {
    /// The token.
    pub token: u32,
    /// The number that is added to the logit of the token.
    pub bias: f32,
}

impl Options {
    pub(crate) const fn new(max_new_tokens: usize, sampling: Sampling) -> Self {
        Self {
            max_new_tokens,
            temperature: sampling.temperature,
            top_k: sampling.top_k,
            top_p: sampling.top_p,
            seed: sampling.seed,
            min_p: sampling.min_p,
            repetition_penalty: sampling.repetition_penalty,
            no_repeat_ngram_size: sampling.no_repeat_ngram_size,
            typical_p: sampling.typical_p,
            frequency_penalty: sampling.frequency_penalty,
            presence_penalty: sampling.presence_penalty,
            json_schema: null(),
            regex: null(),
            grammar: null(),
            stop: null(),
            stop_count: 0,
            logit_bias: null(),
            logit_bias_count: 0,
            template_variables: null(),
            tools: null(),
            tool_choice: null(),
            think: None,
            call: None,
            top_logprobs: 0,
            likely: None,
        }
    }

    pub(crate) const fn sampling(&self) -> Sampling {
        Sampling {
            temperature: self.temperature,
            top_k: self.top_k,
            top_p: self.top_p,
            min_p: self.min_p,
            typical_p: self.typical_p,
            repetition_penalty: self.repetition_penalty,
            frequency_penalty: self.frequency_penalty,
            presence_penalty: self.presence_penalty,
            no_repeat_ngram_size: self.no_repeat_ngram_size,
            seed: self.seed,
        }
    }

    /// The sampler of an answer; `matcher` is the state of its form, which holds behind a token if not from the beginning.
    ///
    /// # Errors
    /// Options out of range.
    ///
    /// # Safety
    /// The biases are there.
    pub(crate) unsafe fn sampler(&self, (behind, matcher): (Option<u32>, Option<Box<dyn Matcher>>)) -> Result<Sampler> {
        // SAFETY: the caller says so.
        let biases = unsafe { elements(self.logit_bias, self.logit_bias_count) }?;
        let biases = biases.iter().map(|Bias { token, bias }| (*token, *bias)).collect();
        let mut sampler = Sampler::new(self.sampling().checked()?).biased(biases);
        sampler.begin_behind(behind, matcher);
        Ok(sampler)
    }

    /// The texts that end the answer.
    ///
    /// # Safety
    /// The texts are terminated.
    pub(crate) unsafe fn stops(&self) -> Result<Vec<String>> {
        // SAFETY: the caller says so.
        let stops = unsafe { elements(self.stop, self.stop_count) }?;
        // SAFETY: the same.
        stops.iter().map(|stop| Ok(unsafe { text(*stop) }?.to_owned())).collect()
    }

    /// The tools that the model may call, if any.
    ///
    /// # Errors
    /// A choice without tools.
    ///
    /// # Safety
    /// The texts are terminated.
    pub(crate) unsafe fn tools(&self) -> Result<Option<Tools>> {
        // SAFETY: the caller says so.
        let (json, choice) = unsafe { (optional(self.tools)?, optional(self.tool_choice)?) };
        let choice = Choice::of(choice);
        let Some(json) = json else {
            return if choice == Choice::Auto { Ok(None) } else { Err("`tool_choice` needs `tools`".into()) };
        };
        Ok(Some(Tools { choice, ..Tools::new(json.to_owned()) }))
    }

    /// Variables of the chat template, if any.
    ///
    /// # Safety
    /// The text is terminated.
    pub(crate) unsafe fn variables(&self) -> Result<Option<&str>> {
        // SAFETY: the caller says so.
        Ok(unsafe { optional(self.template_variables) }?)
    }

    /// Refuses the options of conversations for another prompt.
    ///
    /// # Errors
    /// Such an option.
    pub(crate) fn refuse_conversation(&self) -> Result<()> {
        let given = [
            ("tools", !self.tools.is_null()),
            ("tool_choice", !self.tool_choice.is_null()),
            ("template_variables", !self.template_variables.is_null()),
        ];
        let found = given.iter().find(|(_, is_given)| *is_given);
        found.map_or(Ok(()), |(name, _)| Err(format!("`{name}` is for conversations").into()))
    }

    /// The form of the answer, if any.
    ///
    /// # Safety
    /// The texts are terminated.
    pub(crate) unsafe fn constraint(&self) -> Result<Option<Constraint>> {
        type Make = fn(String) -> Constraint;
        let given: [(*const c_char, Make); 3] = [
            (self.json_schema, Constraint::JsonSchema),
            (self.regex, Constraint::Regex),
            (self.grammar, Constraint::Grammar),
        ];
        let mut given = given.into_iter().filter(|(pointer, _)| !pointer.is_null());
        let Some((pointer, make)) = given.next() else { return Ok(None) };
        if given.next().is_some() {
            return Err("`json_schema`, `regex` and `grammar` do not go together".into());
        }
        // SAFETY: the caller says so.
        Ok(Some(make(unsafe { text(pointer) }?.to_owned())))
    }
}
