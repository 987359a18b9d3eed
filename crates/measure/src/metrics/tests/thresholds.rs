use super::*;

fn limited(limits: &[(&str, &str)]) -> (MetricStore, Sampler) {
    let registry = registry();
    let mut store = MetricStore::new(registry.clone());
    for (metric, source) in limits {
        store.limit(metric, source, AbortRule::default()).unwrap();
    }
    (store, sampler(&registry))
}

fn crossed(store: &mut MetricStore, finally: bool) -> String {
    store.judge(SECOND, finally).metrics.join(", ")
}

#[test]
fn an_expression_is_a_method_an_operator_and_a_number() {
    use crate::expression::Operator::*;
    use Aggregation::*;
    for (source, aggregation, operator, number) in [
        ("count>5", Count, Greater, 5.0),
        ("rate<=0.01", Rate, LessEqual, 0.01),
        ("value>=-2", Value, GreaterEqual, -2.0),
        ("  avg   <  1.5e3 ", Avg, Less, 1500.0),
        ("min==.5", Min, Equal, 0.5),
        ("med===+7", Med, Equal, 7.0),
        ("max!=0", Max, NotEqual, 0.0),
        ("p(99.9) < 300", Percentile(99.9), Less, 300.0),
    ] {
        assert_eq!(Expression::parse(source), Ok(Expression { aggregation, operator, number }), "{source}");
    }
}

#[test]
fn what_is_no_expression_says_why() {
    let why = |source| Expression::parse(source).unwrap_err().to_string();
    for source in ["", "avg", "avg<", "<5", "avg=0", "avg=<1", "avg!1"] {
        assert!(
            why(source).starts_with(&format!("threshold \"{source}\" is no comparison\nhint: ")),
            "{source}"
        );
    }
    for source in ["foo<1", "p95<1", "AVG<1", "sum<1", "1>avg", "p (5)<1"] {
        assert!(why(source).contains(": unknown aggregation \""), "{source}");
    }
    let p95 = why("p95<1");
    assert!(
        p95.starts_with("threshold \"p95<1\": unknown aggregation \"p95\"; use p(95)\nhint: there are"),
        "{p95}"
    );
    for source in ["p(101)<1", "p(-1)<1", "p()<1", "p( 90 )<1", "p(9.5.5)<1"] {
        assert!(why(source).ends_with(", which is not a number from 0 to 100"), "{source}");
    }
    for source in ["avg<1ms", "avg<0x10", "avg<x"] {
        assert!(why(source).ends_with(", which is no number"), "{source}");
    }
    assert_eq!(
        why("avg<1&&max<1"),
        "threshold \"avg<1&&max<1\" compares with \"1&&max<1\", which is no number\n\
         hint: a threshold is one comparison; write several as several thresholds"
    );
}

#[test]
fn a_kind_of_metric_has_only_its_own_methods() {
    let methods = ["count", "rate", "value", "avg", "min", "med", "max", "p(90)"];
    let mut store = MetricStore::new(registry());
    let mut fitting = |metric| {
        let fits = |method: &&&str| store.limit(metric, &format!("{method}<1"), AbortRule::default()).is_ok();
        methods.iter().filter(fits).copied().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(fitting("cc"), "count rate");
    assert_eq!(fitting("gg{a:b}"), "value");
    assert_eq!(fitting("rr"), "rate");
    assert_eq!(fitting("tt"), "avg min med max p(90)");
    assert_eq!(fitting("nope"), "");
    let why = |store: &mut MetricStore, metric| {
        store.limit(metric, "avg<1", AbortRule::default()).unwrap_err().to_string()
    };
    assert_eq!(
        why(&mut store, "cc"),
        "threshold \"avg<1\" cannot be applied to metric cc, which is a counter\nhint: a counter has count and rate"
    );
    assert_eq!(
        why(&mut store, "nope{a:b}"),
        "invalid threshold on nope{a:b}: there is no metric named \"nope{a:b}\""
    );
}

#[test]
fn while_a_test_runs_metrics_without_samples_are_left_out() {
    let (mut store, mut sampler) = limited(&[("cc", "count>5"), ("tt", "avg>1"), ("gg", "value>1")]);
    assert_eq!(crossed(&mut store, false), "");
    assert_eq!(crossed(&mut store, true), "cc, gg, tt");
    sampler.observe(store.registry().get("tt").unwrap(), 1.0, &sampler.tags(), At(0));
    store.absorb(&sampler.take());
    assert_eq!(crossed(&mut store, false), "tt");
}

#[test]
fn at_the_end_what_was_never_seen_is_zero_and_a_rate_of_nothing_holds() {
    let (mut store, _) = limited(&[
        ("cc", "count<1"),
        ("cc", "rate===0"),
        ("tt", "p(95)<1"),
        ("rr", "rate>0.5"),
        ("rr", "rate==0"),
    ]);
    assert_eq!(crossed(&mut store, true), "");
    let (mut store, _) = limited(&[("cc{a:b}", "count>0"), ("rr{a:b}", "rate>0.5"), ("tt{a:b}", "max!=0")]);
    assert_eq!(crossed(&mut store, true), "cc{a:b}, tt{a:b}");
}

#[test]
fn each_operator_compares_as_it_says() {
    for (source, holds) in [
        ("value<2", false),
        ("value<=2", true),
        ("value>2", false),
        ("value>=2", true),
        ("value==2", true),
        ("value===2", true),
        ("value!=2", false),
        ("value<2.0001", true),
    ] {
        let (mut store, mut sampler) = limited(&[("gg", source)]);
        sampler.observe(store.registry().get("gg").unwrap(), 2.0, &sampler.tags(), At(0));
        store.absorb(&sampler.take());
        assert_eq!(crossed(&mut store, false).is_empty(), holds, "{source}");
    }
}

#[test]
fn a_crossed_threshold_ends_the_test_when_it_says_so_and_its_delay_is_over() {
    let registry = registry();
    let mut store = MetricStore::new(registry.clone());
    store.limit("cc", "count<1", AbortRule::default()).unwrap();
    store.limit("cc", "count<2", AbortRule { on_fail: true, delay: 10 * SECOND }).unwrap();
    let mut sampler = sampler(&registry);
    sampler.observe(registry.get("cc").unwrap(), 1.0, &sampler.tags(), At(0));
    store.absorb(&sampler.take());
    let one = |abort| Crossed { metrics: vec![Arc::from("cc")], abort };
    assert_eq!(store.judge(20 * SECOND, false), one(false), "the one that may abort holds");
    sampler.observe(registry.get("cc").unwrap(), 1.0, &sampler.tags(), At(0));
    store.absorb(&sampler.take());
    assert_eq!(store.judge(9 * SECOND, false), one(false), "too early");
    assert_eq!(store.judge(10 * SECOND, false), one(true));
}

#[test]
fn the_smallest_time_that_a_threshold_allows_is_the_objective() {
    let times = ("ms", Kind::Trend, Unit::Milliseconds);
    let registry =
        Registry::new(&[times, ("tt", Kind::Trend, Unit::Number), ("cc", Kind::Counter, Unit::Number)]);
    let mut store = MetricStore::new(Arc::new(registry));
    for (metric, source) in [("tt", "p(95)<1"), ("cc", "count<2"), ("ms", "avg>3")] {
        store.limit(metric, source, AbortRule::default()).unwrap();
    }
    assert_eq!(store.objective_ms(), None, "none limits a time from above");
    for (metric, source) in [("ms", "p(99)<300"), ("ms{a:b}", "max<=200")] {
        store.limit(metric, source, AbortRule::default()).unwrap();
    }
    assert_eq!(store.objective_ms(), Some(200.0));
}
