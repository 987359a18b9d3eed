use crate::runtime::Thrown;
use crate::runtime::tests::{check, run};

#[test]
fn an_iteration_knows_its_user_and_the_tests_options() {
    check(
        "import exec, { vu } from 'k6/execution';
         const tried = (what) => { try { return what(); } catch (e) { return e.name; } };
         const init = [() => exec.vu.idInTest, () => exec.scenario.name, () => exec.test.options, () => exec.instance.vusActive];
         const seen = init.map(tried).join(' ');
         export default () => {
           console.log(seen, exec.vu === vu);
           console.log(vu.idInInstance, vu.idInTest, vu.iterationInInstance, vu.iterationInScenario);
           console.log(Object.keys(vu).sort().join(), typeof exec.test.abort, exec.test.options.batch === undefined);
           'use strict'; try { exec.test.options.scenarios = 1; } catch (e) { console.log(e.name); }
         }",
        &[
            "GoError GoError GoError GoError true",
            "1 1 0 0",
            "idInInstance,idInTest,iterationInInstance,iterationInScenario,metrics,tags function false",
            "TypeError",
        ],
    );
}

#[test]
fn tags_and_metadata_of_a_user_can_be_set_looked_at_and_taken_away() {
    let seen = run(
        "import exec from 'k6/execution';
         import { Counter } from 'k6/metrics';
         const counter = new Counter('some');
         export default () => {
           const { tags, metadata } = exec.vu.metrics;
           tags.mine = 7; exec.vu.tags.other = true; metadata.trace = 'x';
           counter.add(1);
           console.log(Object.keys(tags).join(), JSON.stringify(tags), 'mine' in tags, tags.none, String(tags));
           delete tags.mine; delete metadata.none;
           console.log(JSON.stringify(tags), JSON.stringify(metadata));
           for (const set of [() => { tags.a = {}; }, () => { exec.vu.metrics.tags = {}; }, () => { metadata.a = null; }])
             try { set(); } catch (e) { console.log(e.name); }
           counter.add(2);
         }",
    );
    let lines = [
        "mine,other {\"mine\":\"7\",\"other\":\"true\"} true  [object Object]",
        "{\"other\":\"true\"} {\"trace\":\"x\"}",
        "TypeError",
        "TypeError",
        "TypeError",
    ];
    assert_eq!(
        seen.lines,
        lines.map(|line| line.replace("true  [", "true undefined [")),
        "{:?}",
        seen.outcome
    );
    assert_eq!(seen.samples, ["some 1 mine=7 other=true", "some 2 other=true"]);
}

#[test]
fn an_abort_cannot_be_caught_and_a_failure_is_only_noted() {
    let aborted = |why: &str| Err(Thrown::Aborted(why.to_owned()));
    let seen = run(
        "import exec from 'k6/execution';
         export default () => { try { exec.test.abort('enough'); } catch { console.log('caught'); } finally { console.log('finally'); } }",
    );
    assert_eq!((seen.outcome, seen.lines), (aborted("test aborted: enough"), vec![]));
    let seen = run("import exec from 'k6/execution';
         import { sleep } from 'k6';
         const ends = async () => { await null; exec.test.abort(); };
         export default async () => { try { await ends(); } catch { sleep(1); console.log('after'); } }");
    assert_eq!((seen.outcome, seen.lines), (aborted("test aborted"), vec![]));
    check(
        "import exec from 'k6/execution'; export default () => { exec.test.fail('odd'); console.log('goes on'); }",
        &["test marked as failed: odd", "goes on"],
    );
}
