//! The files under `deploy/` fit the service: flags it has, and times that add up.

use crate::support::Place;

const MANIFEST: &str = include_str!("../../../../deploy/kubernetes.yaml");
const DOCKERFILE: &str = include_str!("../../../../deploy/Dockerfile");

/// The flags that the pods' service gets, with values in place of what the cluster fills in.
fn arguments() -> Vec<String> {
    let lines = MANIFEST.lines().map(str::trim).filter_map(|line| line.strip_prefix("- --"));
    let filled = |line: &str| {
        let line = line.replace("$(INSTANCE)", "1").replace("$(STORE)", "postgres://u:p@h/d");
        format!("--{}", line.replace("$(BUS)", "redis://h:1"))
    };
    lines.map(filled).collect()
}

/// The number behind a name of the manifest.
fn number(name: &str) -> u64 {
    let rest = MANIFEST.split_once(name).unwrap_or_else(|| panic!("there is no {name}")).1;
    let digits: String =
        rest.chars().skip_while(|letter| !letter.is_ascii_digit()).take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap()
}

#[test]
fn the_flags_of_the_pods_are_flags_of_the_service() {
    let arguments = arguments();
    assert_eq!(arguments.len(), 5, "{arguments:?}");
    let place = Place::new();
    let known = place.sonagi(&["serve", "--help"]).out;
    for argument in &arguments {
        let flag = argument.split('=').next().unwrap();
        assert!(known.contains(&format!("{flag} ")), "{flag} is no flag of the service");
    }
    let words = DOCKERFILE.lines().find_map(|line| line.strip_prefix("ENTRYPOINT ")).unwrap();
    let words: Vec<String> = serde_json::from_str(words).unwrap();
    assert_eq!(words[0], "sonagi");
    let mut all: Vec<&str> = words[1..].iter().map(String::as_str).collect();
    all.extend(arguments.iter().map(String::as_str));
    // Prints a configuration instead of serving, if all of it can be read.
    all.push("--print-nginx");
    let answer = place.sonagi(&all);
    assert_eq!(answer.code, Some(0), "{}", answer.err);
    assert!(answer.out.contains("listen 0.0.0.0:8080 "), "{}", answer.out);
}

#[test]
fn a_pod_has_time_to_drain_before_it_is_killed() {
    let (sleeps, grace) = (number("[\"sleep\","), number("--grace="));
    assert!(number("terminationGracePeriodSeconds:") >= sleeps + grace + 5);
    // Balancers must have heard of it by the time it refuses connections.
    assert!(
        sleeps
            > number(
                "readinessProbe:\n            httpGet: { path: /healthz, port: http }\n            periodSeconds:"
            )
    );
}

#[test]
fn nothing_runs_as_root() {
    let user = DOCKERFILE.lines().find_map(|line| line.strip_prefix("USER ")).unwrap();
    assert_eq!(user.split(':').next().unwrap(), number("runAsUser:").to_string());
    assert!(MANIFEST.contains("runAsNonRoot: true") && MANIFEST.contains("allowPrivilegeEscalation: false"));
}
