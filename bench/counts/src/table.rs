//! The table of counts that is kept, and what a new count says against it.
//!
//! A percentage and no statistics: the same program counts the same to a fraction of a per cent, so what is beyond the
//! tolerance is a change of the program.

use std::fmt::Write as _;

/// How far a count may be from the table's, in per cent.
pub const TOLERANCE_PERCENT: f64 = 10.0;

/// Instructions per operation of named workloads, and what counted them.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Architecture and compiler, such as `x86_64, rustc 1.95.0`.
    pub machine: String,
    /// Names with instructions per operation, in the order they are written.
    pub rows: Vec<(String, f64)>,
}

const COMMENT: &str =
    "# Instructions per operation, written by `make counts UPDATE=1`; see README.md beside it.";
const COUNTED_BY: &str = "# counted by: ";

impl Table {
    /// Reads the text form.
    ///
    /// # Errors
    /// The first line that is neither a comment nor a name and a positive number, or a name that comes twice.
    pub fn parse(text: &str) -> Result<Table, String> {
        let mut table = Table { machine: String::new(), rows: Vec::new() };
        for (number, line) in text.lines().enumerate() {
            if let Some(machine) = line.strip_prefix(COUNTED_BY) {
                table.machine = machine.to_owned();
            } else if !line.starts_with('#') && !line.trim().is_empty() {
                let row = row(line).ok_or_else(|| {
                    let number = number + 1;
                    format!("line {number} of the table must be a name and a positive number, got {line:?}")
                })?;
                if table.get(&row.0).is_some() {
                    return Err(format!("a name stands once in the table, {} twice", row.0));
                }
                table.rows.push(row);
            }
        }
        Ok(table)
    }

    /// The text form.
    pub fn to_text(&self) -> String {
        let mut text = format!("{COMMENT}\n{COUNTED_BY}{}\n", self.machine);
        for (name, count) in &self.rows {
            let _ = writeln!(text, "{name:<26} {count:>10.1}");
        }
        text
    }

    /// The first word of [`Table::machine`]: counts of another one cannot be compared.
    pub fn architecture(&self) -> Option<&str> {
        self.machine.split(", ").next()
    }

    /// Instructions per operation of this workload.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.rows.iter().find(|(known, _)| known == name).map(|(_, count)| *count)
    }
}

fn row(line: &str) -> Option<(String, f64)> {
    let mut words = line.split_whitespace();
    let (name, count) = (words.next()?, words.next()?.parse().ok()?);
    (words.next().is_none() && count > 0.0).then(|| (name.to_owned(), count))
}

/// What became of one workload since the table was written.
#[derive(Clone, Debug, PartialEq)]
enum Change {
    /// Beyond the tolerance, up: then and now.
    Grew(f64, f64),
    /// Beyond the tolerance, down: then and now.
    Shrank(f64, f64),
    /// Not in the table.
    New(f64),
    /// In the table only.
    Gone,
}

/// What a count says against the table.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict(Vec<(String, Change)>);

impl Verdict {
    /// Compares what was counted with what is known.
    pub fn of(known: &Table, counted: &Table) -> Verdict {
        let new = counted.rows.iter().filter_map(|(name, now)| {
            let change = known.get(name).map_or(Some(Change::New(*now)), |then| change(then, *now));
            Some((name.clone(), change?))
        });
        let gone = known.rows.iter().filter(|(name, _)| counted.get(name).is_none());
        Verdict(new.chain(gone.map(|(name, _)| (name.clone(), Change::Gone))).collect())
    }

    /// Whether nothing grew, and the table names what is counted and nothing else.
    pub fn passes(&self) -> bool {
        self.0.iter().all(|(_, change)| matches!(change, Change::Shrank(..)))
    }

    /// A line for each workload that fails.
    pub fn failures(&self) -> String {
        self.lines(|change| !matches!(change, Change::Shrank(..)))
    }

    /// A line for each workload that passes and should be noted.
    pub fn notes(&self) -> String {
        self.lines(|change| matches!(change, Change::Shrank(..)))
    }

    fn lines(&self, wanted: impl Fn(&Change) -> bool) -> String {
        self.0.iter().filter(|(_, change)| wanted(change)).map(|(name, change)| change.line(name)).collect()
    }
}

fn change(then: f64, now: f64) -> Option<Change> {
    let tolerance = then * TOLERANCE_PERCENT / 100.0;
    if now > then + tolerance {
        return Some(Change::Grew(then, now));
    }
    (now < then - tolerance).then_some(Change::Shrank(then, now))
}

impl Change {
    fn line(&self, name: &str) -> String {
        let percent = |then: f64, now: f64| (now / then - 1.0) * 100.0;
        match *self {
            Change::Grew(then, now) => format!(
                "counts: {name} may grow by {TOLERANCE_PERCENT} %, grew by {:.1} %: {then:.1} → {now:.1} instructions\n",
                percent(then, now)
            ),
            Change::Shrank(then, now) => format!(
                "counts: {name} shrank by {:.1} %: {then:.1} → {now:.1} instructions; make counts UPDATE=1 keeps the gain\n",
                -percent(then, now)
            ),
            Change::New(now) => format!("counts: {name} is not in the table: {now:.1} instructions\n"),
            Change::Gone => format!("counts: {name} is in the table and no workload\n"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: &[(&str, f64)]) -> Table {
        let rows = rows.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect();
        Table { machine: "x86_64, rustc 1.95.0".to_owned(), rows }
    }

    fn verdict(known: &[(&str, f64)], counted: &[(&str, f64)]) -> (bool, String, String) {
        let verdict = Verdict::of(&table(known), &table(counted));
        (verdict.passes(), verdict.failures(), verdict.notes())
    }

    #[test]
    fn a_count_that_grew_by_more_than_a_tenth_fails_by_name_with_both_figures() {
        let (passes, failures, notes) = verdict(&[("a", 100.0), ("b", 50.0)], &[("a", 110.5), ("b", 50.0)]);
        assert!(!passes);
        assert_eq!(failures, "counts: a may grow by 10 %, grew by 10.5 %: 100.0 → 110.5 instructions\n");
        assert_eq!(notes, "");
    }

    #[test]
    fn a_count_within_a_tenth_either_way_passes_in_silence() {
        for now in [90.0, 99.9, 100.0, 110.0] {
            assert_eq!(
                verdict(&[("a", 100.0)], &[("a", now)]),
                (true, String::new(), String::new()),
                "{now}"
            );
        }
    }

    #[test]
    fn a_count_that_shrank_passes_and_is_noted() {
        let (passes, failures, notes) = verdict(&[("a", 100.0)], &[("a", 80.0)]);
        assert_eq!((passes, failures.as_str()), (true, ""));
        assert!(notes.contains("a shrank by 20.0 %: 100.0 → 80.0"), "{notes}");
    }

    #[test]
    fn a_name_on_one_side_only_fails() {
        let (passes, failures, _) = verdict(&[("gone", 1.0)], &[("new", 2.0)]);
        assert!(!passes);
        assert_eq!(
            failures,
            "counts: new is not in the table: 2.0 instructions\ncounts: gone is in the table and no workload\n"
        );
    }

    #[test]
    fn a_table_is_read_as_it_was_written() {
        let written = table(&[("a", 12.5), ("a-longer-name", 100_000.0)]);
        assert_eq!(Table::parse(&written.to_text()), Ok(written.clone()));
        assert_eq!(written.architecture(), Some("x86_64"));
    }

    #[test]
    fn a_table_with_a_broken_line_or_a_name_twice_is_refused() {
        for broken in ["a", "a b", "a 0", "a 1 2", "a -3", "a 1\na 2"] {
            assert!(Table::parse(broken).is_err(), "{broken:?}");
        }
    }
}
