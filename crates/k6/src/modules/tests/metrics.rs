use crate::runtime::tests::{check, run};

#[test]
fn values_become_numbers_as_number_makes_them_and_what_is_true_is_one() {
    let seen = run(
        "import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
         const counter = new Counter('a_counter'), rate = new Rate('a_rate'), trend = Trend('a_trend', true);
         export default () => {
           counter.add('7'); counter.add('0'); rate.add(true); rate.add(false); trend.add(new Date(5)); trend.add(-4.5);
           const { add } = counter; console.log(add(2), counter.name, JSON.stringify(counter));
         }",
    );
    assert_eq!(seen.lines, ["true a_counter {\"name\":\"a_counter\"}"], "{:?}", seen.outcome);
    let samples =
        ["a_counter 7", "a_counter 1", "a_rate 1", "a_rate 0", "a_trend 5", "a_trend -4.5", "a_counter 2"];
    assert_eq!(seen.samples, samples);
}

#[test]
fn what_is_no_number_is_warned_of_and_not_counted() {
    check(
        "import { Counter } from 'k6/metrics';
         const counter = new Counter('some');
         export default () => {
           for (const value of ['seven', NaN, null, undefined, {}]) console.log(counter.add(value));
           console.log(counter.add());
           try { counter.add(5n); } catch (e) { console.log(e.name); }
           counter.add('x'.repeat(120));
         }",
        &[
            "'seven' is an invalid value for metric 'some', a number or a boolean value is expected",
            "false",
            "'NaN' is an invalid value for metric 'some', a number or a boolean value is expected",
            "false",
            "'null' is an invalid value for metric 'some', a number or a boolean value is expected",
            "false",
            "'undefined' is an invalid value for metric 'some', a number or a boolean value is expected",
            "false",
            "'[object Object]' is an invalid value for metric 'some', a number or a boolean value is expected",
            "false",
            "no value was provided for metric 'some', a number or a boolean value is expected",
            "false",
            "TypeError",
            &format!(
                "'{0}... omitting 20 characters ...{0}' is an invalid value for metric 'some', a number or a boolean value is expected",
                "x".repeat(50)
            ),
        ],
    );
}

#[test]
fn samples_have_the_users_tags_and_their_own() {
    let seen = run("import { Counter } from 'k6/metrics';
         import { group } from 'k6';
         const counter = new Counter('some');
         export default () => {
           counter.add(1, { a: 1, b: true, c: 'x' });
           group('g', () => counter.add(2, null));
           counter.add(3, 'no'); counter.add(4, 7);
           for (const tags of [{ a: {} }, { a: null }, { a: undefined }, { a: ['b'] }])
             try { counter.add(5, tags); } catch (e) { console.log(e.name, e.message.slice(0, 44)); }
         }");
    assert_eq!(seen.lines, ["GoError cannot add tags for the 'some' custom metric"; 4], "{:?}", seen.outcome);
    let samples: Vec<&str> =
        seen.samples.iter().map(String::as_str).filter(|sample| !sample.starts_with("group")).collect();
    assert_eq!(
        samples,
        ["some 1 a=1 b=true c=x", "some 2 group=::g", "some 3 0=n 1=o group=", "some 4 group="]
    );
}

#[test]
fn metrics_are_made_in_init_code_by_names_that_are_some() {
    check(
        "import { Counter, Trend } from 'k6/metrics';
         const tried = (what) => { try { what(); return 'works'; } catch (e) { return e.name; } };
         const seen = [
           () => new Counter('some'), () => new Counter('some'), () => new Trend('some'), () => new Counter('some', true),
           () => new Counter('a'), () => new Counter(), () => new Counter('with-dash'), () => new Counter('http_reqs'),
           () => new Trend('http_reqs'), () => new Counter('some').add(1),
         ].map(tried);
         export default () => console.log(seen.join(' '), tried(() => new Counter('late')));",
        &["works works GoError GoError GoError GoError GoError works GoError GoError GoError"],
    );
}
