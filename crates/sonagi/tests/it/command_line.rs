use crate::support::{Answer, Place};
use std::io::Write;
use std::process::Stdio;

#[test]
fn help_lists_every_command_and_every_exit_code() {
    let answer = Place::new().sonagi(&["--help"]);
    assert_eq!(answer.code, Some(0));
    for word in ["run", "check", "serve", "demo", "report", "completions", "man", "NO_COLOR", "130"] {
        assert!(answer.out.contains(&format!("  {word}  ")), "{word}: {}", answer.out);
    }
    assert_eq!(answer.err, "");
}

#[test]
fn a_misspelt_command_is_answered_with_the_nearest_one_and_exit_code_2() {
    let answer = Place::new().sonagi(&["serv"]);
    assert_eq!((answer.code, answer.out.as_str()), (Some(2), ""));
    assert!(answer.err.contains("'serve'"), "{}", answer.err);
}

#[test]
fn a_flag_with_a_bad_value_is_named_with_its_rule_before_anything_runs() {
    let place = Place::new();
    let cases: [(&[&str], &str); 12] = [
        (&["run"], "<SCRIPT>"),
        (&["run", "x.yml", "--shards", "0"], "1..=1024"),
        (&["run", "x.yml", "-v", "[1]"], "--variables: it takes a JSON object"),
        (&["run", "x.yml", "--overrides", "{a:1}"], "hint: quote it for the shell"),
        (&["run", "x.yml", "--source-address", "127.0.0.9-127.0.0.2"], "a range ascends"),
        (&["run", "x.yml", "--summary", "k6"], "artillery"),
        (&["run", "x.yml", "--json", "--summary", "artillery"], "cannot be used with"),
        (&["serve", "--ping-interval", "5d"], "a number with ms, s, m or h"),
        (&["serve", "--ping-interval", "0"], "longer than 0"),
        (&["serve", "--seed-users", "3", "--credentials", "a.txt"], "ends in .csv or .json"),
        (&["serve", "--credentials", "a.csv"], "--seed-users N"),
        (&["serve", "--seed-users", "0", "--credentials", "a.csv"], "--seed-users N"),
    ];
    for (arguments, rule) in cases {
        let answer = place.sonagi(arguments);
        assert_eq!((answer.code, answer.out.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(answer.err.contains(rule), "{arguments:?}: {}", answer.err);
    }
    assert_eq!(place.folders().len(), 0);
}

#[test]
fn completions_and_manual_pages_come_from_the_same_definition() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish"] {
        let answer = place.sonagi(&["completions", shell]);
        assert_eq!(answer.code, Some(0));
        assert!(answer.out.contains("source-address"), "{shell}");
    }
    let answer = place.sonagi(&["man"]);
    assert!(answer.out.contains(".TH sonagi 1"), "{}", answer.out);
    let answer = place.sonagi(&["man", "run"]);
    assert!(answer.out.contains("source\\-address"), "{}", answer.out);
    assert_eq!(place.sonagi(&["man", "nothing"]).code, Some(2));
}

#[test]
fn the_schema_of_scripts_is_printed_as_one_json_document() {
    let schema = Place::new().sonagi(&["schema"]).json();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    let cursor = &schema["$defs"]["config.reconnect"]["properties"]["cursor"];
    assert_eq!(cursor["examples"][0], "seq", "{cursor}");
}

#[test]
fn a_reader_that_went_away_is_no_panic() {
    let place = Place::new();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = place.command(&["run", "--help"]).stdout(writer).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn a_folder_that_is_no_run_folder_cannot_be_reported() {
    let answer = Place::new().sonagi(&["report", "nowhere"]);
    assert_eq!((answer.code, answer.out.as_str()), (Some(4), ""));
    assert!(answer.err.contains("nowhere"), "{}", answer.err);
}

#[test]
fn a_proxy_of_the_environment_is_not_used_and_a_run_says_so() {
    let place = Place::new();
    let said = |host: &str, flags: &[&str]| {
        let text = format!(
            "config: {{target: \"http://{host}:9\", phases: [{{duration: 1, arrivalCount: 1}}]}}\n\
             scenarios: [{{flow: [{{get: {{url: /}}}}]}}]\n"
        );
        place.write("s.yml", &text);
        let mut command = place.command(&[&["run", "s.yml"], flags].concat());
        let answer = Answer::from(command.env("HTTPS_PROXY", "http://127.0.0.1:9").output().unwrap());
        answer
            .err
            .contains("notice: HTTPS_PROXY is set and not used: connections go straight to the target\n")
    };
    // This machine, said in a way that does not look like it.
    assert!(said("[::ffff:127.0.0.1]", &[]));
    assert!(!said("[::ffff:127.0.0.1]", &["-q"]));
    assert!(!said("127.0.0.1", &[]));
}

#[test]
fn what_a_flag_or_a_folder_is_mistaken_for_is_named() {
    let place = Place::new();
    place.write("a.yml", "config: {target: 'http://127.0.0.1:9'}\nscenarios: [{flow: [{get: {url: /}}]}]\n");
    place.write("x.js", "export default () => {};\n");
    let cases: [(&[&str], i32, &str); 6] = [
        (&["rn"], 2, "a similar subcommand exists: 'run'"),
        (
            &["run", "a.yml", "--vus", "10"],
            2,
            "'--vus' is a flag of k6 scripts (.js, .ts); a YAML script says in `config.phases` how many users come, and when",
        ),
        (
            &["run", "a.yml", "-t", "127.0.0.1:1"],
            2,
            "--target: target is an address that begins with http://",
        ),
        (
            &["run", "."],
            2,
            ".: a script is a file; this is a folder\n  hint: name the files in it that are to be run",
        ),
        (&["run", "absent.yml"], 2, "absent.yml: cannot read the script: No such file"),
        (&["run", "absent.js"], 255, "absent.js: No such file"),
    ];
    for (arguments, code, said) in cases {
        let answer = place.sonagi(arguments);
        assert_eq!((answer.code, answer.out.as_str()), (Some(code), ""), "{arguments:?}: {}", answer.err);
        assert!(answer.err.contains(said), "{arguments:?}: {}", answer.err);
        assert!(!answer.err.contains("similar argument"), "{arguments:?}: {}", answer.err);
    }
}

/// Runs a command with a script on its standard input.
fn piped(place: &Place, command: &str, text: &str) -> Answer {
    let mut child = place.command(&[command, "-"]).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    Answer::from(child.wait_with_output().unwrap())
}

#[test]
fn standard_input_takes_k6_scripts_and_says_so_to_others() {
    let place = Place::new();
    let answer = piped(&place, "run", "export default () => { console.log('ran'); };\n");
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert!(answer.err.contains("msg=ran"), "{answer:?}");
    for text in ["config: {target: 'http://127.0.0.1:9'}\nscenarios: []\n", "{\"config\": {}}"] {
        for (command, code) in [("run", 255), ("check", 2)] {
            let answer = piped(&place, command, text);
            assert_eq!(answer.code, Some(code), "{answer:?}");
            let said = "`-` takes a k6 script from standard input; this one is YAML or JSON";
            assert!(format!("{}{}", answer.out, answer.err).contains(said), "{answer:?}");
        }
    }
}

#[test]
fn the_pages_and_help_of_run_lead_to_k6_s_flags() {
    let place = Place::new();
    let answer = place.sonagi(&["run", "--help"]);
    assert!(answer.out.contains("`sonagi run script.js --help` lists them"), "{}", answer.out);
    let answer = place.sonagi(&["run", "script.js", "--help"]);
    for said in ["--vus <N>", "--stage <TIME:N>", "107  The script threw", "255  "] {
        assert!(answer.out.contains(said), "{said}: {}", answer.out);
    }
}

#[test]
fn a_folder_of_runs_is_listed_newest_first() {
    let place = Place::new();
    place.write("a.yml", "config: {target: 'http://127.0.0.1:9'}\nscenarios: [{flow: [{think: 0.1}]}]\n");
    for name in ["one", "two"] {
        assert_eq!(place.sonagi(&["run", "a.yml", "--name", name]).code, Some(0));
    }
    // A folder that is no run, and a run that was cut off before its first second.
    let runs = place.path().join("runs");
    std::fs::create_dir(runs.join("other")).unwrap();
    std::fs::create_dir(runs.join("20200101-000000-old")).unwrap();
    std::fs::write(runs.join("20200101-000000-old/run.json"), "{\"header\": {}, \"summary\": null}").unwrap();
    let answer = place.sonagi(&["report", "runs/"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let lines: Vec<(&str, &str)> = answer
        .out
        .lines()
        .map(|line| line.split_once(' ').map(|(word, rest)| (word, rest.trim())).unwrap())
        .collect();
    let ends =
        |(word, folder): &(&str, &str), verdict: &str, name: &str| *word == verdict && folder.ends_with(name);
    assert_eq!(lines.len(), 3, "{}", answer.out);
    assert!(ends(&lines[0], "PASS", "-two") && ends(&lines[1], "PASS", "-one"), "{}", answer.out);
    assert_eq!(lines[2], ("cut", "off     runs/20200101-000000-old"), "{}", answer.out);
    let answer = place.sonagi(&["report", "runs/", "--json"]);
    assert_eq!((answer.code, answer.out.as_str()), (Some(4), ""));
    assert!(answer.err.contains("holds several runs") && answer.err.contains("-two"), "{}", answer.err);
}
