use super::*;
use crate::settings::Restart;
use serde_json::json;

#[test]
fn everything_a_script_may_say_is_read() {
    let launch = read(&json!({
        "command": "node dist/main.js",
        "folder": "../service",
        "env": { "DB_POOL": 10, "NAME": "x" },
        "ready": "http://127.0.0.1:3000/healthz?deep=1",
        "patience": "5s",
        "stop": { "signal": "SIGINT", "grace": 2 },
        "limits": {
            "cpu": 0.5, "memory": "1 GB", "swap": "2 GB", "nofile": 1024,
            "network": { "latency": "20ms", "bandwidth": "60mbit", "cut": { "every": "30s" } }
        },
        "before": ["psql", "-f", "reset.sql"],
        "after": "./clean.sh"
    }))
    .unwrap();
    assert_eq!(launch.command.words, ["sh", "-c", "node dist/main.js"]);
    assert_eq!(launch.env, [("DB_POOL".to_owned(), "10".to_owned()), ("NAME".to_owned(), "x".to_owned())]);
    let path = "/healthz?deep=1".to_owned();
    assert_eq!(launch.ready, Some(Ready::Http { host: "127.0.0.1".to_owned(), port: 3000, path }));
    assert_eq!((launch.stop.by, launch.stop.grace), (StopBy::Signal(2), Duration::from_secs(2)));
    assert_eq!((launch.limits.cpu, launch.limits.memory), (Some(0.5), Some(1_000_000_000)));
    assert_eq!(launch.limits.swap, Some(2_000_000_000));
    let network = launch.network.unwrap();
    assert_eq!((network.latency, network.bandwidth), (Duration::from_millis(20), Some(60_000_000)));
    assert_eq!(network.cut, Some(Duration::from_secs(30)));
    assert_eq!(launch.before.unwrap().words, ["psql", "-f", "reset.sql"]);
    let ready = |ready: Value| read(&json!({ "command": "x", "ready": ready })).unwrap().ready.unwrap();
    assert_eq!(ready(json!(3000)), Ready::Port(3000));
    assert_eq!(ready(json!("port 3000")), Ready::Port(3000));
    assert_eq!(ready(json!({ "line": "listening" })), Ready::Line("listening".to_owned()));
    let v6 = Ready::Http { host: "::1".to_owned(), port: 80, path: "/".to_owned() };
    assert_eq!(ready(json!("http://[::1]")), v6);
}

#[test]
fn swap_is_beyond_a_limit_of_memory() {
    let of = |limits: Value| read(&json!({ "command": "x", "host": "t2.micro", "limits": limits })).unwrap();
    assert_eq!(of(json!({ "swap": "1 GiB" })).limits.swap, Some(1 << 30));
    assert_eq!(of(json!({ "swap": 0 })).limits.swap, None, "an axis may have none");
    let mistakes = read(&json!({ "command": "x", "limits": { "swap": "1 GB" } })).unwrap_err();
    assert_eq!(mistakes[0].what, "swap is beyond a limit of memory, and there is none");
    let mistakes = read(&json!({ "command": "x", "limits": { "swap": "much", "memory": 7 } })).unwrap_err();
    let told: Vec<&str> = mistakes.iter().map(|mistake| mistake.pointer.as_str()).collect();
    assert_eq!(told, ["/limits/memory", "/limits/swap"], "{mistakes:?}");
}

#[test]
fn a_host_stands_for_limits_and_the_scripts_own_go_before_them() {
    let limits = |value: Value| read(&value).unwrap().limits;
    let whole = limits(json!({ "command": "x", "host": "t2.micro" }));
    assert_eq!((whole.cpu, whole.memory), (Some(1.0), Some(1 << 30)));
    let fewer = limits(
        json!({ "command": "x", "host": "t2.micro", "limits": { "credits": 0, "memory": "512 MiB" } }),
    );
    assert_eq!((fewer.credits.unwrap().at_start, fewer.memory), (0.0, Some(512 << 20)));
    let own = limits(json!({ "command": "x", "host": "t2.micro", "limits": { "cpu": 2 } }));
    assert_eq!((own.cpu, own.credits, own.memory), (Some(2.0), None, Some(1 << 30)));
    let many = json!({ "command": "x", "host": "t2.micro", "limits": { "credits": 200 } });
    assert_eq!(read(&many).unwrap_err()[0].what, "the host saves up at most 144 credits, got 200");
}

#[test]
fn no_host_leaves_all_limits_out_and_tells_the_mistakes_in_them() {
    let limits = |host: &str, latency: &str| {
        let limits = json!({
            "credits": 144, "cpu": 0.5, "memory": "1 GB", "nofile": 64, "network": { "latency": latency }
        });
        read(&json!({ "command": "x", "host": host, "limits": limits }))
    };
    let none = limits("none", "20ms").unwrap();
    assert_eq!((none.limits, none.network), (Limits::default(), None));
    assert_eq!(limits("none", "soon").unwrap_err()[0].pointer, "/limits/network/latency");
    // Of any other host they are held, and an own processor has no credits.
    assert_eq!(limits("t2.micro", "20ms").unwrap_err()[0].pointer, "/limits/credits");
}

#[test]
fn all_mistakes_are_told_at_once_each_with_its_place() {
    let mistakes = read(&json!({
        "comand": "node",
        "folder": 7,
        "env": { "A": [], "B=C": "" },
        "ready": "https://127.0.0.1",
        "patience": "soon",
        "stop": { "signal": "SIGNOPE", "grace": "1h" },
        "limits": { "cpu": 0, "memory": "1 TB", "nofile": 1.5, "credits": 3, "netwrok": {},
            "network": { "bandwidth": 60, "cut": 5 } },
        "host": "t2.mikro",
        "before": []
    }))
    .unwrap_err();
    let told: Vec<String> = mistakes
        .iter()
        .map(|Mistake { pointer, what, hint, .. }| {
            format!("{pointer} {what}{}", hint.as_ref().map(|hint| format!(" | {hint}")).unwrap_or_default())
        })
        .collect();
    let expected = [
        "/comand unknown key \"comand\" in launch | did you mean \"command\"?",
        "/folder folder wants a folder's name; got 7 | e.g. `folder: ../service`",
        "/env/A A in env wants a text; got a list of 0 | e.g. `env: { DB_POOL: 10 }`",
        "/env/B=C a variable's name has no `=` and is not empty; got \"B=C\" | e.g. `env: { DB_POOL: 10 \
         }`",
        "/ready ready wants http://HOST:PORT/PATH, a port or {line: TEXT}; got \"https://127.0.0.1\" | \
         name its port instead, e.g. `ready: port 3443`",
        "/patience patience wants a time: seconds, or a text like \"500ms\", \"30s\", \"5m\"; got \
         \"soon\" | e.g. `patience: 30s`",
        "/stop/signal signal wants one of SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGKILL, SIGUSR1, SIGUSR2, \
         SIGWINCH; got \"SIGNOPE\" | e.g. `signal: SIGTERM`",
        "/stop/grace grace wants a time of at most 10 minutes; got \"1h\" | e.g. `grace: 10s`",
        "/host host wants the name of a known machine; got \"t2.mikro\" | did you mean \"t2.micro\"? \
         Known: t2.nano, t2.micro, t2.small, t2.medium, t3.nano, t3.micro, t3.small, t3.medium, none",
        "/limits/netwrok unknown key \"netwrok\" in limits | did you mean \"network\"?",
        "/limits/cpu cpu wants a number of cores, at least 0.01; got 0 | e.g. `cpu: 0.5`",
        "/limits/memory memory wants a size of at least 1 MB, as 1 GB or 512 MiB; got \"1 TB\" | e.g. \
         `memory: 1 GB`",
        "/limits/nofile nofile wants a number of files, at least 8; got 1.5 | e.g. `nofile: 1024`",
        "/limits/credits credits are those of a `host` that has some, and of its processor | e.g. `host: \
         t2.micro`, without `limits.cpu`",
        "/limits/network/bandwidth bandwidth wants bits a second, as 60mbit; got 60 | e.g. `bandwidth: \
         60mbit`",
        "/limits/network/cut cut wants a mapping; got 5 | e.g. `cut: { every: 30s }`",
        "/before before wants a text for `sh -c`, or a list of a program and its arguments; got a list of \
         0 | e.g. `before: psql -f reset.sql`",
    ];
    assert_eq!(told, expected);
    let none = read(&json!({})).unwrap_err();
    assert_eq!((none.len(), none[0].what.as_str()), (1, "launch has no command"));
}

#[test]
fn a_service_that_runs_already_has_commands_that_restart_it() {
    let launch = read(&json!({
        "apply": "./set-pool.sh 10",
        "restart": ["systemctl", "restart", "chat"],
        "read": { "command": "./get-pool.sh", "equals": 10 },
        "restore": "./set-pool.sh 5",
        "ready": "port 3000"
    }))
    .unwrap();
    assert_eq!(launch.command.words, ["systemctl", "restart", "chat"]);
    let restart = launch.restart.unwrap();
    assert_eq!(restart.apply.unwrap().shown, "./set-pool.sh 10");
    assert_eq!(restart.restore.unwrap().words, ["sh", "-c", "./set-pool.sh 5"]);
    assert_eq!(restart.read.unwrap().equals, "10");
    let bare = read(&json!({ "restart": "systemctl restart chat" })).unwrap();
    assert_eq!(bare.restart, Some(Restart::default()));
}

#[test]
fn what_belongs_to_a_service_of_the_other_kind_is_a_mistake() {
    let told = |value: Value| -> Vec<String> {
        let mistakes = read(&value).unwrap_err();
        let line =
            |Mistake { pointer, what, hint, .. }: Mistake| format!("{pointer} {what} | {}", hint.unwrap());
        mistakes.into_iter().map(line).collect()
    };
    let both = json!({
        "command": "node main.js", "restart": "systemctl restart chat", "apply": "./set.sh", "host": "t2.micro",
        "read": { "command": "./get.sh", "equals": null }, "ready": { "line": "listening" }, "env": { "POOL": 2 }
    });
    let expected = [
        "/env env would stay with a service that goes on after the run | write the values into the commands: `apply: \
         ./set-pool.sh {{ pool }}`",
        "/command command is for a service that is started, and launch has `restart`, for one that runs already | leave \
         out one of the two",
        "/host host is for a service that is started, and launch has `restart`, for one that runs already | leave out \
         one of the two",
        "/apply apply changes the service, and nothing says how to undo it | add `restore`, the command that sets what \
         was there before",
        "/read read has no `equals` | e.g. `read: { command: ./get-pool.sh, equals: 10 }`",
        "/ready a service that runs already prints its lines elsewhere | e.g. `ready: http://127.0.0.1:3000/healthz`",
    ];
    assert_eq!(told(both), expected);
    let expected = [
        "/restore restore is for a service that runs already, and launch has no `restart` | e.g. `restart: \
                     systemctl restart chat`",
    ];
    assert_eq!(told(json!({ "command": "node main.js", "restore": "./set.sh" })), expected);
    assert!(told(json!({ "restart": null }))[0].starts_with(" launch has no command | "));
}
