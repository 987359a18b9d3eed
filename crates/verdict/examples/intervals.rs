//! Which interval `sonagi compare` should trust: Student's (Welch, on logarithms) against BCa's bootstrap, on simulated
//! runs. `docs/compare.md` has what it prints:
//!
//!     cargo run --release -p sonagi-verdict --example intervals

#![allow(clippy::print_stdout)]

use distrs::Normal;
use sonagi_verdict::compare::{Scale, effect};
use std::f64::consts::TAU;

/// Comparisons of each row.
const PAIRS: usize = 2000;
/// Resamples of a bootstrap.
const RESAMPLES: usize = 1000;
/// A change is to be called beyond this margin.
const MARGIN: f64 = 0.05;

/// How runs of one system differ.
#[derive(Clone, Copy)]
enum Noise {
    /// Lognormal: most of what is measured.
    Normal,
    /// One run in ten is odd, by five times as much.
    Odd,
    /// Each run is like the one before: a machine that warms up or is used by others.
    Drifting,
}

struct System {
    noise: Noise,
    spread: f64,
}

impl System {
    /// The p99 of so many runs, in ms.
    fn runs(&self, runs: usize, change: f64, random: &mut fastrand::Rng) -> Vec<f64> {
        let mut before = normal(random);
        let mut run = || {
            let one = match self.noise {
                Noise::Normal => normal(random),
                Noise::Odd if random.f64() < 0.1 => 5.0 * normal(random),
                Noise::Odd => normal(random),
                Noise::Drifting => {
                    before = 0.5 * before + (1.0_f64 - 0.25).sqrt() * normal(random);
                    before
                }
            };
            20.0 * change * (self.spread * one).exp()
        };
        (0..runs).map(|_| run()).collect()
    }
}

fn normal(random: &mut fastrand::Rng) -> f64 {
    (-2.0 * (1.0 - random.f64()).ln()).sqrt() * (TAU * random.f64()).cos()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The 95 % interval of B's log mean minus A's: bias-corrected and accelerated (Efron 1987).
fn bca(a: &[f64], b: &[f64], random: &mut fastrand::Rng) -> (f64, f64) {
    let logs = |side: &[f64]| side.iter().map(|run| run.ln()).collect::<Vec<f64>>();
    let (a, b) = (logs(a), logs(b));
    let estimate = mean(&b) - mean(&a);
    let resample = |side: &[f64], random: &mut fastrand::Rng| {
        mean(&(0..side.len()).map(|_| side[random.usize(..side.len())]).collect::<Vec<f64>>())
    };
    let mut drawn: Vec<f64> = (0..RESAMPLES).map(|_| resample(&b, random) - resample(&a, random)).collect();
    drawn.sort_by(f64::total_cmp);
    let below = drawn.iter().filter(|drawn| **drawn < estimate).count() as f64;
    let bias = Normal::ppf((below / RESAMPLES as f64).clamp(1e-3, 1.0 - 1e-3), 0.0, 1.0);
    // The jackknife over all runs of both sides.
    let without =
        |side: &[f64], at: usize| (mean(side) * side.len() as f64 - side[at]) / (side.len() - 1) as f64;
    let mut left: Vec<f64> = (0..a.len()).map(|at| mean(&b) - without(&a, at)).collect();
    left.extend((0..b.len()).map(|at| without(&b, at) - mean(&a)));
    let centre = mean(&left);
    let (square, cube) = left.iter().fold((0.0, 0.0), |(square, cube), one| {
        let off: f64 = centre - one;
        (square + off.powi(2), cube + off.powi(3))
    });
    let acceleration = if square > 0.0 { cube / (6.0 * square.powf(1.5)) } else { 0.0 };
    let end = |quantile: f64| {
        let z = bias + Normal::ppf(quantile, 0.0, 1.0);
        let share = Normal::cdf(bias + z / (1.0 - acceleration * z), 0.0, 1.0);
        drawn[((share * RESAMPLES as f64) as usize).min(RESAMPLES - 1)]
    };
    (end(0.025), end(0.975))
}

/// The share of comparisons that call a difference: by Student's interval, and by BCa's.
fn called(system: &System, runs: usize, change: f64) -> [f64; 2] {
    let mut random = fastrand::Rng::with_seed(20);
    let mut called = [0; 2];
    for _ in 0..PAIRS {
        let (a, b) = (system.runs(runs, 1.0, &mut random), system.runs(runs, change, &mut random));
        let student = effect(Scale::Ratio, &a, &b).expect("all are positive");
        let is_beyond = student.estimate.ln().abs() > MARGIN.ln_1p();
        let (low, high) = student.interval.expect("there are several runs");
        called[0] += usize::from(is_beyond && (low > 1.0 || high < 1.0));
        let (low, high) = bca(&a, &b, &mut random);
        called[1] += usize::from(is_beyond && (low > 0.0 || high < 0.0));
    }
    called.map(|called| called as f64 / PAIRS as f64 * 100.0)
}

fn main() {
    println!(
        "| runs of one system | vary by | runs a side | equal, called different: Student | BCa | 10 % slower, called: \
         Student | BCa |"
    );
    println!("| --- | --: | --: | --: | --: | --: | --: |");
    for (noise, told) in [
        (Noise::Normal, "lognormal"),
        (Noise::Odd, "one in ten is odd"),
        (Noise::Drifting, "each like the one before"),
    ] {
        for spread in [0.03, 0.05, 0.1] {
            for runs in [5, 10] {
                let system = System { noise, spread };
                let [equal, changed] = [1.0, 1.1].map(|change| called(&system, runs, change));
                println!(
                    "| {told} | {:.0} % | {runs} | {:.1} % | {:.1} % | {:.0} % | {:.0} % |",
                    spread * 100.0,
                    equal[0],
                    equal[1],
                    changed[0],
                    changed[1],
                );
            }
        }
    }
}
