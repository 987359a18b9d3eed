//! Variables that all users begin with, and what is told of a user's own.

use super::*;

async fn sharing(script: &Script, shared: Value) -> Rc<Sidecar> {
    let processor = processor(&script.path("p.cjs"), &[]);
    let started =
        start(processor, LoadedProcessor::default(), shared.as_object().unwrap().clone(), Control::new())
            .await;
    started.unwrap().unwrap()
}

#[test]
fn functions_find_what_all_users_share_and_the_environment_and_none_of_it_comes_back() {
    on_a_shard(async || {
        let code = "exports.see = async (context) => {
               const { word, $environment, $env, $processEnvironment } = context.vars;
               context.vars = { ...context.vars, seen: [word, $environment, $env.SONAGI_STAND_IN, $processEnvironment === process.env] };
             };
             exports.drop = async ({ vars }) => { delete vars.word; vars.$environment = undefined; };
             exports.look = async ({ vars }) => { vars.seen = [vars.word ?? 'gone', vars.$environment ?? 'gone']; };
             exports.put = async ({ vars }) => { vars.word = 'Sesam'; };";
        let script = Script::new("p.cjs", code);
        let sidecar = sharing(&script, json!({ "word": "Sesam", "$environment": "staging" })).await;
        let answer = call(&sidecar, 1, "see", json!({ "own": 1 })).await;
        assert_eq!(set(&answer), json!({ "seen": ["Sesam", "staging", "here", true] }));
        assert_eq!(answer.unset, [] as [&str; 0]);
        let answer = call(&sidecar, 1, "drop", json!({})).await;
        assert_eq!((set(&answer), answer.unset), (json!({}), vec!["word".into(), "$environment".into()]));
        let answer = call(&sidecar, 1, "look", json!({})).await;
        assert_eq!((set(&answer), answer.unset), (json!({ "seen": ["gone", "gone"] }), vec![]), "told once");
        let answer = call(&sidecar, 1, "put", json!({})).await;
        assert_eq!(set(&answer), json!({ "word": "Sesam" }), "it has to be told that it is there again");
        let other = call(&sidecar, 2, "look", json!({})).await;
        assert_eq!(set(&other), json!({ "seen": ["Sesam", "staging"] }), "another user has them still");
        let without = json!({ "unset": ["word"] });
        let third = ask(&sidecar, 3, Kind::Function, "look", json!({}), without).await.unwrap();
        assert_eq!((set(&third), third.unset), (json!({ "seen": ["gone", "staging"] }), vec![]));
    });
}

#[test]
fn a_shared_object_is_one_for_all_and_only_a_small_one_is_looked_into() {
    on_a_shard(async || {
        let code =
            "exports.take = async ({ vars }) => { vars.taken = vars.people.pop().id; vars.small.n += 1; };
             exports.count = async ({ vars }) => {
               vars.people.toJSON = () => { vars.looked = true; };
               vars.left = vars.people.length;
             };
             exports.replace = async ({ vars }) => { vars.people = [1]; };";
        let script = Script::new("p.cjs", code);
        let people: Vec<_> = (0..2000).map(|id| json!({ "id": id, "name": "somebody" })).collect();
        let sidecar = sharing(&script, json!({ "people": people, "small": { "n": 0 } })).await;
        for (user, taken) in [(1, 1999), (2, 1998)] {
            let answer = call(&sidecar, user, "take", json!({})).await;
            let n = user;
            assert_eq!(set(&answer), json!({ "taken": taken, "small": { "n": n } }), "as in Artillery");
        }
        assert_eq!(set(&call(&sidecar, 1, "count", json!({})).await)["left"], 1998);
        assert_eq!(
            set(&call(&sidecar, 1, "count", json!({})).await),
            json!({}),
            "its text was not asked for"
        );
        let replaced = call(&sidecar, 1, "replace", json!({})).await;
        assert_eq!(set(&replaced), json!({ "people": [1] }));
    });
}

#[test]
fn one_users_odd_variables_are_no_others_trouble() {
    on_a_shard(async || {
        let code = "exports.spoil = ({ vars }, events, done) => { vars.list = [1]; done(); vars.list.push(1n); vars.list.push(vars); };
             exports.cycle = async ({ vars }) => { vars.self = vars; vars.n = 10n; vars.kept = 1; };
             exports.throws = async ({ vars }) => { Object.defineProperty(vars, 'bad', { enumerable: true, get() { throw new Error('unreadable'); } }); };
             exports.empty = async (context) => { context.vars = null; };
             exports.text = async (context) => { context.vars = 'abc'; };
             exports.frozen = async (context) => { context.vars = Object.freeze({ n: 1 }); };
             exports.fine = async ({ vars }) => { vars.fine = true; };";
        let script = Script::new("p.cjs", code);
        let sidecar = started(&script, "p.cjs").await;
        assert_eq!(set(&call(&sidecar, 1, "spoil", json!({})).await), json!({ "list": [1] }));
        assert_eq!(set(&call(&sidecar, 2, "cycle", json!({})).await), json!({ "kept": 1 }));
        let unreadable = call(&sidecar, 3, "throws", json!({})).await.error.unwrap();
        assert_eq!(unreadable.message, "unreadable");
        for (user, function) in [(4, "empty"), (5, "text")] {
            let answer = call(&sidecar, user, function, json!({ "n": 1 })).await;
            assert_eq!((set(&answer), answer.unset), (json!({}), vec!["n".to_owned()]), "{function}");
            let answer = call(&sidecar, user, "fine", json!({ "n": 2 })).await;
            assert_eq!(set(&answer), json!({ "fine": true }), "{function}");
        }
        call(&sidecar, 6, "frozen", json!({})).await;
        let news = json!({ "n": 2 });
        let (frozen, fine) =
            tokio::join!(call(&sidecar, 6, "fine", news), call(&sidecar, 7, "fine", json!({})));
        let why = frozen.error.unwrap().message;
        assert!(why.starts_with("Cannot assign to read only property 'n'"), "{why}");
        assert_eq!(
            (set(&fine), fine.error),
            (json!({ "fine": true }), None),
            "it was asked in the same breath"
        );
    });
}
