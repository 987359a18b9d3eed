//! What a command line says of the page: `--page`, `--page-listen`, `--report`, and k6's dashboard.

use clap::builder::PossibleValue;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, value_parser};
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::path::PathBuf;

/// Where pages are served unless told otherwise.
pub(crate) const USUAL: &str = "127.0.0.1:5665";

/// Where pages are served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Listen {
    pub(crate) address: SocketAddr,
    /// The name that the user gave for it, if it was no number.
    pub(crate) name: Option<String>,
}

/// The pages that a command wants of its runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PageWish {
    /// Where to serve while runs go on.
    pub(crate) served: Option<Listen>,
    /// Whether to go on serving when they are over.
    pub(crate) keep: bool,
    /// Whether to open it in a browser.
    pub(crate) open: bool,
    /// The file to write afterwards.
    pub(crate) file: Option<PathBuf>,
    /// Whether to plot each run on the terminal.
    pub(crate) plot: bool,
}

/// The flags of commands that run Artillery's scripts.
pub(crate) fn arguments() -> [Arg; 4] {
    [
        Arg::new("page")
            .long("page")
            .value_name("WHEN")
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("run")
            .value_parser([
                PossibleValue::new("run").help("while the runs go on"),
                PossibleValue::new("keep").help("also after them, until Ctrl-C"),
            ])
            .help("Show the runs live on a page in the browser"),
        listen_argument("page-listen")
            .help("Serve the page there, also without --page; if the port is taken, on the next free one"),
        Arg::new("report")
            .long("report")
            .value_name("FILE")
            .value_parser(value_parser!(PathBuf))
            .help("Write each run as a page that needs nothing but itself, e.g. report.html; of several runs, one file \
                   each, or into a folder, and of a matrix the comparison under the name itself"),
        Arg::new("plot")
            .long("plot")
            .action(ArgAction::SetTrue)
            .help("Print latencies and rate as a small plot below each summary"),
    ]
}

/// The same of a command without runs: what it does goes on and ends.
pub(crate) fn arguments_of_watch() -> [Arg; 3] {
    let [page, listen, report, _] = arguments();
    [
        page.value_parser([
            PossibleValue::new("run").help("while the watch goes on"),
            PossibleValue::new("keep").help("also after it, until Ctrl-C"),
        ])
        .help("Show what is seen live on a page in the browser"),
        listen,
        report.help("Write what was seen as a page that needs nothing but itself, e.g. watch.html"),
    ]
}

/// The same of a search: its page goes with it.
pub(crate) fn arguments_of_search() -> [Arg; 3] {
    let [page, listen, report, _] = arguments();
    [
        page.value_parser([PossibleValue::new("run").help("while the search goes on")])
            .help("Show the search live on a page in the browser, and the runs in --runs beside it"),
        listen,
        report.help("Write the answer as a page that needs nothing but itself, e.g. capacity.html"),
    ]
}

/// The flag for the address of pages.
pub(crate) fn listen_argument(name: &'static str) -> Arg {
    Arg::new(name)
        .long(name)
        .value_name("ADDRESS")
        .default_value(USUAL)
        .value_parser(address)
        .help("Serve the page there; if the port is taken, on the next free one")
}

impl PageWish {
    /// The wishes of the flags of [`arguments`].
    pub(crate) fn of(matches: &ArgMatches) -> PageWish {
        let page = matches.get_one::<String>("page");
        let is_address_given = matches.value_source("page-listen") == Some(ValueSource::CommandLine);
        let is_served = page.is_some() || is_address_given;
        PageWish {
            served: matches.get_one::<Listen>("page-listen").filter(|_| is_served).cloned(),
            keep: page.is_some_and(|when| when == "keep"),
            open: false,
            file: matches.get_one::<PathBuf>("report").cloned(),
            // A command without a load has nothing to plot, and no such flag.
            plot: matches.try_get_one("plot").is_ok_and(|plot| plot == Some(&true)),
        }
    }

    /// Whether a run folder is needed.
    pub(crate) fn is_any(&self) -> bool {
        self.served.is_some() || self.file.is_some() || self.plot
    }
}

/// `127.0.0.1:5665`, `:5665`, `5665` or `localhost`.
pub(crate) fn address(text: &str) -> Result<Listen, String> {
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, port),
        _ if text.parse::<u16>().is_ok() => ("", text),
        _ => (text, "5665"),
    };
    let rule = || format!("an address is HOST:PORT, such as {USUAL}; got `{text}`");
    let host = if host.is_empty() { "127.0.0.1" } else { host.trim_start_matches('[').trim_end_matches(']') };
    let port = port.parse().map_err(|_| rule())?;
    let mut found = (host, port).to_socket_addrs().map_err(|_| rule())?;
    let address = found.next().ok_or_else(rule)?;
    let is_name = host.parse::<IpAddr>().is_err() && !host.eq_ignore_ascii_case("localhost");
    Ok(Listen { address, name: is_name.then(|| host.to_ascii_lowercase()) })
}

/// k6's port for no server.
const EXPORT_ALONE: &str = "-1";

/// k6's web dashboard, as `--out web-dashboard=…` and `K6_WEB_DASHBOARD_…` ask for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Dashboard {
    host: String,
    /// None: the export alone.
    port: Option<u16>,
    open: bool,
    export: Option<PathBuf>,
}

impl Dashboard {
    /// The name of k6's output.
    pub(crate) const OUT: &str = "web-dashboard";

    /// Whether an output is this one.
    pub(crate) fn is_one(out: &str) -> bool {
        out.split('=').next() == Some(Dashboard::OUT)
    }

    /// The settings of `host=…&port=…`, over those of the environment. None: none is asked for.
    ///
    /// # Errors
    /// A setting is unknown or has no such value.
    pub(crate) fn asked(
        outs: &[String],
        environment: impl Fn(&str) -> Option<String>,
    ) -> Result<Option<Dashboard>, String> {
        let of =
            |name: &str| environment(&format!("K6_WEB_DASHBOARD{name}")).filter(|value| !value.is_empty());
        let is_true = |value: &str| !["false", "0"].contains(&value);
        let settings = outs.iter().find_map(|out| match out.split_once('=') {
            Some((Dashboard::OUT, settings)) => Some(settings),
            None if out == Dashboard::OUT => Some(""),
            _ => None,
        });
        if settings.is_none() && !of("").is_some_and(|value| is_true(&value)) {
            return Ok(None);
        }
        let number = |text: &str| {
            match text {
            EXPORT_ALONE => Ok(None),
            port => port.parse().map(Some).map_err(|_| {
                let (out, rule) = (Dashboard::OUT, "a number from 0 to 65535");
                format!(
                    "the port of {out} is {rule}; got `{text}`\nhint: {EXPORT_ALONE} serves nothing and only writes \
                     the export; 0 takes any free port"
                )
            }),
        }
        };
        let mut dashboard = Dashboard {
            host: of("_HOST").unwrap_or_default(),
            port: of("_PORT").map_or(Ok(Some(5665)), |port| number(&port))?,
            open: of("_OPEN").is_some_and(|value| is_true(&value)),
            export: of("_EXPORT").or_else(|| of("_REPORT")).map(PathBuf::from),
        };
        for setting in
            settings.into_iter().flat_map(|settings| settings.split('&')).filter(|it| !it.is_empty())
        {
            match setting.split_once('=').unwrap_or((setting, "")) {
                ("host", value) => value.clone_into(&mut dashboard.host),
                ("port", value) => dashboard.port = number(value)?,
                ("open", value) => dashboard.open = is_true(value),
                ("export" | "report", value) => dashboard.export = Some(PathBuf::from(value)),
                // A second, whatever it says; and marks that pages do not need.
                ("period" | "tag" | "tags" | "record", _) => {}
                (other, _) => return Err(format!("{} has no setting `{other}`", Dashboard::OUT)),
            }
        }
        Ok(Some(dashboard))
    }

    /// The page that it is here. k6's goes on while a page is open; ours ends with the test unless asked to stay.
    pub(crate) fn wish(&self) -> Result<PageWish, String> {
        let served = self.port.map(|port| address(&format!("{}:{port}", self.host))).transpose()?;
        Ok(PageWish { served, open: self.open, file: self.export.clone(), ..PageWish::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_may_leave_out_what_is_usual() {
        let read = |text: &str| address(text).map(|listen| listen.address.to_string());
        assert_eq!(read("127.0.0.1:80").unwrap(), "127.0.0.1:80");
        assert_eq!(read(":7000").unwrap(), "127.0.0.1:7000");
        assert_eq!(read("7000").unwrap(), "127.0.0.1:7000");
        assert_eq!(read("0.0.0.0").unwrap(), "0.0.0.0:5665");
        assert_eq!(read("[::1]:7000").unwrap(), "[::1]:7000");
        assert!(read("127.0.0.1:http").is_err());
        let name = |text: &str| address(text).unwrap().name;
        assert_eq!(
            [name("127.0.0.1:80"), name("[::1]:80"), name("localhost"), name("80")],
            [None, None, None, None]
        );
        // As good as a name: no browser knows that it is a number.
        assert_eq!(name("127.1:80").as_deref(), Some("127.1"));
    }

    #[test]
    fn an_address_alone_serves_the_page() {
        let of = |arguments: &[&str]| {
            let command = clap::Command::new("run").args(super::arguments());
            let wish = PageWish::of(&command.try_get_matches_from([&["run"], arguments].concat()).unwrap());
            (wish.served.map(|listen| listen.address.to_string()), wish.keep)
        };
        assert_eq!(of(&[]), (None, false));
        assert_eq!(of(&["--page-listen=:7000"]), (Some("127.0.0.1:7000".to_owned()), false));
        assert_eq!(of(&["--page=keep"]), (Some(USUAL.to_owned()), true));
    }

    #[test]
    fn k6s_dashboard_means_what_it_means_there() {
        let asked = |outs: &[&str], variables: &[(&str, &str)]| {
            let outs: Vec<String> = outs.iter().map(|out| (*out).to_owned()).collect();
            let of = |name: &str| {
                variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
            };
            Dashboard::asked(&outs, of).map(|dashboard| dashboard.map(|it| it.wish().unwrap()))
        };
        let at = |address: &str| Some(Listen { address: address.parse().unwrap(), name: None });
        assert_eq!(asked(&["json"], &[]), Ok(None));
        assert_eq!(asked(&[], &[("K6_WEB_DASHBOARD", "false"), ("K6_WEB_DASHBOARD_PORT", "1")]), Ok(None));
        let usual = PageWish { served: at("127.0.0.1:5665"), ..PageWish::default() };
        assert_eq!(asked(&["web-dashboard"], &[]), Ok(Some(usual.clone())));
        assert_eq!(asked(&[], &[("K6_WEB_DASHBOARD", "true")]), Ok(Some(usual)));
        let other = PageWish {
            served: at("0.0.0.0:7000"),
            keep: false,
            open: true,
            file: Some(PathBuf::from("r.html")),
            plot: false,
        };
        let settings = "web-dashboard=host=0.0.0.0&port=7000&period=2s&open&export=r.html";
        assert_eq!(asked(&[settings], &[("K6_WEB_DASHBOARD_PORT", "1")]), Ok(Some(other.clone())));
        let variables = [
            ("K6_WEB_DASHBOARD", "true"),
            ("K6_WEB_DASHBOARD_HOST", "0.0.0.0"),
            ("K6_WEB_DASHBOARD_PORT", "7000"),
            ("K6_WEB_DASHBOARD_PERIOD", "2s"),
            ("K6_WEB_DASHBOARD_OPEN", "true"),
            ("K6_WEB_DASHBOARD_EXPORT", "r.html"),
        ];
        assert_eq!(asked(&[], &variables), Ok(Some(other)));
        let export_alone = PageWish { file: Some(PathBuf::from("r.html")), ..PageWish::default() };
        assert_eq!(asked(&["web-dashboard=port=-1&export=r.html"], &[]), Ok(Some(export_alone)));
        for port in ["70000", "-2", "http"] {
            let why = asked(&[&format!("web-dashboard=port={port}")], &[]).unwrap_err();
            assert!(why.contains(&format!("got `{port}`\nhint: -1 serves nothing")), "{why}");
            assert_eq!(
                asked(&[], &[("K6_WEB_DASHBOARD", "true"), ("K6_WEB_DASHBOARD_PORT", port)]),
                Err(why)
            );
        }
        assert!(asked(&["web-dashboard=colour=red"], &[]).unwrap_err().contains("no setting `colour`"));
    }
}
