//! A run in a dozen lines of a terminal: how latencies were distributed, and how the rate went.
//!
//! In braille, eight dots a letter, or in ASCII where the terminal cannot show them. 80 columns.

use crate::figures;
use crate::lines::Line;
use sonagi_measure::frame::{Buckets, Frame, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The letters of a plot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Braille patterns.
    Braille,
    /// Letters that every terminal has.
    Ascii,
}

/// Columns of a plot, without the labels beside it.
const WIDTH: usize = 60;
/// Rows of each plot.
const HEIGHT: usize = 4;

/// What is plotted: the first of these that the run has.
const LATENCIES: [(&str, &str); 3] = [
    ("delivery.latency", "delivery latency"),
    ("response_time", "response time"),
    ("iteration_duration", "iteration duration"),
];

/// The plot of a run's lines; None: it has no latencies.
pub fn of(lines: &[Line], style: Style) -> Option<String> {
    let frame = |line: &Line| if let Line::Frame(frame) = line { Some(Arc::clone(frame)) } else { None };
    let frames: Vec<Arc<Frame>> = lines.iter().filter_map(frame).collect();
    let (title, all, rates) = LATENCIES.iter().find_map(|(metric, title)| {
        let (all, rates) = latencies(&frames, metric);
        (all.count() > 0).then_some((title, all, rates))
    })?;
    Some(format!("{}\n{}", spectrum(title, &all, style), rate(&rates, style)))
}

/// All latencies of a metric, and how many came each second of each frame, with the frame's end.
fn latencies(frames: &[Arc<Frame>], metric: &str) -> (Buckets, Vec<(f64, f64)>) {
    let mut asked: BTreeMap<u32, bool> = BTreeMap::new();
    let (mut all, mut rates) = (Buckets::default(), Vec::new());
    for frame in frames {
        asked.extend(frame.names.iter().map(|(number, name)| (*number, name.metric == metric)));
        let mut count = 0;
        for (number, value) in &frame.values {
            if let (Value::Trend(buckets), Some(true)) = (value, asked.get(number)) {
                count += buckets.count();
                all.merge(buckets);
            }
        }
        if frame.span > 0.0 {
            rates.push((frame.at, count as f64 / frame.span));
        }
    }
    (all, rates)
}

/// How many latencies there were of which size: powers of two across.
fn spectrum(title: &str, all: &Buckets, style: Style) -> String {
    let (low, high) = (all.quantile(0.0).max(1e-3), all.max().max(2e-3));
    let columns = points(style);
    let (from, to) = (low.log2().floor(), high.log2().ceil().max(low.log2().floor() + 1.0));
    let mut counts = vec![0.0; columns];
    for (value, count) in all.values() {
        let place = (value.max(1e-3).log2() - from) / (to - from) * columns as f64;
        counts[(place.max(0.0) as usize).min(columns - 1)] += count as f64;
    }
    let quantiles = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99)];
    let told: Vec<String> =
        quantiles.iter().map(|(name, share)| format!("{name} {}", ms(all.quantile(*share)))).collect();
    let head = format!("{title}: {}, max {}", told.join(", "), ms(all.max()));
    let (left, right) = (ms(from.exp2()), ms(to.exp2()));
    format!("{head}\n{}{}\n", graph(&counts, style), axis(&left, &right))
}

/// How many came each second.
fn rate(rates: &[(f64, f64)], style: Style) -> String {
    let end = rates.last().map_or(0.0, |(at, _)| *at);
    let columns = points(style);
    let mut sums = vec![(0.0, 0u32); columns];
    for (at, rate) in rates {
        let place = ((at - 0.5).max(0.0) / end.max(1.0) * columns as f64) as usize;
        let (sum, count) = &mut sums[place.min(columns - 1)];
        (*sum, *count) = (*sum + rate, *count + 1);
    }
    // Where there are fewer seconds than columns, a second is as wide as it takes.
    let mut last = 0.0;
    let mut levels = Vec::with_capacity(columns);
    for (sum, count) in sums {
        last = if count == 0 { last } else { sum / f64::from(count) };
        levels.push(last);
    }
    let peak = rates.iter().map(|(_, rate)| *rate).fold(0.0, f64::max);
    let head = format!("rate: peak {}/s", figures::count(peak.round() as u64));
    format!("{head}\n{}{}\n", graph(&levels, style), axis("0 s", &format!("{} s", end.round())))
}

/// Points across: a braille letter is two wide.
fn points(style: Style) -> usize {
    match style {
        Style::Braille => 2 * WIDTH,
        Style::Ascii => WIDTH,
    }
}

fn axis(left: &str, right: &str) -> String {
    format!("  {left}{right:>width$}", width = WIDTH.saturating_sub(left.chars().count()))
}

fn ms(value: f64) -> String {
    match value {
        v if v >= 10_000.0 => format!("{:.0} s", v / 1e3),
        v if v >= 1_000.0 => format!("{:.1} s", v / 1e3),
        v if v >= 100.0 => format!("{v:.0} ms"),
        v if v >= 1.0 => format!("{v:.1} ms"),
        v => format!("{v:.2} ms"),
    }
}

/// Columns of these heights; whatever is more than nothing shows.
fn graph(heights: &[f64], style: Style) -> String {
    let steps = HEIGHT * if style == Style::Braille { 4 } else { 1 };
    let peak = heights.iter().copied().fold(0.0, f64::max);
    let level = |height: &f64| match peak > 0.0 && *height > 0.0 {
        true => ((height / peak * steps as f64).round() as usize).clamp(1, steps),
        false => 0,
    };
    let levels: Vec<usize> = heights.iter().map(level).collect();
    let mut text = String::new();
    for row in (0..HEIGHT).rev() {
        let letters: String = match style {
            Style::Ascii => levels.iter().map(|level| if *level > row { '#' } else { ' ' }).collect(),
            Style::Braille => levels.chunks(2).map(|pair| braille(pair, row)).collect(),
        };
        text.push_str(&format!("  {}\n", letters.trim_end_matches([' ', '\u{2800}'])));
    }
    text
}

/// The letter of two columns in a row: dots from the bottom up.
fn braille(pair: &[usize], row: usize) -> char {
    const DOTS: [[u32; 4]; 2] = [[0x40, 0x04, 0x02, 0x01], [0x80, 0x20, 0x10, 0x08]];
    let mut dots = 0;
    for (level, column) in pair.iter().zip(DOTS) {
        let lit = level.saturating_sub(row * 4).min(4);
        dots |= column[..lit].iter().sum::<u32>();
    }
    char::from_u32(0x2800 + dots).unwrap_or(' ')
}

#[cfg(test)]
mod tests {
    use super::*;
    use sonagi_measure::frame::Name;
    use sonagi_measure::metrics::{Kind, TagSet};

    fn run(values: &[(u64, &[f64])]) -> Vec<Line> {
        let name = Name {
            metric: "response_time".to_owned(),
            kind: Kind::Trend,
            unit: "ms",
            tags: TagSet::default(),
            about: None,
        };
        let frame = |(second, values): &(u64, &[f64])| {
            let mut buckets = Buckets::default();
            values.iter().for_each(|value| buckets.add(*value, 1));
            let names = if *second == 0 { vec![(0, name.clone())] } else { vec![] };
            let at = (*second + 1) as f64;
            let values = [(0, Value::Trend(buckets))].into();
            Line::Frame(Frame { s: *second, at, span: 1.0, names, values }.into())
        };
        values.iter().map(frame).collect()
    }

    #[test]
    fn a_plot_shows_how_latencies_were_distributed_and_how_the_rate_went() {
        let lines = run(&[(0, &[1.0, 2.0, 2.0, 4.0, 64.0]), (1, &[2.0]), (2, &[2.0, 2.0, 2.0])]);
        let plot = of(&lines, Style::Ascii).unwrap();
        assert_eq!(
            plot.lines().next().unwrap(),
            "response time: p50 2.0 ms, p90 62.6 ms, p99 62.6 ms, max 64.0 ms"
        );
        assert!(plot.lines().all(|line| line.chars().count() <= 80), "{plot}");
        assert!(plot.contains("rate: peak 5/s") && plot.lines().count() == 13, "{plot}");
        let braille = of(&lines, Style::Braille).unwrap();
        assert!(
            braille.contains('\u{28c0}') || braille.contains('\u{28ff}') || braille.contains('\u{2847}'),
            "{braille}"
        );
        assert_eq!(of(&[], Style::Ascii), None);
    }
}
