//! `repeat` and `compare`: how often the runs of a script are made, and what is asked of them.
//!
//! Only read here: rounds and verdicts are the caller's. What can be known to be wrong before the first run is a
//! problem of the script, as the answer would otherwise be missing after the last one: an axis that there is not, a
//! figure that the script cannot measure.

use crate::names::Measured;
use crate::plan::Scenario;

use crate::script::Combination;
use crate::script::problem::nearest;
use crate::script::reader::{Fields, Reader};
use crate::script::schema;
use crate::script::yaml::{Kind, Node};

/// Figures that are made for comparisons, of all operations of a run: no script measures them.
pub const FIGURES_OF_COMPARISONS: [&str; 2] = ["failed_share", "operations_per_s"];
/// More rounds are refused: nobody waits for them.
const REPEAT_MAX: u64 = 1000;

/// What a script says of its runs together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Experiment {
    /// How often every combination is run.
    pub repeat: Option<usize>,
    /// What is compared.
    pub compare: Option<Compare>,
}

/// Which value of an axis is best.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Compare {
    /// The axis.
    pub across: String,
    /// The figure that decides, by its name in the summary.
    pub primary: Option<String>,
    /// A change within it does not matter, as a share.
    pub margin: Option<f64>,
}

/// Reads both keys.
pub(crate) fn experiment(
    reader: &mut Reader,
    script: &Fields<'_>,
    combination: &Combination,
    scenarios: &[Scenario],
    tracks_delivery: bool,
) -> Experiment {
    let repeat = repeat(reader, script);
    let Some(fields) = reader.section(script, "compare", &schema::COMPARE) else {
        return Experiment { repeat, compare: None };
    };
    let across = across(reader, script, &fields, combination);
    let primary = reader.text(&fields, "primary");
    if let (Some(name), Some(node)) = (&primary, fields.get("primary")) {
        judge_figure(reader, node, name, scenarios, tracks_delivery);
    }
    let margin = margin_of(reader, &fields);
    Experiment { repeat, compare: across.map(|across| Compare { across, primary, margin }) }
}

fn repeat(reader: &mut Reader, script: &Fields<'_>) -> Option<usize> {
    let repeat = reader.whole(script, "repeat")?;
    if !(1..=REPEAT_MAX).contains(&repeat) {
        let what = format!("repeat is a whole number from 1 to {REPEAT_MAX}; got {repeat}");
        reader.problem(script.place_of("repeat"), what, Some("five runs are the least that decide".into()));
        return None;
    }
    Some(repeat as usize)
}

/// The axis that is compared; of a matrix that is wrong itself nothing is said.
fn across(
    reader: &mut Reader,
    script: &Fields<'_>,
    fields: &Fields<'_>,
    Combination(axes): &Combination,
) -> Option<String> {
    let named = reader.text(fields, "across");
    if axes.is_empty() {
        if script.get("matrix").is_none() {
            let hint = "add `matrix: {pool: [2, 10, 50]}`; two sets of runs are compared by `sonagi compare`";
            let what = "compare is across an axis, and the script has no matrix";
            reader.problem(script.place_of("compare"), what, Some(hint.into()));
        }
        return None;
    }
    let names = || axes.iter().map(|(name, _)| name.as_str());
    match named {
        Some(named) if names().any(|name| name == named) => Some(named),
        Some(named) => {
            let hint = match nearest(&named, names()) {
                Some(meant) => format!("did you mean \"{meant}\"?"),
                None => format!("its axes: {}", names().collect::<Vec<_>>().join(", ")),
            };
            let what = format!("the matrix has no axis \"{named}\"");
            reader.problem(fields.place_of("across"), what, Some(hint));
            None
        }
        // Wrong, and told.
        None if fields.get("across").is_some() => None,
        None => match axes.as_slice() {
            [(only, _)] => Some(only.clone()),
            _ => {
                let first = names().next().unwrap_or_default();
                let hint = format!("e.g. `across: {first}`");
                reader.missing(fields, &["across"], "compare does not say across which axis", &hint);
                None
            }
        },
    }
}

/// A figure that the script cannot measure would be missing after the last run.
fn judge_figure(reader: &mut Reader, node: &Node, name: &str, scenarios: &[Scenario], tracks_delivery: bool) {
    if FIGURES_OF_COMPARISONS.contains(&name) {
        return;
    }
    let scenarios = scenarios.iter().map(|scenario| scenario.name.as_str()).collect();
    let measured = Measured { operations: reader.operations.all(), scenarios, tracks_delivery };
    let Err(unknown) = measured.check(name) else { return };
    // Functions may report any metric, under any name.
    if reader.functions.has_module()
        && !["operations.", "kinds.", "delivery."].iter().any(|own| name.starts_with(own))
    {
        return;
    }
    reader.problem(node.place, format!("primary: {}", unknown.what), Some(unknown.hint));
}

fn margin_of(reader: &mut Reader, fields: &Fields<'_>) -> Option<f64> {
    let node = fields.get("margin")?;
    let text = match &node.kind {
        Kind::Text { .. } | Kind::Number(_) => reader.constant(node)?,
        _ => {
            reader.wrong(fields, "margin", node);
            return None;
        }
    };
    match margin(&text) {
        Ok(margin) => Some(margin),
        Err(rule) => {
            reader.problem(node.place, format!("{rule}; got {}", node.describe()), None);
            None
        }
    }
}

/// A margin as a share: `5%`, `5 %` or `0.05`.
///
/// # Errors
/// The rule that the text breaks.
pub fn margin(text: &str) -> Result<f64, String> {
    let number = |text: &str| text.trim().parse::<f64>().ok();
    let share = match text.trim().strip_suffix('%') {
        Some(percent) => number(percent).map(|percent| percent / 100.0),
        None => number(text),
    };
    share
        .filter(|share| *share > 0.0 && *share < 1.0)
        .ok_or_else(|| "a margin is more than 0 % and less than 100 %, e.g. 5% or 0.05".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_margin_is_a_percentage_or_a_share() {
        assert_eq!(margin("5%"), Ok(0.05));
        assert_eq!(margin("2.5 %"), Ok(0.025));
        assert_eq!(margin("0.1"), Ok(0.1));
        assert!(margin("0%").is_err() && margin("100%").is_err() && margin("x").is_err());
    }
}
