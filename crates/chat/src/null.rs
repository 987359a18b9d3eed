//! The null mode: a target for measuring load generators, which must cost less than whoever it is measured with.
//!
//! HTTP is answered by a handler of its own (`http`), because hyper spends more on a request than a good generator
//! does. Everything real-time runs on the service's own connections, queues and rooms. Nothing is stored and no
//! password is looked at; there are no time limits on HTTP and no faults. What each path does: `docs/service.md`.
//!
//! The decision a reader would question: it lives in the service instead of being a server of its own. A benchmark
//! against it then measures the generator on the code its users meet, and an improvement of that code shows here.

mod alarm;
mod flood;
mod http;
mod rooms;

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;

use crate::hub::Hub;
use crate::metrics::{Count, Metrics};
use crate::sync::lock;
use crate::transports::Transports;

pub(crate) use alarm::Alarm;
pub(crate) use http::serve;

/// The state of the null mode beside the service.
pub(crate) struct Null {
    full: Arc<Transports>,
    hub: Arc<Hub>,
    pub(crate) alarm: Alarm,
    pub(crate) rooms: Mutex<HashMap<Box<str>, Arc<rooms::NullRoom>>>,
    requests: Count,
    /// Nanoseconds from a request of `/after/…` read to its answer handed to the socket.
    after: Mutex<Histogram<u64>>,
}

/// The longest `/after/…`.
const LONGEST: Duration = Duration::from_secs(60);

impl Null {
    /// Call within the runtime.
    pub(crate) fn new(full: Arc<Transports>) -> io::Result<Null> {
        // Three digits from a microsecond to an hour; `saturating_record` keeps the rest at the bounds.
        let after = Histogram::new_with_bounds(1000, 3600 * 1_000_000_000, 3).map_err(io::Error::other)?;
        Ok(Null {
            hub: full.hub.clone(),
            full,
            alarm: Alarm::new()?,
            rooms: Mutex::default(),
            requests: Count::default(),
            after: Mutex::new(after),
        })
    }

    /// A request of `/after/…` was answered.
    fn answered_after(&self, read: Instant) {
        let took = u64::try_from(read.elapsed().as_nanos()).unwrap_or(u64::MAX);
        lock(&self.after).saturating_record(took);
    }

    fn stats(&self) -> String {
        let after = lock(&self.after);
        let ms = |nanoseconds: u64| nanoseconds as f64 / 1e6;
        format!(
            concat!(
                r#"{{"requests":{},"after":{{"count":{},"p50_ms":{:.4},"p99_ms":{:.4},"max_ms":{:.4}}},"#,
                r#""connections":{},"frames_in":{},"frames_out":{},"writes":{}}}"#
            ),
            self.requests.get(),
            after.len(),
            ms(after.value_at_quantile(0.5)),
            ms(after.value_at_quantile(0.99)),
            ms(after.max()),
            self.hub.metrics.sockets.get(),
            self.hub.metrics.frames_in.get(),
            self.hub.metrics.frames_out.get(),
            self.hub.metrics.writes.get(),
        )
    }

    fn reset(&self) {
        lock(&self.after).clear();
        let Metrics { frames_in, frames_out, writes, .. } = &self.hub.metrics;
        for count in [&self.requests, frames_in, frames_out, writes] {
            count.clear();
        }
    }
}

/// The time of `/after/10ms` or `/after/250us`.
fn wait_of(text: &str) -> Option<Duration> {
    let wait = match (text.strip_suffix("ms"), text.strip_suffix("us")) {
        (Some(count), _) => Duration::from_millis(count.parse().ok()?),
        (None, Some(count)) => Duration::from_micros(count.parse().ok()?),
        (None, None) => return None,
    };
    (wait <= LONGEST).then_some(wait)
}

/// A number of a query, or its default when it is absent; `None` when it is no number from 1 to `most`.
fn number(query: &str, name: &str, default: usize, most: usize) -> Option<usize> {
    let given = query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
    given.map_or(Some(default), |text| text.parse().ok()).filter(|number| (1..=most).contains(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_a_whole_number_of_milliseconds_or_microseconds_up_to_a_minute() {
        assert_eq!(wait_of("10ms"), Some(Duration::from_millis(10)));
        assert_eq!(wait_of("250us"), Some(Duration::from_micros(250)));
        assert_eq!(wait_of("60000ms"), Some(LONGEST));
        for wrong in ["", "ms", "10", "10s", "-1ms", "1.5ms", "60001ms"] {
            assert_eq!(wait_of(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_number_of_the_query_has_a_default_and_bounds() {
        assert_eq!(number("bytes=86&batch=64", "batch", 1, 100), Some(64));
        assert_eq!(number("bytes=86", "batch", 7, 100), Some(7));
        for wrong in ["batch=", "batch=0", "batch=101", "batch=x"] {
            assert_eq!(number(wrong, "batch", 7, 100), None, "{wrong}");
        }
    }
}
