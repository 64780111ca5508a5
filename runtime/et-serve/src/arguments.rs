//! The command line behind `--serve`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use et_module::app::number;
use et_module::parse_threads;

/// The request of a command line.
#[derive(Debug, PartialEq)]
pub enum Command {
    /// The help text.
    Help,
    /// A server.
    Serve(Box<Options>),
}

/// The options of a server.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The address to listen at, `HOST:PORT`.
    pub address: String,
    /// The number of texts that are continued at the same time; for `None` that of the program's batch.
    pub slots: Option<usize>,
    /// The most requests that wait for a slot.
    pub queue: usize,
    /// The most time of a request.
    pub timeout: Duration,
    /// The most time for a client to send a request.
    pub read_timeout: Duration,
    /// The most time for running requests once a signal ends the server.
    pub grace: Duration,
    /// Where the key of clients comes from: `env:NAME`, or a file.
    pub api_key: Option<String>,
    /// The most threads; [`et_module::default_threads`] for `None`.
    pub threads: Option<usize>,
    /// Data files; the files beside the program file where the command line names no file.
    pub data: Vec<PathBuf>,
    /// The data file of an adapter; the file beside the program file where the command line names no adapter.
    pub adapter: Option<PathBuf>,
    /// Adapters that requests choose as models, by name.
    pub adapters: Vec<(String, PathBuf)>,
    /// The file of the trace of the requests.
    pub trace: Option<PathBuf>,
    /// The origins of pages that may call the server; `*` for all.
    pub origins: Vec<String>,
}

const HOST: &str = "127.0.0.1";
const PORT: &str = "8080";

impl Default for Options {
    fn default() -> Self {
        Self {
            address: format!("{HOST}:{PORT}"),
            slots: None,
            queue: 256,
            timeout: Duration::from_secs(600),
            read_timeout: Duration::from_secs(30),
            grace: Duration::from_secs(10),
            api_key: None,
            threads: None,
            data: Vec::new(),
            adapter: None,
            adapters: Vec::new(),
            trace: None,
            origins: Vec::new(),
        }
    }
}

/// Reads the arguments behind `--serve`. The error names the mistake.
pub fn parse(arguments: &mut dyn Iterator<Item = OsString>) -> Result<Command, String> {
    let (mut options, mut arguments) = (Options::default(), arguments.peekable());
    if let Some(given) = arguments.next_if(|first| !first.to_string_lossy().starts_with('-')) {
        options.address = address(&given.to_string_lossy());
    }
    while let Some(argument) = arguments.next() {
        let name = argument.to_string_lossy().into_owned();
        if matches!(name.as_str(), "--help" | "-h") {
            return Ok(Command::Help);
        }
        options.set(&name, &mut || arguments.next().ok_or(format!("{name} needs a value")))?;
    }
    Ok(Command::Serve(Box::new(options)))
}

impl Options {
    fn set(&mut self, name: &str, value: &mut dyn FnMut() -> Result<OsString, String>) -> Result<(), String> {
        match name {
            "--slots" => self.slots = Some(number::<std::num::NonZero<usize>>(name, value()?)?.get()),
            "--queue" => self.queue = number(name, value()?)?,
            "--timeout" => self.timeout = seconds(name, value()?)?,
            "--read-timeout" => self.read_timeout = seconds(name, value()?)?,
            "--grace" => self.grace = seconds(name, value()?)?,
            "--api-key" => self.api_key = Some(value()?.to_string_lossy().into_owned()),
            "--threads" => self.threads = Some(parse_threads(&value()?.to_string_lossy())?),
            "--data" => self.data.push(value()?.into()),
            "--adapter" => self.add_adapter(value()?)?,
            "--trace" => self.trace = Some(value()?.into()),
            "--allow-origin" => self.origins.push(origin(&value()?.to_string_lossy())?),
            _ => return Err(format!("unknown argument {name}")),
        }
        Ok(())
    }
}

impl Options {
    /// The file of the usual adapter, or `NAME=FILE` of an adapter that requests choose. A path with `=` in a folder's name is no name.
    fn add_adapter(&mut self, given: OsString) -> Result<(), String> {
        let named =
            given.to_str().and_then(|text| text.split_once('=')).filter(|(name, _)| !name.contains(['/', '\\']));
        let Some((name, file)) = named else {
            self.adapter = Some(given.into());
            return Ok(());
        };
        if name.is_empty() || self.adapters.iter().any(|(other, _)| other == name) {
            return Err(format!("--adapter needs a name of its own for each file, not `{name}`"));
        }
        self.adapters.push((name.to_owned(), file.into()));
        Ok(())
    }
}

/// An address with the parts that the text leaves out: `8000`, `0.0.0.0`, `0.0.0.0:8000`, `[::1]:8000`.
fn address(text: &str) -> String {
    if text.chars().all(|character| character.is_ascii_digit()) {
        return format!("{HOST}:{text}");
    }
    let has_port = text.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    if has_port { text.to_owned() } else { format!("{text}:{PORT}") }
}

/// The origin of a page, `https://HOST[:PORT]`, as browsers send it, or `*`.
fn origin(text: &str) -> Result<String, String> {
    let host = text.split_once("://").map(|(_, host)| host);
    let is_origin = host.is_some_and(|host| !host.is_empty() && !host.contains(['/', '*', ' ', '@']));
    match text == "*" || (is_origin && text.is_ascii()) {
        true => Ok(text.to_ascii_lowercase()),
        false => Err(format!("--allow-origin needs an origin such as https://example.org, or *, not `{text}`")),
    }
}

/// At most a year: a moment that far away can be computed on every system.
fn seconds(name: &str, value: OsString) -> Result<Duration, String> {
    let seconds: f64 = number(name, value)?;
    let time = Duration::try_from_secs_f64(seconds).ok().filter(|time| *time <= Duration::from_secs(365 * 86400));
    time.ok_or_else(|| format!("{name} needs a time in seconds, not {seconds}"))
}

/// The help text.
pub fn usage(name: &str) -> String {
    format!(
        "usage: {name} --serve [ADDRESS] [OPTIONS]

Serves the model over HTTP in the protocol of OpenAI: /v1/chat/completions, /v1/completions and /v1/models, besides
/health and /metrics, and a page to chat at /; an encoder has /v1/embeddings or /v1/rerank instead. ADDRESS is HOST:PORT,
or either ({HOST}:{PORT}).

  --slots N            how many texts are continued at the same time, each with a KV cache of its own (those
                       of the program's batch, or 4)
  --queue N            the most requests that wait for a slot; a further one is refused with status 429 (256)
  --api-key SOURCE     the key that clients have to send: env:NAME for an environment variable, or a file
  --timeout S          the most seconds from a request to the end of its answer (600)
  --read-timeout S     the most seconds for a client to send a request (30)
  --grace S            the most seconds for running answers behind SIGTERM or SIGINT (10)
  --threads N          the most threads that the program's backends use, 1 to 256 (the physical cores, at most
                       16)
  --data FILE          data file with weights that the program keeps outside itself; may be repeated (those beside the
                       program file)
  --adapter FILE       data file of the usual adapter (the one beside the program file)
  --adapter NAME=FILE  data file of a further adapter, which requests choose as the model NAME; may be repeated
  --allow-origin ORIGIN
                       pages of this origin, such as https://example.org, may call the server from a browser; * for
                       pages of any; may be repeated
  --trace FILE         write the queue, the prefill chunks and the decode steps of each request as a trace for Perfetto
                       (ui.perfetto.dev) and Chrome, 64 MiB at most
"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Command, String> {
        parse(&mut line.split_whitespace().map(OsString::from))
    }

    #[test]
    fn an_address_may_lack_a_part() {
        for (text, whole) in [
            ("8000", "127.0.0.1:8000"),
            ("0.0.0.0", "0.0.0.0:8080"),
            ("0.0.0.0:80", "0.0.0.0:80"),
            ("[::1]:80", "[::1]:80"),
            ("localhost", "localhost:8080"),
        ] {
            assert_eq!(address(text), whole);
        }
    }

    #[test]
    fn options_follow_an_optional_address() {
        let wanted =
            Box::new(Options { slots: Some(2), queue: 0, grace: Duration::from_millis(500), ..Options::default() });
        assert_eq!(parsed("--slots 2 --queue 0 --grace 0.5"), Ok(Command::Serve(wanted.clone())));
        let elsewhere = Box::new(Options { address: "127.0.0.1:9".to_owned(), ..*wanted });
        assert_eq!(parsed("9 --slots 2 --queue 0 --grace 0.5"), Ok(Command::Serve(elsewhere)));
        assert_eq!(parsed("--help"), Ok(Command::Help));
    }

    #[test]
    fn adapters_have_names_but_the_usual_one() {
        let adapters = vec![("tales".to_owned(), "a=b/c.ptd".into()), ("law".to_owned(), "d".into())];
        let wanted = Options { adapter: Some("x/y=z".into()), adapters, ..Options::default() };
        let line = "--adapter tales=a=b/c.ptd --adapter x/y=z --adapter law=d";
        assert_eq!(parsed(line), Ok(Command::Serve(Box::new(wanted))));
        assert!(parsed("--adapter a=b --adapter a=c").is_err() && parsed("--adapter =c").is_err());
    }

    #[test]
    fn malformed_lines_are_errors() {
        for line in ["--allow-origin example.org", "--allow-origin https://a/b", "--allow-origin https://*"] {
            assert!(parsed(line).is_err(), "{line}");
        }
        for line in ["--slots 0", "--slots", "--queue -1", "--timeout x", "--grace 1e99", "--port 80", "80 81"] {
            assert!(parsed(line).is_err(), "{line}");
        }
    }
}
