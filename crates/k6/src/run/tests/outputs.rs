//! Outputs that are written more slowly than samples come.

use super::*;
use std::io::Read;

/// A test, and what came of it and of its output.
struct Written {
    /// Whether the script's last iteration was told of before the output was read.
    is_told: bool,
    /// The output.
    text: String,
    ended: Ended,
    record: RunSummary,
    lines: Vec<String>,
}

/// Runs so many iterations, each of which makes twenty samples and more in a hundredth of a second. Whoever reads the
/// output begins when the last iteration has been told of.
fn written(iterations: u32, most_waiting: Option<u64>) -> Written {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("samples");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let wanted = Wanted::parse(&format!("json={}", pipe.display()), |_| None).unwrap();
    let wanted = match most_waiting {
        Some(most) => wanted.with_room_for(most),
        None => wanted,
    };
    let (tell, told) = std::sync::mpsc::channel();
    let reader = std::thread::spawn(move || {
        let mut samples = std::fs::File::open(&pipe).unwrap();
        let is_told = told.recv_timeout(Duration::from_secs(30)).is_ok();
        let mut text = String::new();
        samples.read_to_string(&mut text).unwrap();
        (is_told, text)
    });
    let script = format!(
        "import {{ check, sleep }} from 'k6';
         export const options = {{ iterations: {iterations} }};
         export default () => {{
           sleep(0.01);
           for (let n = 0; n < 20; n += 1) check(n, {{ 'is a number': (it) => it === n }});
           if (__ITER === {iterations} - 1) console.log('the last');
         }};"
    );
    let asked = Asked { outputs: vec![wanted], ..asked(&script) };
    let (mut record, mut lines) = (None, Vec::new());
    let abort = Arc::new(Abort::default());
    let mut on = |event: RunEvent<'_>| match event {
        RunEvent::Line(line) => {
            lines.push(line.text.clone());
            if line.text == "the last" {
                let _ = tell.send(());
            }
        }
        RunEvent::Ended(summary) => record = Some(summary.clone()),
        _ => {}
    };
    let test = load(asked, &abort, &mut on).unwrap_or_else(|_| panic!("a script that loads"));
    let ended = test.run(&abort, &mut on);
    let (is_told, text) = reader.join().unwrap();
    Written { is_told, text, ended, record: record.unwrap(), lines }
}

/// The iterations that an output tells of.
fn iterations(text: &str) -> usize {
    text.lines().filter(|line| line.contains(r#""metric":"iterations","type":"Point""#)).count()
}

/// A load thread or a collector that waited for the output would never get to its end. The samples of three seconds
/// wait: the first are being written, and those behind them must not be waited for either.
#[test]
fn an_output_that_nobody_reads_does_not_hold_the_load_up() {
    let Written { is_told, text, ended, record, .. } = written(400, None);
    assert!(is_told, "neither the load nor the collector is held up");
    assert_eq!((ended.exit, record.samples_left_out), (Exit::Passed, 0));
    assert_eq!(iterations(&text), 400);
}

#[test]
fn samples_that_found_no_room_are_counted_in_the_log_the_summary_and_the_record() {
    let Written { text, ended, record, lines, .. } = written(250, Some(100));
    let missing = record.samples_left_out;
    assert!(missing > 0 && iterations(&text) < 250, "{missing} are missing");
    let told =
        format!("an output was written more slowly than samples came: {missing} samples are not in it");
    assert!(lines.contains(&told), "{lines:?}");
    let hint = format!(
        "{missing} samples are missing in outputs (--out): they came faster than they could be written"
    );
    assert!(record.verdict.hints.contains(&hint), "{:?}", record.verdict);
    let End::Summary(summary) = ended.end else { panic!("there is a summary") };
    assert!(summary.text(false).contains(&hint), "{}", summary.text(false));
    assert_eq!(summary.data()["samples_left_out"], missing);
    assert_eq!(summary.export()["samples_left_out"], missing);
}
