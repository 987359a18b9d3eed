//! The metrics of probes that watch the target: names, units, and what they mean in plain words. The probes themselves
//! are in `sonagi-watch`; thresholds and pages know what they measure from here.

use crate::metrics::{Kind, Registry, Scope, Unit};

/// Makes a table of metrics, a row each: its name, whether it is at some level or counted, its unit, and what it means
/// in English and Korean.
macro_rules! metrics {
    ($table:ident $($name:tt $kind:ident $unit:ident $en:literal $ko:literal;)*) => {
        pub(super) const $table: &[$crate::watched::Row] = &[
            $($crate::watched::Row {
                name: $name,
                kind: $crate::metrics::Kind::$kind,
                unit: $crate::metrics::Unit::$unit,
                about: ($en, $ko),
            }),*
        ];
    };
}

// Behind the macro, which they use.
mod host;
mod services;
mod target;

/// How long a probe's look took.
pub const LOOK: &str = "watch.look";
/// How much of a core's time a probe's look took.
pub const LOOK_CPU: &str = "watch.cpu";

/// How late the network that a run puts before its service was, at its 99th percentile.
pub const NETWORK_LAG: &str = "service.network.lag";
/// How late it was at its latest.
pub const NETWORK_LATEST: &str = "service.network.latest";

/// The kind of events in a run's record that say what happened to the target.
pub const TARGET: &str = "target";
/// The kind of those that say what could not be measured, and why.
pub const UNMEASURED: &str = "unmeasured";

/// A metric of ours.
pub(crate) struct Row {
    name: &'static str,
    kind: Kind,
    unit: Unit,
    about: (&'static str, &'static str),
}

metrics! { WATCH
    LOOK Gauge Milliseconds
        "How long a probe took to look at its subject, by probe."
        "프로브가 대상을 한 번 살펴보는 데 걸린 시간입니다.";
    LOOK_CPU Gauge Milliseconds
        "CPU time that a probe took in a second, by probe." "프로브가 1초 동안 쓴 CPU 시간입니다.";
}

metrics! { NETWORK
    NETWORK_LAG Gauge Milliseconds
        "How late the network before the service was itself, at its 99th percentile: the service looks slower by that."
        "서비스 앞에 둔 네트워크 자체가 늦은 시간(p99)이며, 그만큼 서비스가 느려 보입니다.";
    NETWORK_LATEST Gauge Milliseconds
        "How late the network before the service was at its latest since the look before."
        "직전 측정 이후 서비스 앞에 둔 네트워크가 가장 많이 늦은 시간입니다.";
}

/// All tables.
const TABLES: &[&[Row]] = &[
    WATCH,
    NETWORK,
    target::PROCESSES,
    target::LIMITS,
    target::SOCKETS,
    host::HOST,
    services::RUNTIME,
    services::POSTGRES,
    services::REDIS,
    services::NGINX,
];

fn rows() -> impl Iterator<Item = &'static Row> {
    TABLES.iter().copied().flatten()
}

fn row(metric: &str) -> Option<&'static Row> {
    rows().find(|row| row.name == metric)
}

/// The unit of a metric of ours.
pub fn unit(metric: &str) -> Unit {
    row(metric).map_or(Unit::Number, |row| row.unit)
}

/// The explanation of a metric in English and Korean; None: it is not of a probe, or the watched thing itself names it.
pub(crate) fn about(metric: &str) -> Option<(&'static str, &'static str)> {
    row(metric).map(|row| row.about)
}

/// The figures of all of them, as thresholds on a summary name them: of a level `target.cpu.max`, `min` and `value`,
/// which is the last one; of a count its name.
pub fn figures() -> impl Iterator<Item = String> {
    const LEVELS: [&str; 3] = ["max", "min", "value"];
    let levels = |row: &'static Row| LEVELS.map(|figure| format!("{}.{figure}", row.name)).to_vec();
    rows().flat_map(move |row| if row.kind == Kind::Gauge { levels(row) } else { vec![row.name.to_owned()] })
}

/// Enters the metric that a threshold names, with tags or without, if it is one of ours: before the first look nobody
/// else has.
pub fn enter(registry: &Registry, name: &str) {
    let metric = name.split('{').next().unwrap_or(name);
    if let Some(row) = row(metric) {
        // A script's own metric of this name stays what it is; the probe's values are left out and counted.
        let _ = registry.add_of(Scope::Watched, row.name, row.kind, row.unit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn a_metric_is_told_once_and_in_sentences() {
        let mut seen = HashSet::new();
        for Row { name, about: (en, ko), .. } in rows() {
            assert!(seen.insert(*name), "{name} has two rows");
            assert!(en.ends_with('.') && ko.ends_with('.'), "{name}");
            assert!(ko.chars().any(|letter| ('가'..='힣').contains(&letter)), "{name}");
        }
    }
}
