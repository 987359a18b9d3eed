//! Tiers, one over the other.

use super::problem::{Problem, Problems, Reading, meant};
use super::scenario::{self, Read};
use super::table::{KNOWN, Known, Won};
use super::{Consolidated, Tiers, read};
use serde_json::{Map, Value, json};

/// The tiers, lowest first.
#[derive(Clone, Copy, PartialEq)]
enum Speaker {
    ConfigFile,
    Script,
    Environment,
    Flags,
}

/// The settings of a tier: values in the form `read` returns, and its scenarios.
struct Tier {
    values: Map<String, Value>,
    scenarios: Option<Vec<Read>>,
}

/// A tier that sets one of these replaces all of them.
const PLANS: [&str; 3] = ["duration", "iterations", "stages"];

pub(super) fn consolidate(tiers: Tiers, exports: &dyn Fn(&str) -> bool) -> Result<Consolidated, Problems> {
    let (mut problems, mut notices) = (Vec::new(), Vec::new());
    let spoken = [
        (Speaker::ConfigFile, tiers.config_file),
        (Speaker::Script, tiers.script),
        (Speaker::Environment, tiers.environment),
        (Speaker::Flags, tiers.flags),
    ];
    let mut all = Tier { values: Map::new(), scenarios: None };
    for (speaker, given) in spoken {
        let tier = Tier::read(speaker, &given, &mut problems, &mut notices);
        all.put_over(tier, speaker, &mut notices);
    }
    let scenarios = all.scenarios(&mut problems, &mut notices);
    problems.extend(scenarios.iter().flat_map(|read| read.broken.clone()));
    for scenario in
        scenarios.iter().map(|read| &read.scenario).filter(|it| !it.exec.is_empty() && !exports(&it.exec))
    {
        let place = format!("scenario {}", scenario.name);
        let text = format!("the script exports no function `{}`", scenario.exec);
        problems.push(Problem { place, text, hint: None });
    }
    let won = Won(all.values);
    if won.ns("setupTimeout").is_some_and(|ns| ns <= 0) {
        let text = "must be more than 0".to_string();
        problems.push(Problem {
            place: "setupTimeout".into(),
            text,
            hint: Some("noSetup leaves setup out".into()),
        });
    }
    if won.get("paused") == &Value::Bool(true) {
        notices.push("paused: there is nothing to resume a test with, it starts at once".into());
    }
    if !problems.is_empty() {
        return Err(Problems(problems));
    }
    let (won, json) = with_defaults(won, &scenarios);
    let mut scenarios: Vec<_> = scenarios.into_iter().map(|read| read.scenario).collect();
    scenarios.sort_by(|a, b| (a.start_time, &a.name).cmp(&(b.start_time, &b.name)));
    Ok(Consolidated { options: won.options(scenarios, json), notices })
}

impl Speaker {
    /// Where a user finds what this tier says of an option.
    fn place(self, known: &Known) -> String {
        match self {
            Speaker::ConfigFile => format!("config file: {}", known.name),
            Speaker::Script => format!("options.{}", known.name),
            Speaker::Environment => known.variable.into(),
            Speaker::Flags => format!("--{}", known.flag),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Speaker::ConfigFile => "the config file",
            Speaker::Script => "the script",
            Speaker::Environment => "the environment",
            Speaker::Flags => "the command line",
        }
    }
}

impl Tier {
    fn read(
        speaker: Speaker,
        given: &Map<String, Value>,
        problems: &mut Vec<Problem>,
        notices: &mut Vec<String>,
    ) -> Tier {
        let mut tier = Tier { values: Map::new(), scenarios: None };
        for (name, value) in given {
            let here = |known: &&Known| known.script || speaker != Speaker::Script;
            let known = KNOWN.iter().filter(here).find(|known| known.name.eq_ignore_ascii_case(name));
            let Some(known) = known else {
                // Config files may hold more than options.
                if speaker != Speaker::ConfigFile {
                    notices.push(unknown(name));
                }
                continue;
            };
            if value.is_null() {
                continue;
            }
            let mut reading = Reading { place: speaker.place(known), problems, notices };
            if known.name == "scenarios" {
                tier.scenarios = scenario::read_all(value, &mut reading);
                continue;
            }
            if known.name == "features" {
                reading.notice("is ignored, no feature of k6 waits behind a switch here");
            }
            tier.values
                .extend((known.check)(value, &mut reading).map(|value| (known.name.to_string(), value)));
        }
        tier
    }

    fn plans(&self) -> bool {
        self.scenarios.is_some() || PLANS.iter().any(|name| self.values.contains_key(*name))
    }

    fn put_over(&mut self, over: Tier, speaker: Speaker, notices: &mut Vec<String>) {
        if over.plans() {
            if self.scenarios.is_some() {
                notices.push(format!("{} replaces the scenarios altogether", speaker.name()));
            }
            if speaker == Speaker::Flags && over.scenarios.is_some() {
                // There is no such flag: who gives scenarios for the command line means these and no shortcut.
                self.values.shift_remove("vus");
            }
            self.scenarios = over.scenarios;
            PLANS.iter().for_each(|name| drop(self.values.shift_remove(*name)));
        }
        for (name, value) in over.values {
            match (name.as_str(), &value) {
                // An empty list of tags does not take those of a lower tier away.
                ("tags", Value::Object(tags)) if tags.is_empty() => {
                    self.values.entry(name).or_insert(value);
                }
                ("dns", Value::Object(over)) => {
                    match self.values.get_mut("dns").and_then(Value::as_object_mut) {
                        Some(dns) => dns.extend(over.clone()),
                        None => drop(self.values.insert(name, value)),
                    }
                }
                _ => drop(self.values.insert(name, value)),
            }
        }
    }

    /// The scenarios to run: those given, or the one that the shortcuts mean.
    fn scenarios(&mut self, problems: &mut Vec<Problem>, notices: &mut Vec<String>) -> Vec<Read> {
        let value = |name: &str| self.values.get(name).cloned();
        let (vus, duration, iterations) = (value("vus"), value("duration"), value("iterations"));
        let stages = value("stages");
        let has_stages = stages.as_ref().and_then(Value::as_array).is_some_and(|stages| !stages.is_empty());
        let plan = match (&iterations, &duration, has_stages) {
            (Some(_), _, _) => Some("iterations"),
            (_, Some(_), _) => Some("duration"),
            (_, _, true) => Some("stages"),
            _ => None,
        };
        if let Some(plan) = plan {
            let others =
                [("stages", has_stages && plan != "stages"), ("scenarios", self.scenarios.is_some())];
            for (other, _) in others.into_iter().filter(|(_, given)| *given) {
                let text = format!("`{plan}` and `{other}` cannot be given together");
                let hint = Some("each says how the test runs: leave one of them out".to_string());
                problems.push(Problem { place: "options".into(), text, hint });
            }
        }
        let made = match plan {
            Some("iterations") => {
                json!({"executor": "shared-iterations", "vus": vus, "iterations": iterations, "maxDuration": duration})
            }
            Some("duration") => json!({"executor": "constant-vus", "vus": vus, "duration": duration}),
            Some(_) => json!({"executor": "ramping-vus", "startVUs": vus, "stages": stages}),
            None if vus.is_some() && stages.is_none() => {
                if self.scenarios.is_some() {
                    notices.push(format!(
                        "vus: {} replaces the scenarios altogether",
                        vus.clone().unwrap_or_default()
                    ));
                }
                json!({"executor": "shared-iterations", "vus": vus, "iterations": vus})
            }
            None => match self.scenarios.take() {
                Some(scenarios) if !scenarios.is_empty() || !problems.is_empty() => return scenarios,
                given => {
                    let empty = [("stages", stages.is_some()), ("scenarios", given.is_some())];
                    for (name, _) in empty.into_iter().filter(|(_, empty)| *empty) {
                        notices.push(format!("{name}: is empty, one virtual user runs one iteration"));
                    }
                    json!({"executor": "per-vu-iterations"})
                }
            },
        };
        let mut reading = Reading { place: "scenario default".into(), problems, notices };
        scenario::one("default", &made, &mut reading).into_iter().collect()
    }
}

/// An option nobody knows: k6 warns and goes on.
fn unknown(name: &str) -> String {
    let known = KNOWN.iter().filter(|known| known.script).map(|known| known.name);
    match meant(name, known) {
        Some(meant) => format!("options.{name}: is unknown and ignored, did you mean `{meant}`?"),
        None => format!("options.{name}: is unknown and ignored"),
    }
}

/// Fills in k6's defaults; and the view a script has of it all.
fn with_defaults(mut won: Won, scenarios: &[Read]) -> (Won, Value) {
    let trend_stats = json!(["avg", "min", "med", "max", "p(90)", "p(95)"]);
    won.0.entry("summaryTrendStats").or_insert(trend_stats);
    won.0.entry("systemTags").or_insert_with(read::default_system_tags);
    let dns = won.get("dns").clone();
    let views = scenarios.iter().map(|read| (read.scenario.name.clone(), read.view.clone()));
    let mut json = Map::new();
    for known in KNOWN {
        let value = match known.name {
            "scenarios" => Value::Object(views.clone().collect()),
            "dns" => json!({"ttl": dns["ttl"], "select": dns["select"], "policy": dns["policy"]}),
            name => won.get(name).clone(),
        };
        let passed_on = ["cloud", "sonagi"].contains(&known.name) && !value.is_null();
        if known.shown || passed_on {
            json.insert(known.name.into(), value);
        }
    }
    (won, Value::Object(json))
}
