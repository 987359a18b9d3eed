//! `sonagi watch` on a page: a run without a load, live, in its folder and as a file.

use crate::page::in_file;
use crate::site::{Site, kind, start};
use crate::support::{Place, Service};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Nobody may see it.
const PASSWORD: &str = "planted-3";

/// A watch of a service and of a database that is not there.
fn watched<'a>(port: &'a str, database: &'a str) -> Vec<&'a str> {
    vec!["watch", "--port", port, "--watch", database, "--page-listen=127.0.0.1:0"]
}

/// Whether a frame names this metric.
fn names(line: &Value, metric: &str) -> bool {
    let names = line["frame"]["names"].as_array().into_iter().flatten();
    names.into_iter().any(|name| name[1]["metric"] == metric)
}

fn without_password(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
        assert!(!text.contains(PASSWORD), "{}", path.display());
    }
}

#[test]
fn a_watch_is_live_on_its_page_ends_by_its_button_and_its_folder_is_kept_without_a_password() {
    let place = Place::new();
    let service = Service::start(&place, &[]);
    let port = service.url.rsplit(':').next().unwrap();
    let database = format!("postgres://u:{PASSWORD}@127.0.0.1:1/app");
    let kept = ["--runs", "runs", "--report", "watch.html"];
    let (running, site) = start(&place, &[&watched(port, &database)[..], &kept].concat());
    let id = site.run();
    let mut lines = site.lines(&id, "");
    let (_, head) = lines.next().unwrap();
    assert_eq!(head["head"]["language"], "watch", "{head}");
    let mut seen = vec![head];
    let (mut has_memory, mut is_told) = (false, false);
    while !has_memory || !is_told {
        assert!(seen.len() < 100, "{seen:?}");
        let (_, line) = lines.next().unwrap();
        has_memory |= names(&line, "target.memory");
        is_told |= line["event"]["kind"] == "unmeasured";
        seen.push(line);
    }
    assert!(!format!("{seen:?}{}", site.text("/")).contains(PASSWORD));
    assert_eq!(site.stop(&id), 202);
    let rest: Vec<Value> = lines.all().into_iter().map(|(_, line)| line).collect();
    assert_eq!(rest.last().map(kind), Some("end"), "{rest:?}");
    assert_eq!(rest.last().unwrap()["end"]["state"], "complete");
    let answer = running.end();
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert!(!format!("{answer:?}").contains(PASSWORD), "{answer:?}");
    let folder = place.folders().pop().unwrap();
    without_password(&folder);
    let file = in_file(&place.path().join("watch.html"));
    assert_eq!(file[0]["head"]["language"], "watch");
    assert!(!format!("{file:?}").contains(PASSWORD));
    let folder = folder.to_str().unwrap();
    let reported = place.sonagi(&["report", folder]);
    assert!(reported.out.contains("watched without a load: nothing was asked of the target"), "{reported:?}");
    let explained = place.sonagi(&["explain", folder]);
    assert_eq!((explained.code, explained.err.contains("it had no load")), (Some(4), true), "{explained:?}");
}

#[test]
fn the_folder_of_a_page_alone_is_gone_with_the_watch() {
    let place = Place::new();
    let service = Service::start(&place, &[]);
    let port = service.url.rsplit(':').next().unwrap();
    let temporary = place.path().join("tmp");
    fs::create_dir(&temporary).unwrap();
    let mut command = place.command(&["watch", "--port", port, "--page-listen=127.0.0.1:0", "--for", "2s"]);
    let mut running = crate::support::Running::start({
        command.env("TMPDIR", &temporary);
        command
    });
    let site = Site::of(&mut running);
    let lines = site.lines(&site.run(), "").all();
    assert!(lines.iter().any(|(_, line)| names(line, "host.memory")), "{lines:?}");
    let answer = running.end();
    assert_eq!((answer.code, answer.out.lines().count()), (Some(0), 2), "{answer:?}");
    assert!(place.folders().is_empty());
    assert!(fs::read_dir(&temporary).unwrap().next().is_none());
}
