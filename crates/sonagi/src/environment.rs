//! Every environment variable that Sonagi itself reads, in one table: `--help` and `docs/cli.md` are generated from it.
//!
//! Variables a *script* asks for (`$env.NAME`) are the script's; they are not listed here.

/// A variable and its effect.
pub(crate) struct Variable {
    pub(crate) name: &'static str,
    pub(crate) effect: &'static str,
}

pub(crate) const NO_COLOR: Variable =
    Variable { name: "NO_COLOR", effect: "When set and not empty, output is not coloured." };
pub(crate) const TERM: Variable = Variable {
    name: "TERM",
    effect: "`dumb`: no colour, and progress as separate lines instead of one live line.",
};
pub(crate) const COLUMNS: Variable = Variable {
    name: "COLUMNS",
    effect: "Width of the summary when it does not go to a terminal (default 80).",
};

pub(crate) const HTTP_PROXY: Variable = Variable {
    name: "HTTP_PROXY",
    effect: "Ignored, with a notice from `run`: connections go straight to the target.",
};
pub(crate) const HTTPS_PROXY: Variable = Variable { name: "HTTPS_PROXY", effect: "Ignored likewise." };

/// Read with the script ([`sonagi_artillery`]).
pub(crate) const ARTILLERY_DISABLE_ENSURE: Variable = Variable {
    name: "ARTILLERY_DISABLE_ENSURE",
    effect: "When set, `ensure` does not affect the verdict, as in Artillery.",
};
pub(crate) const K6_WEB_DASHBOARD: Variable = Variable {
    name: "K6_WEB_DASHBOARD",
    effect: "k6 scripts: `true` serves the page while the test runs, as --page does; also _HOST, _PORT, _OPEN and \
             _EXPORT.",
};
/// Read with the probes ([`sonagi_watch::probes::TOKEN`]).
pub(crate) const SONAGI_WATCH_TOKEN: Variable = Variable {
    name: sonagi_watch::probes::TOKEN,
    effect: "The token of `sonagi watch --serve`, for it and for `--watch sonagi:http://…`.",
};
/// Read with the probes ([`sonagi_watch::machine::SSH`]).
pub(crate) const SONAGI_SSH: Variable = Variable {
    name: sonagi_watch::machine::SSH,
    effect: "The program that `--watch ssh:…` starts in place of `ssh`, with the same arguments.",
};
pub(crate) const LC_ALL: Variable = Variable {
    name: "LC_ALL",
    effect: "`--plot` draws in ASCII unless the locale has UTF-8; also LC_CTYPE and LANG.",
};
/// Told with the one before.
pub(crate) const LC_CTYPE: Variable = Variable { name: "LC_CTYPE", effect: "" };
/// Likewise.
pub(crate) const LANG: Variable = Variable { name: "LANG", effect: "" };

/// All variables.
pub(crate) const VARIABLES: [&Variable; 10] = [
    &NO_COLOR,
    &TERM,
    &COLUMNS,
    &LC_ALL,
    &HTTP_PROXY,
    &HTTPS_PROXY,
    &ARTILLERY_DISABLE_ENSURE,
    &K6_WEB_DASHBOARD,
    &SONAGI_WATCH_TOKEN,
    &SONAGI_SSH,
];

impl Variable {
    /// Its value, when it is set and not empty.
    pub(crate) fn get(&self) -> Option<String> {
        std::env::var(self.name).ok().filter(|value| !value.is_empty())
    }
}

/// The table as help text.
pub(crate) fn help() -> String {
    let mut text = String::from("Environment:\n");
    for variable in VARIABLES {
        text.push_str(&format!("  {:<24} {}\n", variable.name, variable.effect));
    }
    text
}
