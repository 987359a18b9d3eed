//! Which statement takes PostgreSQL's time: by the totals of `pg_stat_statements` where that is there, else by what is
//! seen to run, once a second.

use super::postgres::{figure, word};
use super::sql;
use crate::probe::Readings;
use std::collections::{HashMap, HashSet, VecDeque};
use std::time::{Duration, Instant};
use tokio_postgres::{Client, SimpleQueryMessage, SimpleQueryRow};

/// Reading the totals takes this share of the time at most: there are five thousand of them by default.
const SHARE: u32 = 50;
/// What is seen to run is added up over so many looks.
const LOOKS: usize = 10;
/// A statement with a larger share of the time is told …
const TOP: f64 = 0.5;
/// … if at least so many statements run at a time …
const BUSY: f64 = 0.5;
/// … for so many readings in a row.
const LASTING: u32 = 3;
/// Statements that are told, at most.
const TOLD_MAX: usize = 10;
const TIMEOUT: Duration = Duration::from_millis(1_500);

/// What statements cost.
#[derive(Debug, Default)]
pub(super) struct Statements {
    /// The extension's schema, and what it calls the time; None: it is not to be had.
    extension: Option<(String, &'static str)>,
    /// Milliseconds by statement, and when they were read.
    totals: HashMap<String, f64>,
    read_at: Option<Instant>,
    due: Option<Instant>,
    /// What was seen to run, look by look.
    seen: VecDeque<HashMap<String, f64>>,
    /// The statement on top, and for how many readings.
    top: (String, u32),
    told: HashSet<String>,
}

impl Statements {
    /// Looks for the extension on a new connection.
    pub(super) async fn begin(&mut self, client: &Client, version: u32) {
        let time = if version >= 130_000 { "total_exec_time" } else { "total_time" };
        let place = "SELECT quote_ident(n.nspname) FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace \
                     WHERE e.extname = 'pg_stat_statements'";
        *self = Statements { told: std::mem::take(&mut self.told), ..Statements::default() };
        let Some(schema) =
            rows(client, place).await.and_then(|rows| rows.first().map(|row| word(row, 0).to_owned()))
        else {
            return;
        };
        // It may be there without being loaded, or not be for us.
        let probe = format!("SELECT {time} FROM {schema}.pg_stat_statements(false) LIMIT 1");
        if rows(client, &probe).await.is_some() {
            self.extension = Some((schema, time));
        }
    }

    /// Reads the totals, if it is time.
    pub(super) async fn read(&mut self, client: &Client, readings: &mut Readings<'_>) {
        let Some((schema, time)) = self.extension.clone() else { return };
        if self.due.is_some_and(|due| Instant::now() < due) {
            return;
        }
        let began = Instant::now();
        let query = format!(
            "SELECT queryid, sum({time}) FROM {schema}.pg_stat_statements(false) \
             WHERE queryid IS NOT NULL GROUP BY 1 LIMIT 5000"
        );
        let Some(rows) = rows(client, &query).await else {
            self.extension = None;
            return;
        };
        let totals: HashMap<String, f64> =
            rows.iter().map(|row| (word(row, 0).to_owned(), figure(row, 1))).collect();
        let seconds = self.read_at.replace(began).map(|before| (began - before).as_secs_f64());
        self.due = Some(Instant::now() + (began.elapsed() * SHARE).min(Duration::from_secs(30)));
        let before = std::mem::replace(&mut self.totals, totals);
        let Some(seconds) = seconds else { return };
        let spent =
            self.totals.iter().map(|(id, total)| (id, total - before.get(id).copied().unwrap_or(0.0)));
        let spent: HashMap<&String, f64> = spent.filter(|(_, more)| *more > 0.0).collect();
        let all: f64 = spent.values().sum();
        let top = spent.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).map(|(id, most)| (id.clone(), most));
        let busy = all / 1e3 / seconds.max(0.1);
        readings.level("postgres.time", &[], busy);
        let Some((id, most)) = top else { return };
        readings.level("postgres.time.top", &[], most / all);
        if self.is_to_be_told(&id, most / all, busy) {
            let text = format!(
                "SELECT left(query, 2000) FROM {schema}.pg_stat_statements WHERE queryid = {id} LIMIT 1"
            );
            let text = self::rows(client, &text)
                .await
                .and_then(|rows| rows.first().map(|row| word(row, 0).to_owned()));
            self.tell(&text.unwrap_or_default(), most / all, readings);
        }
    }

    /// Takes what runs now, where there are no totals.
    pub(super) fn observe(&mut self, running: &[SimpleQueryRow], readings: &mut Readings<'_>) {
        if self.extension.is_some() {
            return;
        }
        let mut now: HashMap<String, f64> = HashMap::new();
        for row in running {
            *now.entry(sql::shown(word(row, 0))).or_default() += figure(row, 1);
        }
        now.remove("<insufficient privilege>");
        self.seen.push_back(now);
        if self.seen.len() > LOOKS {
            self.seen.pop_front();
        }
        let mut sums: HashMap<&String, f64> = HashMap::new();
        self.seen.iter().flatten().for_each(|(text, count)| *sums.entry(text).or_default() += count);
        let all: f64 = sums.values().sum();
        let busy = all / self.seen.len() as f64;
        readings.level("postgres.time", &[], busy);
        let Some((text, most)) = sums.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)) else { return };
        let (text, share) = (text.clone(), most / all);
        readings.level("postgres.time.top", &[], share);
        if self.is_to_be_told(&text, share, busy) {
            self.tell(&text, share, readings);
        }
    }

    /// Whether a statement has been on top long enough, and was not told yet.
    fn is_to_be_told(&mut self, top: &str, share: f64, busy: f64) -> bool {
        let is_again = self.top.0 == top && share > TOP && busy >= BUSY;
        self.top = (top.to_owned(), if is_again { self.top.1 + 1 } else { 1 });
        self.top.1 >= LASTING && self.told.len() < TOLD_MAX && self.told.insert(top.to_owned())
    }

    fn tell(&self, text: &str, share: f64, readings: &mut Readings<'_>) {
        readings.happened(format_args!(
            "one statement takes {:.0} % of its time: `{}`",
            100.0 * share,
            sql::shown(text)
        ));
    }
}

async fn rows(client: &Client, query: &str) -> Option<Vec<SimpleQueryRow>> {
    let answered = tokio::time::timeout(TIMEOUT, client.simple_query(query)).await.ok()?.ok()?;
    let rows = answered.into_iter().filter_map(|message| match message {
        SimpleQueryMessage::Row(row) => Some(row),
        _ => None,
    });
    Some(rows.collect())
}
