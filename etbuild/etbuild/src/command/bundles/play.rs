//! `etbuild bundle play`: an AI pack of Google Play, which delivers to each device the folder of its group.
//!
//! Source: <https://developer.android.com/google/play/on-device-ai>, <https://developer.android.com/google/play/device-targeting>.

use std::path::{Path, PathBuf};

use et_update::{Bundle, Entry, Error};
use etbuild_diagnostic::{Diagnostic, unwritable};
use serde_json::json;

use super::open::{failed, no_target, open, write};
use crate::command::Outcome;
use crate::session::Session;

/// The platform of phones.
const PLATFORM: &str = "aarch64-android";
/// Play's group of the devices in no other group.
const OTHER: &str = "other";
/// The manufacturers that devices name for the chips of a vendor: both occur.
const MANUFACTURERS: [&str; 2] = ["QTI", "Qualcomm"];

pub fn run(session: &Session, path: &Path, folder: &Path, key: Option<&str>) -> Outcome {
    let mut bundle = open(path, key)?;
    let entries = entries(&bundle).map_err(failed)?;
    let pack = identifier(&bundle.manifest.name);
    let mut groups = Vec::new();
    for entry in &entries {
        let group = entry.chip.as_deref().map_or_else(|| OTHER.to_owned(), identifier);
        let assets = folder.join(&pack).join("src/main/assets").join(format!("{pack}#group_{group}"));
        // Play takes no executable files in assets: the app has the library.
        for file in entry.files.iter().filter(|file| !file.executable) {
            write(&mut bundle, file, &assets)?;
        }
        groups.push(json!({ "group": group, "target": entry.target, "chip": entry.chip }));
    }
    text_file(&folder.join(&pack).join("build.gradle"), &gradle(&pack))?;
    text_file(&folder.join("device_targeting_config.xml"), &configuration(&entries))?;
    let value = json!({ "folder": folder, "pack": pack, "groups": groups });
    let text = format!("{}: the AI pack `{pack}` for {} groups of devices", folder.display(), groups.len());
    session.terminal.succeed("chips-play", value, &text);
    Ok(Vec::new())
}

/// An entry per chip, and one for all other devices: the first of equals by name.
fn entries(bundle: &Bundle) -> Result<Vec<Entry>, Error> {
    let mut entries: Vec<Entry> = Vec::new();
    for entry in bundle.manifest.entries.iter().filter(|entry| entry.platform == PLATFORM) {
        if entries.iter().all(|other| other.chip != entry.chip) {
            entries.push(entry.clone());
        }
    }
    if entries.is_empty() {
        return Err(no_target(&bundle.manifest, PLATFORM));
    }
    Ok(entries)
}

fn configuration(entries: &[Entry]) -> String {
    let groups = entries.iter().filter_map(|entry| entry.chip.as_deref()).map(|chip| {
        let selector = |manufacturer: &&str| {
            format!(
                "        <config:device-selector>\n            <config:system-on-chip manufacturer=\"{manufacturer}\" model=\"{chip}\"/>\n        \
                 </config:device-selector>\n"
            )
        };
        let selectors: String = MANUFACTURERS.iter().map(selector).collect();
        format!("    <config:device-group name=\"{}\">\n{selectors}    </config:device-group>\n", identifier(chip))
    });
    let groups: String = groups.collect();
    format!(
        "<config:device-targeting-config\n    xmlns:config=\"http://schemas.android.com/apk/config\">\n{groups}\
         </config:device-targeting-config>\n"
    )
}

fn gradle(pack: &str) -> String {
    format!(
        "plugins {{\n    id 'com.android.ai-pack'\n}}\n\naiPack {{\n    packName = \"{pack}\"\n    dynamicDelivery {{\n        \
         deliveryType = \"install-time\"\n    }}\n}}\n"
    )
}

/// A name of letters, digits and underscores that starts with a letter.
fn identifier(name: &str) -> String {
    let letters: String = name
        .chars()
        .map(|letter| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '_' })
        .collect();
    if letters.starts_with(|first: char| first.is_ascii_alphabetic()) { letters } else { format!("m{letters}") }
}

fn text_file(path: &PathBuf, text: &str) -> Result<(), Vec<Diagnostic>> {
    std::fs::write(path, text).map_err(|error| vec![unwritable(path, &error)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_that_play_takes() {
        assert_eq!(["SM8650-AC", "digits", "3d"].map(identifier), ["sm8650_ac", "digits", "m3d"]);
    }
}
