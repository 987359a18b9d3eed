//! Another Sonagi that watches where the target runs (`sonagi watch --serve`): all seconds since the last look, under
//! their own names. It keeps ten minutes of them, so that a look that fails loses nothing; what was missed counts in
//! the second in which it is read.

use super::page::Page;
use super::reach::Reach;
use crate::probe::{Probe, Readings, Unread};
use crate::second::Second;
use percent_encoding::percent_decode_str;
use serde_json::Value;
use url::Url;

/// The environment's variable that has the token.
pub const TOKEN: &str = "SONAGI_WATCH_TOKEN";

/// Answers that one look takes, at most: each has at least a second of it.
const ANSWERS_MAX: usize = 30;

/// A probe of the Sonagi that serves at this address.
pub(super) fn of(address: &str) -> Result<Box<dyn Probe>, String> {
    let rule =
        "a watch is at sonagi:http://HOST:PORT, its token behind it (#token=TOKEN) or in SONAGI_WATCH_TOKEN";
    // A token may have anything in it, so nothing is told of an address that cannot be read.
    let mut url = Url::parse(address).map_err(|error| format!("{rule}; got none: {error}"))?;
    if !["http", "https"].contains(&url.scheme()) || url.host_str().is_none() {
        return Err(format!("{rule}; got another scheme"));
    }
    let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
    let fragment = url.fragment().and_then(|text| text.strip_prefix("token=")).map(decoded);
    let user = [url.password().unwrap_or_default(), url.username()].into_iter().find(|it| !it.is_empty());
    let token = fragment.or(user.map(decoded)).or_else(|| std::env::var(TOKEN).ok());
    // These fail only for addresses without a host.
    let _ = (url.set_username(""), url.set_password(None));
    url.set_fragment(None);
    url.set_query(None);
    let base = url.as_str().trim_end_matches('/').to_owned();
    let page = Page::at(&format!("{base}/seconds"))?.bearing(token.filter(|token| !token.is_empty()));
    Ok(Box::new(Relay { told: format!("sonagi:{base}"), page, reach: Reach::default(), last: None }))
}

struct Relay {
    told: String,
    page: Page,
    reach: Reach,
    last: Option<Last>,
}

/// The last second that was read: which watch it was of, and its number.
struct Last {
    watch: String,
    second: u64,
}

impl Probe for Relay {
    fn subject(&self) -> String {
        self.told.clone()
    }

    fn tags(&self) -> Vec<(&'static str, String)> {
        vec![("on", self.page.host())]
    }

    fn look(&mut self, readings: &mut Readings<'_>) -> Result<(), Unread> {
        if self.reach.is_waiting() {
            return Ok(());
        }
        let read = self.read(readings);
        self.reach.took(read, readings)
    }
}

impl Relay {
    /// Reads until there is no newer second.
    fn read(&mut self, readings: &mut Readings<'_>) -> Result<(), Unread> {
        for _ in 0..ANSWERS_MAX {
            let query = self.last.as_ref().map(|last| format!("watch={}&after={}", last.watch, last.second));
            let text = self.page.fetch_with(query.as_deref(), "application/json")?;
            let strange = || Unread::because("what it answers is not of `sonagi watch --serve`");
            let answer: Value = serde_json::from_str(&text).map_err(|_| strange())?;
            let watch = answer["watch"].as_str().filter(|id| is_plain(id)).ok_or_else(strange)?;
            let newest = answer["newest"].as_u64().ok_or_else(strange)?;
            let seconds = answer["seconds"].as_array().ok_or_else(strange)?;
            self.take(watch, seconds.iter().filter_map(Second::of_json), readings);
            let last = self.last.get_or_insert_with(|| Last { watch: watch.to_owned(), second: newest });
            if last.second >= newest || seconds.is_empty() {
                break;
            }
        }
        Ok(())
    }

    fn take(&mut self, watch: &str, seconds: impl Iterator<Item = Second>, readings: &mut Readings<'_>) {
        // One that was restarted counts from 1 again.
        if self.last.as_ref().is_some_and(|last| last.watch != watch) {
            self.last = Some(Last { watch: watch.to_owned(), second: 0 });
        }
        let known = self.last.as_ref().map_or(0, |last| last.second);
        for second in seconds.filter(|second| second.number > known) {
            if self.last.as_ref().is_some_and(|last| second.number > last.second + 1) {
                let why = "it keeps ten minutes, and more were missed";
                readings.not_measured("some seconds are", &Unread::because(why));
            }
            self.last = Some(Last { watch: watch.to_owned(), second: second.number });
            readings.relay(second);
        }
    }
}

/// Whether it may stand in a query as it is.
fn is_plain(id: &str) -> bool {
    id.len() <= 64 && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
}
