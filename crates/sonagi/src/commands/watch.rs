//! `sonagi watch`: the probes alone, without a load.

use crate::environment;
use crate::error::Error;
use crate::exit::Exit;
use crate::page::{self, Listen, PageWish};
use crate::signals;
use crate::terminal::Terminal;
use crate::values;
use crate::watching::{Recorded, Ring, Serving, Table, WatchServer};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use sonagi_measure::At;
use sonagi_measure::metrics::Registry;
use sonagi_watch::{Probe, Second, Told, Watch, probes};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub(super) const NAME: &str = "watch";

/// How often it is looked whether a signal has come.
const LOOKED_EVERY: Duration = Duration::from_millis(20);

pub(super) fn define() -> Command {
    Command::new(NAME)
        .about("Watch a service without a load: processes, machine, databases, pages of metrics")
        .long_about(
            "Watch a service without a load, until Ctrl-C: the current level of what matters, once a second, and what \
             happens. With --page it is on a page as well, as a run without a load. With --serve another Sonagi, which \
             generates the load, takes over all that is seen here: `--watch sonagi:http://HOST:PORT`. It keeps ten \
             minutes, so that a look that fails loses nothing.",
        )
        .arg(
            Arg::new("port")
                .long("port")
                .value_name("NUMBER")
                .action(ArgAction::Append)
                .value_parser(value_parser!(u16).range(1..))
                .help("The service that listens there: short for --watch port:NUMBER"),
        )
        .arg(
            Arg::new("watch")
                .long("watch")
                .value_name("WHAT")
                .action(ArgAction::Append)
                .help("What to watch, as `sonagi run` has it; may be repeated"),
        )
        .arg(
            Arg::new("for")
                .long("for")
                .value_name("TIME")
                .value_parser(values::positive_duration)
                .help("End after this time, e.g. 30s"),
        )
        .arg(
            Arg::new("json")
                .long("json")
                .action(ArgAction::SetTrue)
                .help("Print a JSON document a second, each on a line"),
        )
        .args(page::arguments_of_watch())
        .arg(
            Arg::new("runs")
                .long("runs")
                .value_name("DIR")
                .value_parser(value_parser!(PathBuf))
                .help("Keep what is seen as a run folder in this folder; without it the page's is temporary"),
        )
        .arg(
            Arg::new("serve")
                .long("serve")
                .value_name("ADDRESS")
                .value_parser(page::address)
                .help("Serve the last ten minutes there, e.g. 0.0.0.0:5666, to `--watch sonagi:http://HOST:PORT`"),
        )
        .arg(
            Arg::new("token")
                .long("token")
                .value_name("TOKEN")
                .requires("serve")
                .help("Who asks must know it; required where others can reach the address. Lists of processes show \
                       flags: SONAGI_WATCH_TOKEN means the same"),
        )
}

pub(super) fn run(matches: &ArgMatches, terminal: &Terminal) -> Result<Exit, Error> {
    let probes = wanted(matches)?;
    let id = getrandom::u64().map_err(Error::could_not)?;
    let ring = Arc::new(Ring::new(format!("{id:016x}")));
    let serving = matches.get_one::<Listen>("serve").map(|listen| Serving {
        listen: listen.clone(),
        token: matches.get_one::<String>("token").cloned().or_else(|| environment::SONAGI_WATCH_TOKEN.get()),
    });
    let server = serving.map(|serving| WatchServer::start(serving, Arc::clone(&ring))).transpose()?;
    let stop_requests = signals::listen(*terminal, || {}, || {})?;
    if let Some(server) = &server {
        terminal.say(&format!("serving     http://{}", server.address()));
    }
    let subjects: Vec<String> = probes.iter().map(|probe| probe.subject()).collect();
    let (registry, kept_in) = (Arc::new(Registry::new(&[])), matches.get_one::<PathBuf>("runs").cloned());
    let wish = PageWish::of(matches);
    let mut recorded = Recorded::start(wish, kept_in, &subjects.join(", "), &registry, terminal)?;
    let epoch = Instant::now();
    let watch = Watch::start(probes, &registry, epoch)
        .map_err(|error| Error::could_not(format_args!("cannot start the probes: {error}")))?;
    let end = matches.get_one::<Duration>("for").map(|time| epoch + *time);
    let mut shown = Shown::new(matches.get_flag("json"), *terminal);
    let now = || At(epoch.elapsed().as_nanos() as i64);
    for number in 1.. {
        let due = epoch + Duration::from_secs(number);
        let due = end.map_or(due, |end| due.min(end));
        let to_stop = || stop_requests.to_stop() || recorded.as_ref().is_some_and(Recorded::to_stop);
        while Instant::now() < due && !to_stop() {
            std::thread::sleep(LOOKED_EVERY.min(due.saturating_duration_since(Instant::now())));
        }
        if to_stop() {
            break;
        }
        let taken = watch.take();
        if let Some(recorded) = &mut recorded {
            recorded.second(now(), &taken);
        }
        let second = Second::of(number, taken);
        ring.push(&second);
        let is_of_use = shown.show(&second)? || server.is_some() || recorded.is_some();
        if !is_of_use || end.is_some_and(|end| Instant::now() >= end) {
            break;
        }
    }
    // Before a page is served on: nobody is looked at any more.
    drop(watch);
    recorded.map_or(Ok(()), |recorded| recorded.end(now(), &stop_requests))?;
    Ok(Exit::Pass)
}

/// The probes that the flags ask for.
fn wanted(matches: &ArgMatches) -> Result<Vec<Box<dyn Probe>>, Error> {
    let ports = matches.get_many::<u16>("port").into_iter().flatten().map(|port| format!("port:{port}"));
    let texts = matches.get_many::<String>("watch").into_iter().flatten().cloned();
    let texts: Vec<String> = ports.chain(texts).collect();
    if texts.is_empty() {
        return Err(Error::flag("--port", "there is nothing to watch\nhint: --port 3000, or --watch WHAT"));
    }
    let probes = texts.iter().map(|text| probes::probe(text));
    probes.collect::<Result<_, _>>().map_err(|why| Error::flag("--watch", why))
}

/// What is printed, in one of three ways.
struct Shown {
    terminal: Terminal,
    is_json: bool,
    table: Table,
    /// Lines of the table that stands there.
    lines: usize,
}

impl Shown {
    fn new(is_json: bool, terminal: Terminal) -> Shown {
        Shown { terminal, is_json, table: Table::default(), lines: 0 }
    }

    /// Prints a second; false: nobody reads any more.
    fn show(&mut self, second: &Second) -> Result<bool, Error> {
        if self.is_json {
            return self.terminal.tell(&format!("{}\n", second.to_json()));
        }
        self.table.take(second);
        let notes: String = second.notes.iter().map(told).collect();
        if !self.terminal.is_redrawable {
            return self.terminal.tell(&format!("{notes}{}", self.table.line()));
        }
        let table = self.table.text(self.terminal.columns);
        // Back to where the table began, and away with it.
        let back = if self.lines > 0 { format!("\x1b[{}A\r\x1b[J", self.lines) } else { String::new() };
        self.lines = table.lines().count();
        self.terminal.tell(&format!("{back}{notes}{table}"))
    }
}

/// A note in lines that hold nothing a terminal would obey, whoever wrote it.
fn told(note: &Told) -> String {
    let plain = |text: &str| text.chars().filter(|letter| !letter.is_control()).collect::<String>();
    let hint = note.hint.as_ref().map(|hint| format!("  hint: {}\n", plain(hint))).unwrap_or_default();
    format!("{}: {}\n{hint}", plain(&note.subject), plain(&note.text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_holds_nothing_that_a_terminal_would_obey() {
        let note = |hint: Option<&str>| Told {
            subject: "redis://h".to_owned(),
            text: "`GET \x1b[2Jx` took 9 ms".to_owned(),
            hint: hint.map(str::to_owned),
            is_event: true,
        };
        assert_eq!(told(&note(None)), "redis://h: `GET [2Jx` took 9 ms\n");
        assert_eq!(told(&note(Some("try\nit"))), "redis://h: `GET [2Jx` took 9 ms\n  hint: tryit\n");
    }
}
