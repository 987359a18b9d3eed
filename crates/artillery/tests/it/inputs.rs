//! The command line's layers over a script: files, a payload, one user, one scenario, environment variables.

use crate::support::notices;
use sonagi_artillery::plan::Plan;
use sonagi_artillery::schedule::{Load, Shape};
use sonagi_artillery::{Loaded, Overrides, Problems, load};

const SCRIPT: &str = "
config:
  target: http://t
  phases: [{duration: 9, arrivalRate: 5}, {duration: 9, arrivalRate: 6}]
  payload: {fields: [email]}
scenarios:
  - {name: log in, flow: [{get: {url: /login}}]}
  - {name: browse, weight: 0, flow: [{get: {url: \"/{{ $env.SONAGI_NO_SUCH }}\"}}]}
  - {name: browse all, flow: [{get: {url: /all}}]}
";

/// A folder with the script and what is beside it.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new(files: &[(&str, &str)]) -> Folder {
        let folder = Folder(tempfile::tempdir().unwrap());
        for (name, text) in [("s.yml", SCRIPT), ("rows.csv", "a@example.test\n")].iter().chain(files) {
            std::fs::create_dir_all(folder.path(name).parent().unwrap()).unwrap();
            std::fs::write(folder.path(name), text).unwrap();
        }
        folder
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.0.path().join(name)
    }

    /// The overrides that the script needs to run: rows, and the variable it asks for.
    fn overrides(&self) -> Overrides {
        Overrides {
            payload: Some(self.path("rows.csv")),
            dotenv: vec![
                ("SONAGI_NO_SUCH".into(), "first".into()),
                ("SONAGI_NO_SUCH".into(), "there".into()),
            ],
            ..Overrides::default()
        }
    }

    fn load(&self, overrides: &Overrides) -> Result<Loaded, Problems> {
        load(&self.path("s.yml"), overrides)
    }

    fn plan(&self, overrides: &Overrides) -> Plan {
        self.load(overrides).unwrap_or_else(|problems| panic!("{problems}")).plan
    }

    fn problems(&self, overrides: &Overrides) -> String {
        let problems = self.load(overrides).unwrap_err().to_string();
        problems.replace(&format!("{}/", self.0.path().display()), "")
    }
}

fn names(plan: &Plan) -> Vec<&str> {
    plan.operations.iter().map(|operation| operation.name.as_str()).collect()
}

fn shapes(plan: &Plan) -> Vec<Shape> {
    let Load::Open { phases, .. } = &plan.load else { panic!("an open run") };
    phases.iter().map(|phase| phase.shape).collect()
}

#[test]
fn a_payloads_file_and_variables_of_a_dotenv_file_come_from_the_command_line() {
    let folder = Folder::new(&[]);
    let plan = folder.plan(&Overrides { scenario: Some("browse".into()), ..folder.overrides() });
    assert_eq!(plan.payloads[0].rows, [["a@example.test"]]);
    let told = format!("{:?}", plan.scenarios);
    assert!(told.contains("/there") && !told.contains("first"), "the last of a name counts: {told}");
    let path = std::env::var("PATH").unwrap();
    let kept = Folder::new(&[("s.yml", &SCRIPT.replace("SONAGI_NO_SUCH", "PATH"))]);
    let dotenv = vec![("PATH".to_owned(), "of the file".to_owned())];
    let plan = kept.plan(&Overrides { dotenv, scenario: Some("browse".into()), ..kept.overrides() });
    assert!(format!("{:?}", plan.scenarios).contains(&path), "what is set stays");
}

#[test]
fn a_target_of_the_command_line_that_is_no_address_is_blamed_on_its_flag() {
    let folder = Folder::new(&[]);
    let flawed = |target: &str| Overrides { target: Some(target.to_owned()), ..folder.overrides() };
    assert_eq!(
        folder.problems(&flawed("127.0.0.1:1")),
        "--target: target is an address that begins with http://, https://, ws:// or wss://; got \"127.0.0.1:1\"\n  \
         hint: did you mean \"http://127.0.0.1:1\"?"
    );
}

#[test]
fn a_folder_is_no_script() {
    let folder = Folder::new(&[]);
    let said = load(folder.0.path(), &Overrides::default()).unwrap_err();
    assert_eq!(
        (said.0[0].what.as_str(), said.0[0].hint.as_deref()),
        ("a script is a file; this is a folder", Some("name the files in it that are to be run"))
    );
}

#[test]
fn what_a_payload_of_the_command_line_cannot_mean_is_a_problem() {
    let folder = Folder::new(&[]);
    let missing = Overrides { payload: Some("/nowhere.csv".into()), ..folder.overrides() };
    assert_eq!(
        folder.problems(&missing),
        "--payload: cannot read the payload /nowhere.csv: No such file or directory (os error 2)\n  \
         hint: the path is relative to the script"
    );
    let two = SCRIPT.replace("{fields: [email]}", "[{path: a}, {path: b}]");
    let several = Folder::new(&[("s.yml", &two), ("a", "x\n1\n"), ("b", "y\n1\n")]);
    assert_eq!(
        several.problems(&several.overrides()),
        "--payload: the script has several payloads, and each names its own file\n  \
         hint: leave --payload out, or use --overrides"
    );
    let none = Folder::new(&[("s.yml", &SCRIPT.replace("  payload: {fields: [email]}\n", ""))]);
    assert_eq!(
        none.problems(&none.overrides()),
        "--payload: the script has no payload: nothing says what the file's columns are called\n  \
         hint: add `payload: {fields: [email]}` to config"
    );
}

#[test]
fn solo_is_one_user_whatever_the_phases_and_overrides_say() {
    let folder = Folder::new(&[]);
    let overrides = serde_json::json!({ "config": { "phases": [{ "duration": 1, "arrivalRate": 7 }] } });
    let solo = Overrides { solo: true, overrides: Some(overrides), ..folder.overrides() };
    assert_eq!(shapes(&folder.plan(&solo)), [Shape::Count(1)]);
    let without = Folder::new(&[("s.yml", &SCRIPT.replace("  phases:", "  x-phases:"))]);
    assert!(without.problems(&Overrides { solo: true, ..without.overrides() }).contains("x-phases"));
}

#[test]
fn a_script_without_phases_is_one_user_and_says_so() {
    let lines: String =
        SCRIPT.lines().filter(|line| !line.contains("phases")).map(|l| format!("{l}\n")).collect();
    let folder = Folder::new(&[("s.yml", &lines)]);
    let loaded = folder.load(&folder.overrides()).unwrap();
    assert_eq!(shapes(&loaded.plan), [Shape::Count(1)]);
    let told = "3:3: the script has no phases: one user runs, once; more come with `phases: [{duration: 60, arrivalRate: 5}]` in config";
    assert!(notices(&loaded).contains(&told.to_owned()), "{:?}", notices(&loaded));
}

#[test]
fn one_scenario_is_chosen_by_its_name_or_by_an_expression_that_matches_one() {
    let folder = Folder::new(&[]);
    let chosen = |name: &str| Overrides { scenario: Some(name.into()), ..folder.overrides() };
    let plan = folder.plan(&chosen("browse"));
    assert_eq!((plan.scenarios.len(), plan.scenarios[0].weight), (1, 1.0), "an exact name, its weight aside");
    assert_eq!(names(&folder.plan(&chosen("^log"))), ["GET /login"]);
    for (name, told) in [
        ("brows", "\"brows\" matches 2 scenarios: browse, browse all"),
        ("logn", "no scenario is called \"logn\"\n  hint: its scenarios: log in, browse, browse all"),
        ("browze all", "no scenario is called \"browze all\"\n  hint: did you mean \"browse all\"?"),
        ("(", "no scenario is called \"(\", and it is no regular expression: error: unclosed group"),
    ] {
        assert_eq!(folder.problems(&chosen(name)), format!("--scenario-name: {told}"));
    }
}

#[test]
fn further_files_are_merged_in_their_order_and_a_processor_is_looked_for_beside_the_last() {
    let folder = Folder::new(&[
        ("i.yml", "config: {target: http://i, phases: [{arrivalRate: 50}]}"),
        ("at/c.yml", "config: {target: http://c, processor: ./p.js}"),
        ("at/p.js", "exports.f = async () => {};"),
    ]);
    let config = folder.path("at/c.yml");
    let inputs = vec![folder.path("i.yml"), config.clone()];
    let plan = folder.plan(&Overrides { inputs, config: Some(config), ..folder.overrides() });
    assert_eq!(plan.target, "http://c");
    assert_eq!(shapes(&plan)[0], Shape::Rate { from: 50.0, to: 50.0 });
    assert_eq!(shapes(&plan).len(), 2);
    let module = plan.processor.unwrap().module;
    assert_eq!(module, folder.path("at/p.js").canonicalize().unwrap());
}

#[test]
fn a_mistake_in_a_further_file_is_told_with_that_files_name_and_line() {
    let folder = Folder::new(&[("c.yml", "config:\n  taget: x\n"), ("torn.yml", "config: [\n")]);
    let over = |names: &[&str]| {
        let inputs: Vec<_> = names.iter().map(|name| folder.path(name)).collect();
        Overrides { config: inputs.last().cloned(), inputs, ..folder.overrides() }
    };
    assert_eq!(
        folder.problems(&over(&["c.yml"])),
        "c.yml:2:3: unknown key \"taget\" in config\n  hint: did you mean \"target\"?"
    );
    assert!(folder.problems(&over(&["torn.yml"])).starts_with("torn.yml:"));
    assert_eq!(
        folder.problems(&over(&["no.yml"])),
        "no.yml: cannot read the file to be merged over the script: No such file or directory (os error 2)"
    );
}

#[test]
fn only_what_looks_like_a_number_is_told_of_when_it_stays_a_text() {
    let said = |cell: &str| {
        let rows = format!("email\n{cell}\n");
        let folder = Folder::new(&[("rows.csv", &rows)]);
        notices(&folder.load(&folder.overrides()).unwrap())
    };
    let about = |said: &[String]| said.iter().filter(|line| line.contains("another number")).count();
    assert_eq!(
        ["007", "+49", "Nan", "inf", "infinity", "ada", "7"].map(|cell| about(&said(cell))),
        [1, 1, 0, 0, 0, 0, 0]
    );
}

#[test]
fn a_module_of_javascript_is_no_script() {
    let folder = Folder::new(&[("s.ts", "export const config = {};\n")]);
    let refused = load(&folder.path("s.ts"), &folder.overrides()).unwrap_err().to_string();
    assert!(
        refused.contains("an Artillery script is YAML or JSON; this is a module of JavaScript or TypeScript"),
        "{refused}"
    );
}

#[test]
fn until_stands_in_place_of_all_thresholds_and_names_what_the_script_measures() {
    let folder = Folder::new(&[]);
    let until = |text: &str| Overrides { until: Some(text.to_owned()), ..folder.overrides() };
    let plan = folder.plan(&until("http.response_time.p99 < 300 and vusers.created_by_name.log in >= 0"));
    let expressions: Vec<&str> = plan.thresholds.iter().map(|threshold| threshold.expression()).collect();
    let quoted = "http.response_time.p99 < 300 and 'vusers.created_by_name.log in' >= 0";
    assert_eq!(expressions, [quoted]);
    assert_eq!(
        folder.problems(&until("http.respnse_time.p99 < 300 and delivery.ratio == 1")),
        "--until: `http.respnse_time.p99` is not a metric\n  hint: did you mean `http.response_time.p99`?\n--until: \
         nothing in the script measures `delivery.ratio`\n  hint: a message with `{{ $stamp }}` is tracked"
    );
    let torn = folder.problems(&until("http.response_time.p99 <"));
    assert!(torn.starts_with("--until: expected a name, a number"), "{torn}");
}
