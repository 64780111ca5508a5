//! The class `Options`: how an answer is made.

use std::ffi::CString;

use et_c::language::Options;

use crate::environment::Environment;
use crate::failure::Result;
use crate::interface::Object;
use crate::value::or_null;

/// Options for C, with the texts behind the pointers.
pub struct GivenOptions {
    pub options: Options,
    _texts: [Option<CString>; 3],
}

impl GivenOptions {
    /// Reads the fields of an object.
    pub fn read(environment: Environment, object: Object) -> Result<Self> {
        let size = |name| -> Result<usize> { Ok(usize::try_from(environment.long_field(object, name)?)?) };
        let share = |name| environment.float_field(object, name);
        let text = |name| environment.text_field(object, name);
        let texts = [text(c"jsonSchema")?, text(c"regex")?, text(c"grammar")?];
        let [json_schema, regex, grammar] = texts.each_ref().map(|text| or_null(text.as_ref()));
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
        };
        Ok(Self { options, _texts: texts })
    }
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
