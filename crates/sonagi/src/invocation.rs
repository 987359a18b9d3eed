//! The command line of this process and its script, as a run's record keeps them.

use serde_json::Value;
use sha2::{Digest as _, Sha256};
use sonagi_measure::folder::redact;
use sonagi_measure::secrets::{MASK, is_secret, masked};
use sonagi_measure::totals::ScriptFile;
use std::path::Path;

/// Artillery Cloud's flag, whose name alone does not say that its value is secret.
const CLOUD_KEY: &str = "key";

/// The command, word by word, secrets masked: values of flags and variables whose names say that they are secret.
pub(crate) fn command() -> Vec<String> {
    kept(std::env::args_os().map(|word| word.to_string_lossy().into_owned()))
}

/// The script in the file of this path and text.
pub(crate) fn script(path: &Path, text: &[u8]) -> ScriptFile {
    let sha256 = Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect();
    ScriptFile { path: hidden(&path.display().to_string()), sha256 }
}

fn kept(words: impl Iterator<Item = String>) -> Vec<String> {
    let mut is_behind_secret = false;
    let mut kept = Vec::new();
    for (at, word) in words.enumerate() {
        if at == 0 {
            kept.push("sonagi".to_owned());
            continue;
        }
        let flag = word.strip_prefix("--");
        kept.push(if is_behind_secret && flag.is_none() { MASK.to_owned() } else { hidden(&word) });
        is_behind_secret = flag.is_some_and(|name| !name.contains('=') && is_secret_flag(name));
    }
    kept
}

fn is_secret_flag(name: &str) -> bool {
    name == CLOUD_KEY || is_secret(name)
}

/// Whether it may be the name of a flag or variable, and no address with a query.
fn is_variable(name: &str) -> bool {
    !name.contains(['/', '?'])
}

/// A word without the value of a secret variable: `TOKEN=…`, whatever stands in it.
fn hidden(word: &str) -> String {
    match word.split_once('=') {
        Some((name, value))
            if is_variable(name) && is_secret_flag(name.trim_start_matches('-')) && !value.is_empty() =>
        {
            format!("{name}={MASK}")
        }
        _ => {
            // Addresses: whoever is named in them.
            let mut whole = Value::String(word.to_owned());
            redact(&mut whole);
            masked(whole.as_str().unwrap_or_default())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_of_a_command_line_are_masked_and_the_rest_stays() {
        let words = "/usr/bin/sonagi run --key planted chat.yml -e API_TOKEN=planted -v {\"password\":\"planted\"} \
                     -t http://u:planted@host/?token=planted -e USERS=3 --seed 7 --watch postgres://u:planted@db/app \
                     --watch=redis://:planted@cache --watch nginx:http://u:planted@web/status#log=/log \
                     --watch postgres://db/app?user=u&password=planted --watch sonagi:http://host:1#token=planted";
        let kept = kept(words.split(' ').filter(|word| !word.is_empty()).map(str::to_owned)).join(" ");
        assert!(!kept.contains("planted"), "{kept}");
        for rest in [
            "sonagi run --key",
            "chat.yml -e API_TOKEN=",
            "@host/?token=",
            "-e USERS=3 --seed 7",
            "@db/app",
            "@web/status",
        ] {
            assert!(kept.contains(rest), "{kept}");
        }
    }
}
