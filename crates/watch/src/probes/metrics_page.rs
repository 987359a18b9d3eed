//! A Prometheus page of whatever service: its counters as increases, its gauges as levels, of histograms and summaries
//! their count and sum. What pools, event loops and garbage collectors are called in Node (prom-client), on the JVM
//! (Micrometer, client_java) and in HikariCP is known, and is told by names of ours besides.

use super::exposition::{Exposition, Meaning, Sample};
use super::page::Page;
use super::reach::Reach;
use crate::observations::SERIES_MAX;
use crate::probe::{Probe, Readings, Unread};
use sonagi_measure::secrets::{MASK, is_secret, masked};
use std::collections::HashMap;

const ACCEPT: &str = "text/plain;version=0.0.4;q=1,*/*;q=0.1";
/// Series of a page that are taken, at most: there must be room for those of ours.
const FOREIGN_MAX: usize = SERIES_MAX - 50;
/// The delay that an idle Node has in its own measure: the resolution of `monitorEventLoopDelay` in prom-client.
const RESOLUTION_MS: f64 = 10.0;

/// Gauges of pools, and the metrics of ours that they are.
const POOLS: &[(&str, &str)] = &[
    ("hikaricp_connections_active", "pool.active"),
    ("hikaricp_connections_idle", "pool.idle"),
    ("hikaricp_connections_max", "pool.max"),
    ("hikaricp_connections_pending", "pool.waiting"),
    ("hikaricp_active_connections", "pool.active"),
    ("hikaricp_idle_connections", "pool.idle"),
    ("hikaricp_max_connections", "pool.max"),
    ("hikaricp_pending_threads", "pool.waiting"),
];
/// Totals of seconds spent on collecting garbage; those of a page's first name here count.
const GARBAGE: &[&str] =
    &["nodejs_gc_duration_seconds_sum", "jvm_gc_pause_seconds_sum", "jvm_gc_collection_seconds_sum"];
/// How late an event loop is. Blocked once a second, it is late in one sample of eighty: p99 does not see that.
const LOOP_LAG: &[(&str, &str)] = &[
    ("nodejs_eventloop_lag_p99_seconds", "runtime.loop_lag"),
    ("nodejs_eventloop_lag_max_seconds", "runtime.loop_lag.max"),
];

/// A probe of the page at this address.
pub(super) fn of(address: &str) -> Result<Box<dyn Probe>, String> {
    let page = Page::at(address)?;
    Ok(Box::new(MetricsPage { page, reach: Reach::default(), totals: HashMap::new(), looks: 0 }))
}

struct MetricsPage {
    page: Page,
    reach: Reach,
    totals: HashMap<SeriesName, Total>,
    /// Pages read so far.
    looks: u64,
}

/// A metric and its labels.
type SeriesName = (String, Vec<(String, String)>);

/// A total, and the look at which it was read.
#[derive(Clone, Copy, Debug)]
struct Total {
    value: f64,
    look: u64,
}

impl Probe for MetricsPage {
    fn subject(&self) -> String {
        self.page.told()
    }

    fn tags(&self) -> Vec<(&'static str, String)> {
        vec![("at", self.page.host())]
    }

    fn look(&mut self, readings: &mut Readings<'_>) -> Result<(), Unread> {
        if self.reach.is_waiting() {
            return Ok(());
        }
        let fetched = self.page.fetch(ACCEPT);
        let text = self.reach.took(fetched, readings)?;
        let page = Exposition::of(&text);
        if page.samples.is_empty() {
            let begin: String = text.chars().take(40).collect();
            let why = format!("there are no metrics on it; it begins with `{}`", masked(begin.trim()));
            return Err(
                Unread::because(why).hint("give the address of the metrics page: http://HOST:PORT/metrics")
            );
        }
        self.looks += 1;
        ours(&page, readings);
        self.theirs(&page, readings);
        Ok(())
    }
}

/// What is known by name.
fn ours(page: &Exposition<'_>, readings: &mut Readings<'_>) {
    let mut garbage: [Option<f64>; GARBAGE.len()] = [None; GARBAGE.len()];
    for sample in page.samples.iter().filter(|sample| sample.value.is_finite()) {
        if let Some((_, metric)) = POOLS.iter().find(|(name, _)| *name == sample.name) {
            readings.level(metric, &[("pool", sample.label("pool").unwrap_or_default())], sample.value);
        } else if let Some((_, metric)) = LOOP_LAG.iter().find(|(name, _)| *name == sample.name) {
            readings.level(metric, &[], (sample.value * 1e3 - RESOLUTION_MS).max(0.0));
        } else if let Some(at) = GARBAGE.iter().position(|name| *name == sample.name) {
            *garbage[at].get_or_insert(0.0) += sample.value;
        }
    }
    if let Some(seconds) = garbage.into_iter().flatten().next() {
        readings.pace("runtime.gc", &[], seconds);
    }
}

impl MetricsPage {
    /// All series, as the page names them.
    fn theirs(&mut self, page: &Exposition<'_>, readings: &mut Readings<'_>) {
        let wanted = page.samples.iter().filter(|sample| sample.value.is_finite());
        let mut taken = 0;
        for sample in wanted {
            let meaning = page.meaning(sample);
            if meaning == Meaning::Part {
                continue;
            }
            taken += 1;
            if taken > FOREIGN_MAX {
                let why = format!("a page may have {FOREIGN_MAX} series, this one has more");
                readings.not_measured("some of its series are", &Unread::because(why));
                break;
            }
            let labels = labels(sample);
            let tags: Vec<_> = labels.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            match meaning {
                Meaning::Level => readings.foreign_level(sample.name, &tags, sample.value),
                Meaning::Total => {
                    if let Some(more) = self.increase((sample.name.to_owned(), labels.clone()), sample.value)
                    {
                        readings.foreign_increase(sample.name, &tags, more);
                    }
                }
                Meaning::Part => {}
            }
        }
        let looks = self.looks;
        self.totals.retain(|_, total| total.look == looks);
    }

    /// How much a total grew since the page before. A series that is new on a page that was read before began at 0.
    fn increase(&mut self, series: SeriesName, value: f64) -> Option<f64> {
        let before = self.totals.insert(series, Total { value, look: self.looks });
        match before {
            Some(before) if value >= before.value => Some(value - before.value),
            Some(_) => Some(value),
            None => (self.looks > 1).then_some(value),
        }
    }
}

/// A sample's labels without secrets. `at` is the page's own tag.
fn labels(sample: &Sample<'_>) -> Vec<(String, String)> {
    let shown = |name: &str, value: &str| match is_secret(name) {
        true => MASK.to_owned(),
        false if value.starts_with("eyJ") || value.contains(['=', ':', ' ']) => masked(value),
        false => value.to_owned(),
    };
    let named = |name: &str| if name == "at" { "exported_at".to_owned() } else { name.to_owned() };
    sample.labels.iter().map(|(name, value)| (named(name), shown(name, value))).collect()
}
