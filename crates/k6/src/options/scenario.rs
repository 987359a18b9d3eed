//! Scenarios: how many virtual users or iterations, when, running which function.
//!
//! A scenario is read once, wherever it stands; what breaks a rule is kept with it and told only if the scenario is the
//! one that will run, for a higher tier may replace it.

use super::problem::{Problem, Reading};
use super::read::{self, Check, same};
use super::span::{self, SECOND};
use serde_json::{Map, Value};
use std::time::Duration;

/// A scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// Its name, the `scenario` tag of its samples.
    pub name: String,
    /// How its iterations are planned.
    pub executor: Executor,
    /// The exported function it calls.
    pub exec: String,
    /// When it begins, from the end of `setup`.
    pub start_time: Duration,
    /// How long iterations may go on when its regular time is over.
    pub graceful_stop: Duration,
    /// Variables it adds to `__ENV`.
    pub env: Vec<(String, String)>,
    /// Tags of its samples.
    pub tags: Vec<(String, String)>,
    /// Options that modules read for themselves (`browser`); null without.
    pub options: Value,
    /// Whether `exec` was given, which the test's plan shows.
    pub(crate) exec_given: bool,
}

/// How a scenario's iterations are planned.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    missing_docs,
    reason = "the members are those of k6's options, documented there and in docs/from-k6.md"
)]
pub enum Executor {
    SharedIterations {
        vus: u64,
        iterations: u64,
        max_duration: Duration,
    },
    PerVuIterations {
        vus: u64,
        iterations: u64,
        max_duration: Duration,
    },
    ConstantVus {
        vus: u64,
        duration: Duration,
    },
    RampingVus {
        start_vus: u64,
        stages: Vec<Stage>,
        graceful_ramp_down: Duration,
    },
    ConstantArrivalRate {
        rate: u64,
        time_unit: Duration,
        duration: Duration,
        pre_allocated_vus: u64,
        max_vus: u64,
    },
    RampingArrivalRate {
        start_rate: u64,
        time_unit: Duration,
        stages: Vec<Stage>,
        pre_allocated_vus: u64,
        max_vus: u64,
    },
}

/// A straight line from the target before to this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stage {
    /// How long it takes.
    pub duration: Duration,
    /// Virtual users, or iterations per time unit, at its end.
    pub target: u64,
}

impl Executor {
    /// Its name in options.
    pub fn name(&self) -> &'static str {
        match self {
            Executor::SharedIterations { .. } => "shared-iterations",
            Executor::PerVuIterations { .. } => "per-vu-iterations",
            Executor::ConstantVus { .. } => "constant-vus",
            Executor::RampingVus { .. } => "ramping-vus",
            Executor::ConstantArrivalRate { .. } => "constant-arrival-rate",
            Executor::RampingArrivalRate { .. } => "ramping-arrival-rate",
        }
    }
}

/// A scenario, what a script sees of it, and the rules it breaks.
#[derive(Debug, Clone)]
pub(super) struct Read {
    pub scenario: Scenario,
    pub view: Value,
    pub broken: Vec<Problem>,
}

/// Every executor with its own members, in the order k6 shows them.
const EXECUTORS: [(&str, &[(&str, Check)]); 6] = [
    ("shared-iterations", ITERATIONS),
    ("per-vu-iterations", ITERATIONS),
    ("constant-vus", &[("vus", read::whole), ("duration", read::time)]),
    ("ramping-vus", &[("startVUs", read::whole), ("stages", stages), ("gracefulRampDown", read::time)]),
    (
        "constant-arrival-rate",
        &[
            ("rate", read::whole),
            ("timeUnit", read::time),
            ("duration", read::time),
            ("preAllocatedVUs", read::whole),
            ("maxVUs", read::whole),
        ],
    ),
    (
        "ramping-arrival-rate",
        &[
            ("startRate", read::whole),
            ("timeUnit", read::time),
            ("stages", stages),
            ("preAllocatedVUs", read::whole),
            ("maxVUs", read::whole),
        ],
    ),
];
const ITERATIONS: &[(&str, Check)] =
    &[("vus", read::whole), ("iterations", read::whole), ("maxDuration", read::time)];

/// Members of every scenario, in the order k6 shows them.
const COMMON: [(&str, Check); 7] = [
    ("executor", read::text),
    ("startTime", read::time),
    ("gracefulStop", read::time),
    ("env", read::text_map),
    ("exec", read::text),
    ("tags", read::text_map),
    ("options", module_options),
];

/// k6's bound, beyond which it thinks of a typing error.
const MOST_VUS: i64 = 100_000_000;

/// All scenarios of one tier, in the order of their names.
pub(super) fn read_all(value: &Value, reading: &mut Reading<'_>) -> Option<Vec<Read>> {
    let Some(given) = value.as_object() else { return reading.wrong("an object of scenarios", value) };
    let mut given: Vec<(&String, &Value)> = given.iter().collect();
    given.sort_by_key(|(name, _)| *name);
    Some(given.into_iter().filter_map(|(name, value)| one(name, value, &mut reading.within(name))).collect())
}

/// Reads a scenario; None when not even its executor is known.
pub(super) fn one(name: &str, value: &Value, reading: &mut Reading<'_>) -> Option<Read> {
    let Some(given) = value.as_object() else { return reading.wrong("an object with `executor`", value) };
    let executor = given
        .iter()
        .filter(|(name, _)| name.eq_ignore_ascii_case("executor"))
        .map(|(_, value)| value)
        .next_back();
    let known = || EXECUTORS.iter().map(|(name, _)| *name);
    let executor = match executor {
        None | Some(Value::Null) => {
            reading.problem_with_hint(
                "has no `executor`",
                format!("known are {}", known().collect::<Vec<_>>().join(", ")),
            );
            return None;
        }
        Some(Value::String(text)) => text,
        Some(other) => return reading.within("executor").wrong("a text", other),
    };
    let Some((executor, own)) = EXECUTORS.iter().find(|(name, _)| name == executor) else {
        let hint = match super::problem::meant(executor, known()) {
            Some(meant) => format!("did you mean \"{meant}\"?"),
            None => format!("known are {}", known().collect::<Vec<_>>().join(", ")),
        };
        reading.within("executor").problem_with_hint(format!("\"{executor}\" is no executor"), hint);
        return None;
    };
    let members: Vec<(&'static str, Check)> = COMMON.iter().chain(own.iter()).copied().collect();
    let mut fields = Fields::read(given, &members, reading);
    if name.is_empty() || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-') {
        fields.breaks("", "the name of a scenario may hold Latin letters, digits, _ and - only".into());
    }
    let scenario = fields.scenario(name, executor);
    let (view, broken) = (fields.view(), fields.broken);
    Some(Read { scenario, view, broken })
}

/// The members of a scenario as they were given.
struct Fields {
    place: String,
    members: Vec<(&'static str, Check)>,
    given: Map<String, Value>,
    /// Members whose values are wrong in kind, which has been told already: no rule is held against them.
    wrong: Vec<&'static str>,
    broken: Vec<Problem>,
}

impl Fields {
    fn read(
        given: &Map<String, Value>,
        members: &[(&'static str, Check)],
        reading: &mut Reading<'_>,
    ) -> Fields {
        let names = || members.iter().map(|(name, _)| *name);
        let mut fields = Fields {
            place: reading.place.clone(),
            members: members.to_vec(),
            given: Map::new(),
            wrong: Vec::new(),
            broken: Vec::new(),
        };
        for (name, value) in given {
            let Some((name, check)) = members.iter().find(|(known, _)| known.eq_ignore_ascii_case(name))
            else {
                read::unknown(name, names(), reading);
                continue;
            };
            if value.is_null() {
                continue;
            }
            let problems = reading.problems.len();
            match check(value, &mut reading.within(name)) {
                Some(value) => drop(fields.given.insert(name.to_string(), value)),
                None if reading.problems.len() > problems => fields.wrong.push(name),
                None => {}
            }
        }
        fields
    }

    fn breaks(&mut self, member: &str, text: String) {
        let place = if member.is_empty() { self.place.clone() } else { format!("{}.{member}", self.place) };
        self.broken.push(Problem { place, text, hint: None });
    }

    /// The member's value; without one `default`, and without that a broken rule. None once something has been told.
    fn get<T>(
        &mut self,
        member: &'static str,
        default: Option<T>,
        of: impl Fn(&Value) -> Option<T>,
    ) -> Option<T> {
        if self.wrong.contains(&member) {
            return None;
        }
        let value = self.given.get(member).and_then(of).or(default);
        if value.is_none() {
            self.breaks(member, "must be given".into());
        }
        value
    }

    /// A whole number of at least `least`.
    fn whole(&mut self, member: &'static str, default: Option<i64>, least: i64) -> u64 {
        let number = self.get(member, default, Value::as_i64).unwrap_or(least);
        if number < least {
            self.breaks(member, format!("must be at least {least}, is {number}"));
        }
        number.max(least) as u64
    }

    /// A number of virtual users.
    fn vus(&mut self, member: &'static str, default: Option<i64>, least: i64) -> u64 {
        let number = self.whole(member, default, least);
        if number > MOST_VUS as u64 {
            self.too_many(number);
        }
        number.min(MOST_VUS as u64)
    }

    fn too_many(&mut self, asked: u64) {
        self.breaks("", format!("no more than {MOST_VUS} VUs can be asked for, asked for are {asked}"));
    }

    /// A length of time, of at least `least` ns.
    fn time(&mut self, member: &'static str, default: Option<i64>, least: i64) -> Duration {
        let ns = |value: &Value| value.as_str().and_then(|text| span::parse(text).ok());
        let ns = self.get(member, default, ns).unwrap_or(least);
        if ns < least {
            self.breaks(member, format!("must be at least {}, is {}", span::text(least), span::text(ns)));
        }
        span::wait(ns.max(least))
    }

    fn scenario(&mut self, name: &str, executor: &str) -> Scenario {
        let exec = self.given.get("exec").and_then(Value::as_str).map(str::to_string);
        if exec.as_deref() == Some("") {
            self.breaks("exec", "must name an exported function, is empty".into());
        }
        Scenario {
            name: name.to_string(),
            start_time: self.time("startTime", Some(0), 0),
            graceful_stop: self.time("gracefulStop", Some(30 * SECOND), 0),
            env: super::pairs(self.given.get("env")),
            tags: super::pairs(self.given.get("tags")),
            options: self.given.get("options").cloned().unwrap_or_default(),
            exec_given: exec.is_some(),
            exec: exec.unwrap_or_else(|| "default".into()),
            executor: self.executor(executor),
        }
    }

    fn executor(&mut self, name: &str) -> Executor {
        match name {
            "shared-iterations" => self.shared_iterations(),
            "per-vu-iterations" => Executor::PerVuIterations {
                vus: self.vus("vus", Some(1), 1),
                iterations: self.whole("iterations", Some(1), 1),
                max_duration: self.time("maxDuration", Some(600 * SECOND), SECOND),
            },
            "constant-vus" => Executor::ConstantVus {
                vus: self.vus("vus", Some(1), 1),
                duration: self.time("duration", None, SECOND),
            },
            "ramping-vus" => self.ramping_vus(),
            "constant-arrival-rate" => {
                let rate = self.whole("rate", None, 1);
                let time_unit = self.time("timeUnit", Some(SECOND), 1);
                let duration = self.time("duration", None, SECOND);
                let (pre_allocated_vus, max_vus) = self.arrival_vus();
                Executor::ConstantArrivalRate { rate, time_unit, duration, pre_allocated_vus, max_vus }
            }
            _ => {
                let start_rate = self.whole("startRate", Some(0), 0);
                let time_unit = self.time("timeUnit", Some(SECOND), 1);
                let stages = self.stages();
                let (pre_allocated_vus, max_vus) = self.arrival_vus();
                Executor::RampingArrivalRate { start_rate, time_unit, stages, pre_allocated_vus, max_vus }
            }
        }
    }

    fn shared_iterations(&mut self) -> Executor {
        let vus = self.vus("vus", Some(1), 1);
        let iterations = self.get("iterations", Some(1), Value::as_i64);
        if let Some(iterations) = iterations.filter(|it| *it < vus as i64 || *it < 1) {
            self.breaks("iterations", format!("must be at least the number of VUs ({vus}), is {iterations}"));
        }
        Executor::SharedIterations {
            vus,
            iterations: iterations.unwrap_or(1).max(1) as u64,
            max_duration: self.time("maxDuration", Some(600 * SECOND), SECOND),
        }
    }

    fn ramping_vus(&mut self) -> Executor {
        let start_vus = self.whole("startVUs", Some(1), 0);
        let stages = self.stages();
        let most = stages.iter().map(|stage| stage.target).chain([start_vus]).max().unwrap_or(0);
        let told = self.wrong.contains(&"stages") || self.wrong.contains(&"startVUs");
        if most == 0 && !told {
            self.breaks("", "`startVUs` or a stage's `target` must be more than 0".into());
        }
        if most > MOST_VUS as u64 {
            self.too_many(most);
        }
        // Less than nothing is k6's "at once" here, and no problem.
        let down = self.given.get("gracefulRampDown").and_then(Value::as_str);
        let down = down.map_or(30 * SECOND, |text| span::parse(text).unwrap_or(0));
        Executor::RampingVus { start_vus, stages, graceful_ramp_down: span::wait(down) }
    }

    fn arrival_vus(&mut self) -> (u64, u64) {
        let pre = self.vus("preAllocatedVUs", None, 0);
        let most = self.get("maxVUs", Some(pre as i64), Value::as_i64).unwrap_or(pre as i64);
        if most < pre as i64 {
            self.breaks("maxVUs", format!("must be at least preAllocatedVUs ({pre}), is {most}"));
        }
        (pre, most.max(pre as i64) as u64)
    }

    fn stages(&mut self) -> Vec<Stage> {
        if self.wrong.contains(&"stages") {
            return Vec::new();
        }
        let given = self.given.get("stages").and_then(Value::as_array).cloned().unwrap_or_default();
        if given.is_empty() {
            self.breaks("stages", "must have at least one stage".into());
        }
        let mut stages = Vec::new();
        for (n, stage) in given.iter().enumerate() {
            let duration = stage["duration"].as_str().map(|text| span::parse(text).unwrap_or(0));
            let target = stage["target"].as_i64();
            let mut least = |member: &str, value: Option<i64>| match value {
                None => self.breaks(&format!("stages.{n}.{member}"), "must be given".into()),
                Some(..0) => self.breaks(&format!("stages.{n}.{member}"), "must not be negative".into()),
                Some(_) => {}
            };
            least("duration", duration);
            least("target", target);
            stages.push(Stage {
                duration: span::wait(duration.unwrap_or(0)),
                target: target.unwrap_or(0).max(0) as u64,
            });
        }
        stages
    }

    /// The scenario in `exec.test.options`: every member, null where none was given.
    fn view(&self) -> Value {
        let shown = |(name, _): &(&'static str, Check)| {
            let value = self.given.get(*name).cloned();
            // k6 leaves out the modules' options when there are none.
            (value.is_some() || *name != "options").then(|| (name.to_string(), value.unwrap_or_default()))
        };
        Value::Object(self.members.iter().filter_map(shown).collect())
    }
}

/// A list of `{duration, target}`.
fn stages(value: &Value, reading: &mut Reading<'_>) -> Option<Value> {
    let Some(items) = value.as_array() else { return reading.wrong("a list of stages", value) };
    let before = reading.problems.len();
    let stages: Vec<Value> =
        items.iter().enumerate().map(|(n, item)| stage(item, true, &mut reading.within(n))).collect();
    (reading.problems.len() == before).then_some(Value::Array(stages))
}

/// The list of the shortcut `stages`, where unknown members do not matter and a stage without duration is left out.
pub(super) fn shortcut_stages(value: &Value, reading: &mut Reading<'_>) -> Option<Value> {
    let Some(items) = value.as_array() else { return reading.wrong("a list of stages", value) };
    let before = reading.problems.len();
    let stages = items.iter().enumerate().map(|(n, item)| stage(item, false, &mut reading.within(n)));
    let stages = stages.filter(|stage| !stage["duration"].is_null()).collect();
    (reading.problems.len() == before).then_some(stages)
}

fn stage(value: &Value, strict: bool, reading: &mut Reading<'_>) -> Value {
    let mut stage = serde_json::json!({"duration": null, "target": null});
    let Some(given) = value.as_object() else {
        drop(reading.wrong::<Value>("an object with duration and target", value));
        return stage;
    };
    for (name, member) in given {
        match same(name, ["duration", "target"]) {
            Some(_) if member.is_null() => {}
            Some("duration") => {
                stage["duration"] = read::time(member, &mut reading.within("duration")).into();
            }
            Some(_) => stage["target"] = read::whole(member, &mut reading.within("target")).into(),
            None if strict => read::unknown(name, ["duration", "target"].into_iter(), reading),
            None => {}
        }
    }
    stage
}

/// Options that modules read for themselves; k6 knows `browser` only.
fn module_options(value: &Value, reading: &mut Reading<'_>) -> Option<Value> {
    let Some(given) = value.as_object() else { return reading.wrong("an object", value) };
    for name in given.keys().filter(|name| !name.eq_ignore_ascii_case("browser")) {
        read::unknown(name, ["browser"].into_iter(), reading);
    }
    Some(value.clone())
}
