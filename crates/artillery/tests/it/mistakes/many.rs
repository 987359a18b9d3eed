//! A script with many mistakes: all are reported, in the order of lines.

use crate::support::{problems, repository};

#[test]
fn all_mistakes_of_a_script_come_at_once() {
    let text =
        std::fs::read_to_string(repository("crates/artillery/tests/it/scripts/twelve-mistakes.yml")).unwrap();
    let expected: Vec<&str> =
        text.lines().filter_map(|line| line.split_once("#! ").map(|(_, what)| what)).collect();
    assert_eq!(expected.len(), 12);
    let found: Vec<String> = problems(&text)
        .into_iter()
        .map(|problem| {
            let (line, rest) = problem.split_once(':').unwrap();
            let written = text.lines().nth(line.parse::<usize>().unwrap() - 1).unwrap();
            assert!(written.contains("#! "), "an unexpected problem on line {line}: {rest}");
            rest.split_once(": ").unwrap().1.to_owned()
        })
        .collect();
    assert_eq!(found, expected);
}
