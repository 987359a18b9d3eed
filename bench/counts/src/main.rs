//! `counts check` holds the instruction counts against the table, `counts update` writes it.

#![allow(clippy::disallowed_methods, clippy::print_stderr, clippy::print_stdout)]

use sonagi_counts::table::{Table, Verdict};
use sonagi_counts::workload::{self, WORKLOADS};
use sonagi_counts::{count, table};
use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "usage: counts list | run NAME N | show [NAME…] | check | update";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["list"] => {
            WORKLOADS.iter().for_each(|one| println!("{:<26} {}", one.name, one.about));
            Ok(ExitCode::SUCCESS)
        }
        ["run", name, operations] => run(name, operations),
        ["show", names @ ..] => show(names),
        ["check"] => check(),
        ["update"] => update(),
        _ => Err(USAGE.to_owned()),
    };
    done.unwrap_or_else(|why| {
        eprintln!("counts: {why}");
        ExitCode::from(2)
    })
}

/// What is counted: one workload, so many operations.
fn run(name: &str, operations: &str) -> Result<ExitCode, String> {
    let workload = workload::find(name)?;
    let operations = operations.parse().map_err(|_| format!("N must be a whole number, got {operations}"))?;
    (workload.run)(operations);
    Ok(ExitCode::SUCCESS)
}

fn show(names: &[&str]) -> Result<ExitCode, String> {
    let chosen: Vec<_> = names.iter().map(|name| workload::find(name)).collect::<Result<_, _>>()?;
    let chosen = if chosen.is_empty() { WORKLOADS.iter().collect() } else { chosen };
    print!("{}", count::all(&chosen).map_err(|error| error.to_string())?.to_text());
    Ok(ExitCode::SUCCESS)
}

fn check() -> Result<ExitCode, String> {
    let text = std::fs::read_to_string(path()).map_err(|error| format!("{}: {error}", path().display()))?;
    let known = Table::parse(&text)?;
    let machine = count::machine();
    if known.architecture() != machine.split(", ").next() {
        println!("counts: the table is of another architecture, nothing to compare (this is {machine})");
        return Ok(ExitCode::SUCCESS);
    }
    let counted = count::all(&WORKLOADS.iter().collect::<Vec<_>>()).map_err(|error| error.to_string())?;
    let verdict = Verdict::of(&known, &counted);
    print!("{}", verdict.notes());
    if verdict.passes() {
        println!("counts: {} workloads within {} %", WORKLOADS.len(), table::TOLERANCE_PERCENT);
        return Ok(ExitCode::SUCCESS);
    }
    eprint!("{}", verdict.failures());
    if known.machine != counted.machine {
        eprintln!("counts: the table is of {}, this is {}", known.machine, counted.machine);
    }
    eprintln!("  hint: make counts UPDATE=1, when the change is meant: say in the commit what it buys");
    Ok(ExitCode::FAILURE)
}

fn update() -> Result<ExitCode, String> {
    let counted = count::all(&WORKLOADS.iter().collect::<Vec<_>>()).map_err(|error| error.to_string())?;
    std::fs::write(path(), counted.to_text()).map_err(|error| format!("{}: {error}", path().display()))?;
    println!("counts: {} workloads written to {}", WORKLOADS.len(), path().display());
    Ok(ExitCode::SUCCESS)
}

fn path() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/counts.txt"))
}
