//! The class `Options`: how an answer is made.

use std::ffi::CString;
use std::ptr::null;

use et_c::functions::{SeeCall, SeeLikelihood, Think};
use et_c::options::{Bias, Options};

use crate::environment::Environment;
use crate::failure::Result;
use crate::interface::Object;
use crate::value::{Texts, or_null};

/// Options for C, with the texts and numbers behind the pointers.
pub struct GivenOptions {
    pub options: Options,
    /// Whether the object asks how probable tokens are.
    has_likelihoods: bool,
    _texts: [Option<CString>; 6],
    _stop: Texts,
    _biases: Vec<Bias>,
}

impl GivenOptions {
    /// Reads the fields of an object.
    pub fn read(environment: Environment, object: Object) -> Result<Self> {
        let size = |name| -> Result<usize> { Ok(usize::try_from(environment.long_field(object, name)?)?) };
        let share = |name| environment.float_field(object, name);
        let text = |name| environment.text_field(object, name);
        let texts = [
            text(c"jsonSchema")?,
            text(c"regex")?,
            text(c"grammar")?,
            text(c"templateVariables")?,
            text(c"tools")?,
            text(c"toolChoice")?,
        ];
        let [json_schema, regex, grammar, template_variables, tools, tool_choice] =
            texts.each_ref().map(|text| or_null(text.as_ref()));
        let (stop, biases) = (stop(environment, object)?, biases(environment, object)?);
        let options = Options {
            max_new_tokens: size(c"maxNewTokens")?,
            temperature: share(c"temperature")?,
            top_k: size(c"topK")?,
            top_p: share(c"topP")?,
            seed: environment.long_field(object, c"seed")?.cast_unsigned(),
            min_p: share(c"minP")?,
            repetition_penalty: share(c"repetitionPenalty")?,
            no_repeat_ngram_size: size(c"noRepeatNgramSize")?,
            typical_p: share(c"typicalP")?,
            frequency_penalty: share(c"frequencyPenalty")?,
            presence_penalty: share(c"presencePenalty")?,
            json_schema,
            regex,
            grammar,
            stop: stop.first(),
            stop_count: stop.count(),
            logit_bias: if biases.is_empty() { null() } else { biases.as_ptr() },
            logit_bias_count: biases.len(),
            template_variables,
            tools,
            tool_choice,
            think: None,
            call: None,
            top_logprobs: usize::try_from(environment.int_field(object, c"topLogprobs")?).unwrap_or(0),
            likely: None,
        };
        let has_likelihoods = environment.int_field(object, c"topLogprobs")? >= 0;
        Ok(Self { options, has_likelihoods, _texts: texts, _stop: stop, _biases: biases })
    }

    /// Tells thoughts, calls and, where these are wanted, probabilities apart from the text of the answer.
    pub fn apart(&mut self, think: Think, call: SeeCall, likely: SeeLikelihood) {
        self.options.think = think;
        self.options.call = call;
        self.options.likely = likely.filter(|_| self.has_likelihoods);
    }
}

/// The texts that end an answer.
fn stop(environment: Environment, object: Object) -> Result<Texts> {
    let array = environment.object_field(object, c"stop", c"[Ljava/lang/String;")?;
    let texts = Texts::read(environment, array)?;
    environment.forget(array);
    Ok(texts)
}

/// The numbers that are added to logits: two arrays of the same length.
fn biases(environment: Environment, object: Object) -> Result<Vec<Bias>> {
    let tokens = environment.object_field(object, c"biasedTokens", c"[I")?;
    let biases = environment.object_field(object, c"biases", c"[F")?;
    let numbers = environment.ints(tokens)?.into_iter().zip(environment.floats(biases)?);
    let read = numbers.map(|(token, bias)| Bias { token: token.cast_unsigned(), bias }).collect();
    environment.forget(tokens);
    environment.forget(biases);
    Ok(read)
}

/// Writes the numbers of options to the fields of an object.
pub fn write(environment: Environment, object: Object, options: &Options) -> Result<()> {
    let long = |size: usize| i64::try_from(size).unwrap_or(i64::MAX);
    let longs = [
        (c"maxNewTokens", long(options.max_new_tokens)),
        (c"topK", long(options.top_k)),
        (c"seed", options.seed.cast_signed()),
        (c"noRepeatNgramSize", long(options.no_repeat_ngram_size)),
    ];
    let floats = [
        (c"temperature", options.temperature),
        (c"topP", options.top_p),
        (c"minP", options.min_p),
        (c"repetitionPenalty", options.repetition_penalty),
        (c"typicalP", options.typical_p),
        (c"frequencyPenalty", options.frequency_penalty),
        (c"presencePenalty", options.presence_penalty),
    ];
    longs.into_iter().try_for_each(|(name, value)| environment.set_long_field(object, name, value))?;
    floats.into_iter().try_for_each(|(name, value)| environment.set_float_field(object, name, value))
}
