//! Scripts for a POSIX shell, which Linux and Android have.

use super::files::DeviceFile;

/// Text as one word of a shell.
pub fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Makes the folder, and writes digest, size and name of each complete file.
pub fn list(folder: &str) -> String {
    format!(
        "mkdir -p {folder}/.digests && cd {folder} && for mark in .digests/*; do name=${{mark#.digests/}}; \
         if [ -f \"$name\" ]; then echo \"$(cat \"$mark\") $(wc -c <\"$name\") $name\"; fi; done",
        folder = quoted(folder)
    )
}

/// Replaces a file by the standard input, and notes the digest. A file that breaks off takes no file's place.
pub fn receive(folder: &str, file: &DeviceFile) -> String {
    let (name, part) = (quoted(&file.name), quoted(&format!("{}.part", file.name)));
    let mark = quoted(&format!(".digests/{}", file.name));
    let mode = if file.executable { "755" } else { "644" };
    format!(
        "cd {folder} || exit 1; rm -f {mark} && cat >{part} && [ \"$(wc -c <{part})\" -eq {size} ] && chmod {mode} {part} && \
         mv -f {part} {name} && echo {digest} >{mark} || {{ rm -f {part}; exit 1; }}",
        folder = quoted(folder),
        size = file.size,
        digest = file.digest,
    )
}

/// Removes files of an earlier run, and runs the program until its end or until the standard input ends: with the connection, the
/// process ends too. `read` is a builtin: a program in its place would outlive the watch and keep the standard input, which adb waits for.
pub fn run(folder: &str, variables: &[(String, String)], words: &[String], stale: &[String]) -> String {
    let list = |texts: &[String]| texts.iter().map(|text| quoted(text)).collect::<Vec<_>>().join(" ");
    let variables: String = variables.iter().map(|(name, value)| format!("{name}={} ", quoted(value))).collect();
    let remove = if stale.is_empty() { String::new() } else { format!("rm -f {} && ", list(stale)) };
    format!(
        "cd {folder} && {remove}exec 3<&0 || exit 1; {variables}{program} </dev/null 3<&- & process=$!; \
         {{ read -r end <&3; kill $process; }} >/dev/null 2>&1 & watch=$!; exec 3<&-; \
         wait $process; status=$?; kill $watch 2>/dev/null; exit $status",
        folder = quoted(folder),
        program = list(words),
    )
}

/// Writes a file to the standard output.
pub fn send(folder: &str, name: &str) -> String {
    format!("cat {}", quoted(&format!("{folder}/{name}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_stays_a_word() {
        assert_eq!(quoted("it's $HOME"), r"'it'\''s $HOME'");
    }
}
