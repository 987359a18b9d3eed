//! The module is loaded to be asked what it exports, and the process that has loaded it is the run's first.

use super::*;
use sonagi_engine::Speaker;

/// Notes in a file beside it how often it was loaded, and prints a line.
const NOTES: &str = "require('fs').appendFileSync(__dirname + '/loads', 'x');
    console.log('loaded'); console.error('with care');
    let n = 0; exports.count = async ({ vars }) => { vars.n = (n += 1); vars.saw = vars.common; };";

fn loads(script: &Script) -> String {
    std::fs::read_to_string(script.path("loads")).unwrap_or_default()
}

/// The result of asking for exports.
struct ExportsAnswer {
    names: Result<Vec<String>, String>,
    kept: LoadedProcessor,
    told: Vec<(Speaker, String)>,
}

fn asked(processor: &Processor) -> ExportsAnswer {
    let mut told = Vec::new();
    let (names, kept) = exports(processor, &mut |speaker, text| told.push((speaker, text.to_owned())));
    ExportsAnswer { names: names.map_err(|unloaded| unloaded.to_string()), kept, told }
}

#[test]
fn a_module_that_was_asked_what_it_exports_is_not_loaded_again_for_the_first_shard() {
    let script = Script::new("p.cjs", NOTES);
    let processor = processor(&script.path("p.cjs"), &["count"]);
    let ExportsAnswer { names, kept, told } = asked(&processor);
    assert_eq!(names, Ok(vec!["count".to_owned()]));
    let words = |speaker, text: &str| (speaker, text.to_owned());
    assert_eq!(told, [words(Speaker::Output, "loaded"), words(Speaker::ErrorOutput, "with care")]);
    on_a_shard(async || {
        let shared = json!({ "common": "seen" }).as_object().cloned().unwrap();
        let begin = || start(processor.clone(), kept.clone(), shared.clone(), Control::new());
        let first = begin().await.unwrap().unwrap();
        assert_eq!(loads(&script), "x");
        assert_eq!(set(&call(&first, 1, "count", json!({})).await), json!({ "n": 1, "saw": "seen" }));
        assert_eq!(first.take_said(), [], "what it printed was told");
        let second = begin().await.unwrap().unwrap();
        assert_eq!(loads(&script), "xx", "a process is one shard's");
        assert_eq!(set(&call(&second, 1, "count", json!({})).await), json!({ "n": 1, "saw": "seen" }));
    });
}

#[test]
fn another_module_or_environment_is_not_what_was_loaded() {
    let script = Script::new("p.cjs", NOTES);
    let processor = processor(&script.path("p.cjs"), &["count"]);
    let ExportsAnswer { kept, .. } = asked(&processor);
    on_a_shard(async || {
        let other = Processor { environment: Vec::new(), ..processor.clone() };
        start(other, kept.clone(), Map::new(), Control::new()).await.unwrap().unwrap();
        assert_eq!(loads(&script), "xx");
        start(processor.clone(), kept.clone(), Map::new(), Control::new()).await.unwrap().unwrap();
        assert_eq!(loads(&script), "xx", "it is still there for its own");
    });
}

#[test]
fn a_module_that_takes_longer_than_the_question_may_goes_on_loading_for_the_run() {
    let code = format!("{NOTES} const end = Date.now() + 700; while (Date.now() < end);");
    let script = Script::new("p.cjs", &code);
    let patient = processor(&script.path("p.cjs"), &["count"]);
    let ExportsAnswer { names, kept, .. } =
        asked(&Processor { timeout: Duration::from_millis(200), ..patient.clone() });
    assert!(names.unwrap_err().contains("was not loaded within 200 ms"));
    on_a_shard(async || {
        let mut told = Vec::new();
        let started =
            Sidecar::start(patient, kept, Map::new(), Control::new(), &mut |said| told.push(said)).await;
        assert_eq!(set(&call(&started.unwrap().unwrap(), 1, "count", json!({})).await), json!({ "n": 1 }));
        assert_eq!(loads(&script), "x");
        let line = |text: &str, is_error| Said::Printed { is_error, text: text.to_owned() };
        assert_eq!(told, [line("loaded", false), line("with care", true)]);
    });
}

#[test]
fn a_module_that_cannot_be_loaded_is_not_tried_again_and_what_it_printed_before_is_told() {
    for (name, code, why) in [
        ("p.cjs", "process.stdout.write('half a line'); throw new Error('broken');", "broken"),
        ("q.cjs", "console.log('half a line'); process.exit(3);", "Node ended before it was loaded"),
        ("r.mjs", "console.log('half a line'); await import('./gone.mjs');", "Cannot find module"),
    ] {
        let script = Script::new(name, code);
        let processor = processor(&script.path(name), &[]);
        let ExportsAnswer { names, kept, told } = asked(&processor);
        assert!(names.as_ref().is_err_and(|told| told.contains(why)), "{names:?}");
        assert_eq!(told, [(Speaker::Output, "half a line".to_owned())], "{name}");
        std::fs::remove_file(script.path(name)).unwrap();
        on_a_shard(async || {
            let again = start(processor, kept, Map::new(), Control::new()).await;
            assert_eq!(again.err().map(|told| told.to_string()), names.err());
        });
    }
}

#[test]
fn what_a_module_prints_is_told_while_it_is_still_being_loaded() {
    on_a_shard(async || {
        let code = "console.log('first'); await new Promise((done) => setTimeout(done, 400)); console.log('second');";
        let script = Script::new("p.mjs", code);
        let begun = Instant::now();
        let mut told = Vec::new();
        let processor = processor(&script.path("p.mjs"), &[]);
        let tell = &mut |said| told.push((said, begun.elapsed()));
        Sidecar::start(processor, LoadedProcessor::default(), Map::new(), Control::new(), tell)
            .await
            .unwrap()
            .unwrap();
        let [(_, first), (_, second)] = told.as_slice() else { panic!("{told:?}") };
        assert!(*second - *first >= Duration::from_millis(300), "{told:?}");
    });
}

#[test]
fn what_a_module_wants_the_command_to_end_with_is_for_the_run() {
    let script = Script::new("p.cjs", "artillery.suggestedExitCode = 7;");
    let processor = processor(&script.path("p.cjs"), &[]);
    let ExportsAnswer { kept, .. } = asked(&processor);
    on_a_shard(async || {
        let mut told = Vec::new();
        Sidecar::start(processor, kept, Map::new(), Control::new(), &mut |said| told.push(said))
            .await
            .unwrap();
        assert_eq!(told, [Said::ExitCode(7)]);
    });
}
