//! Voxtral: a tower as Whisper's, a projector of four neighbouring states, a decoder.

use super::{Family, conventions, hearing, vision};
use crate::config::Config;
use crate::{Activation, CheckpointError, Decoder, Hearing, Reader};

pub const FAMILY: Family = Family { architectures: &["VoxtralForConditionalGeneration"], keys: &[], describe };

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    const AUDIO: &str = "audio_config";
    let mut decoder = vision::text(config)?;
    let audio = config.optional_map(AUDIO)?.ok_or_else(|| config.mistake(AUDIO, "is missing"))?;
    let tower = hearing::tower(&audio, &hearing::VOXTRAL)?;
    // The projector reads rows of as many elements as the feed-forward network has.
    let (group, rest) = (tower.inner / tower.width, tower.inner % tower.width);
    if rest != 0 || group == 0 || !tower.positions.is_multiple_of(group) {
        return Err(audio.mistake("intermediate_size", "is no number of states that divides a window"));
    }
    let token = config.optional_count("audio_token_id")?;
    let token = token.and_then(|token| u32::try_from(token).ok());
    let token = token.ok_or_else(|| config.mistake("audio_token_id", "is missing"))?;
    let activation = conventions::activation(config, "projector_hidden_act", Activation::Gelu)?;
    decoder.hearing = Some(Hearing { tower, reader: Reader::Prompt { group, activation, token }, aligned: Vec::new() });
    Ok(decoder)
}
