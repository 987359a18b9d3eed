//! Every fenced block of README.md and docs/ is run as a reader would run it, against `sonagi serve`, and does what its
//! page says.
//!
//! `yaml` and `js` blocks are scripts, `sh` blocks command lines; both end with exit code 0. `text` shows output. A
//! comment right above a block says what is otherwise, and why: `<!-- run: exit 1; the service misbehaves -->`. See
//! [`How`].
//!
//! A block whose first line is a comment with a file's name is that file; when a command line or a script of the page
//! names it, it is run there. The address 127.0.0.1:8080 becomes that of the service. Flags make runs shorter: what a
//! block promises of its steps is held, not the size of its load.

use crate::support::{Answer, Place};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Where readers are told that the service listens.
const ADDRESS: &str = "127.0.0.1:8080";

/// The load of YAML scripts here, and of k6 scripts.
const FEW: &str = r#" --overrides '{"config":{"phases":[{"duration":2,"arrivalCount":20}]}}'"#;
const FEW_OF_K6: &str = " --vus 3 --iterations 3";

/// No command takes longer, in seconds.
const LIMIT: &str = "120";

/// Attempts at a run for which this machine is too busy to make its load (exit code 3).
const ATTEMPTS: usize = 4;

/// Files that readers of the pages for Artillery's and k6's users have already.
const BROUGHT: [(&str, &str); 2] = [
    (
        "test.yml",
        "config: {target: 'http://127.0.0.1:8080', phases: [{duration: 1, arrivalRate: 1}]}\n\
         scenarios: [{flow: [{get: {url: /healthz}}]}]\n",
    ),
    (
        "script.js",
        "import http from 'k6/http';\nexport default () => { http.get('http://127.0.0.1:8080/healthz'); };\n",
    ),
];

/// How a block is treated.
#[derive(Clone, Debug, PartialEq)]
enum How {
    /// The block is run, and ends with this exit code.
    Exit(i32),
    /// `with FLAGS`: run with these in place of the usual ones that make it shorter.
    With(String),
    /// Its scripts are only validated.
    Check,
    /// Nothing.
    Not,
}

#[derive(Clone, Debug)]
struct Block {
    /// `README.md:64`, of the line of its fence.
    place: String,
    language: String,
    text: String,
    how: How,
    /// Why it is not simply run.
    reason: Option<String>,
}

impl Block {
    /// The file that its first line names.
    fn name(&self) -> Option<&str> {
        let first = self.text.lines().next()?;
        let name = first.strip_prefix("# ").or_else(|| first.strip_prefix("// "))?;
        [".yml", ".js"].iter().any(|ending| name.ends_with(ending)).then_some(name)
    }

    fn is_script(&self) -> bool {
        ["yaml", "js"].contains(&self.language.as_str())
    }

    /// Its command lines.
    fn commands(&self) -> impl Iterator<Item = &str> {
        let lines = if self.language == "sh" { self.text.as_str() } else { "" };
        lines
            .lines()
            .map(|line| line.split("    #").next().unwrap_or_default().trim())
            .filter(|line| !line.is_empty())
    }
}

/// The fenced blocks of a page, in order.
fn blocks(page: &str, text: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut above = "";
    let mut is_open = false;
    for (index, line) in text.lines().enumerate() {
        match (line.trim_start().strip_prefix("```"), is_open) {
            (Some(language), false) => {
                let place = format!("{page}:{}", index + 1);
                let (how, reason) = directive(above).unwrap_or_else(|why| panic!("{place}: {why}: {above}"));
                let language = language.trim().to_owned();
                blocks.push(Block { place, language, text: String::new(), how, reason });
            }
            (None, true) => {
                let block = blocks.last_mut().unwrap();
                block.text.push_str(line);
                block.text.push('\n');
            }
            _ => {}
        }
        is_open ^= line.trim_start().starts_with("```");
        above = line;
    }
    assert!(!is_open, "{page}: its last block does not end");
    blocks
}

/// The directive in the line above a block.
fn directive(line: &str) -> Result<(How, Option<String>), &'static str> {
    let Some(inner) = line.trim().strip_prefix("<!-- run: ").and_then(|line| line.strip_suffix(" -->"))
    else {
        return if line.contains("<!-- run") { Err("it is no directive") } else { Ok((How::Exit(0), None)) };
    };
    let (what, reason) = inner.rsplit_once("; ").ok_or("a directive gives its reason after `; `")?;
    let how = match what.split_once(' ') {
        None if what == "check" => How::Check,
        None if what == "not" => How::Not,
        Some(("exit", code)) => How::Exit(code.parse().map_err(|_| "an exit code is a number")?),
        Some(("with", flags)) => How::With(flags.to_owned()),
        _ => return Err("it says check, not, exit N or with FLAGS"),
    };
    Ok((how, Some(reason.to_owned())))
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The pages with blocks, and their blocks.
fn pages() -> Vec<(String, Vec<Block>)> {
    let docs = fs::read_dir(repository().join("docs")).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> =
        docs.filter_map(|name| name.into_string().ok()).filter(|name| name.ends_with(".md")).collect();
    names.sort();
    let names =
        std::iter::once("README.md".to_owned()).chain(names.iter().map(|name| format!("docs/{name}")));
    let page = |name: String| (blocks(&name, &fs::read_to_string(repository().join(&name)).unwrap()), name);
    names.map(page).filter(|(blocks, _)| !blocks.is_empty()).map(|(blocks, name)| (name, blocks)).collect()
}

/// A reader of one page: a folder with its files, and the service that the page had them start.
struct Reader {
    place: Place,
    service: Option<(Child, String)>,
    /// The address that its files say.
    written: String,
}

impl Reader {
    fn new(blocks: &[Block]) -> Reader {
        let reader = Reader { place: Place::new(), service: None, written: ADDRESS.to_owned() };
        for (name, text) in BROUGHT {
            reader.place.write(name, text);
        }
        for block in blocks {
            if let Some(name) = block.name() {
                reader.place.write(name, &block.text);
            }
        }
        std::os::unix::fs::symlink(repository().join("examples"), reader.place.path().join("examples"))
            .unwrap();
        reader
    }

    /// Does what the block says, and holds it to what the page says of it.
    fn follow(&mut self, block: &Block) {
        if block.language == "sh" {
            let lines: Vec<&str> = block.commands().collect();
            lines.iter().for_each(|line| self.command(line, block));
        } else {
            let ending = if block.language == "yaml" { "yml" } else { "js" };
            let line = block.place.rsplit(':').next().unwrap();
            let name = format!("line-{line}.{ending}");
            self.place.write(&name, &block.text);
            self.command(&format!("sonagi run {name}"), block);
        }
    }

    fn command(&mut self, line: &str, block: &Block) {
        if line.starts_with("sonagi serve") {
            return self.serve(line);
        }
        let line = self.answered(line);
        let (line, expected) = match &block.how {
            How::Not => return,
            How::Check => (line.replacen("sonagi run", "sonagi check", 1), 0),
            How::With(flags) if line.starts_with("sonagi run") => (format!("{line} {flags}"), 0),
            How::With(_) => (line, 0),
            How::Exit(code) => (format!("{line}{}", shorter(&line)), *code),
        };
        let mut answer = self.shell(&line);
        for _ in 1..ATTEMPTS {
            if answer.code != Some(3) || expected == 3 {
                break;
            }
            answer = self.shell(&line);
        }
        assert_eq!(answer.code, Some(expected), "{}: {line}\n{}\n{}", block.place, answer.out, answer.err);
    }

    /// The service of this line takes the place of the one before.
    fn serve(&mut self, line: &str) {
        self.end_service();
        let mut child = self
            .sh(&format!("exec {line} --listen 127.0.0.1:0 --stop-on-eof --grace 0s"))
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut said).unwrap();
        let address = said.trim().strip_prefix("listening on http://");
        let address = address.unwrap_or_else(|| panic!("{line}: it said {said:?}")).to_owned();
        self.service = Some((child, address));
    }

    fn end_service(&mut self) {
        if let Some((mut child, _)) = self.service.take() {
            drop(child.stdin.take());
            let _ = child.wait();
        }
    }

    /// The line with the newest run folder where it says `runs/…`, and every file with the service's address.
    fn answered(&mut self, line: &str) -> String {
        if self.service.is_none() {
            self.serve("sonagi serve --seed-users 100");
        }
        let address = self.service.as_ref().map(|(_, address)| address.clone()).unwrap();
        for entry in fs::read_dir(self.place.path()).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|ending| ending == "yml" || ending == "js") {
                let text = fs::read_to_string(&path).unwrap();
                fs::write(&path, text.replace(&self.written, &address).replace(ADDRESS, &address)).unwrap();
            }
        }
        self.written.clone_from(&address);
        let newest = self.place.folders().pop().map(|path| path.display().to_string());
        line.replace("runs/…", newest.as_deref().unwrap_or("runs/…")).replace(ADDRESS, &address)
    }

    fn shell(&self, line: &str) -> Answer {
        Answer::from(self.sh(line).output().unwrap())
    }

    /// A shell in the reader's folder that finds `sonagi`.
    fn sh(&self, line: &str) -> Command {
        let own = Path::new(env!("CARGO_BIN_EXE_sonagi")).parent().unwrap();
        let path = std::env::var("PATH").unwrap();
        let mut command = Command::new("timeout");
        command.args([LIMIT, "sh", "-c", line]).current_dir(self.place.path());
        command.env("PATH", format!("{}:{path}", own.display()));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.end_service();
    }
}

/// The flags that make a run short.
fn shorter(line: &str) -> &'static str {
    let has = |ending: &str| line.split_whitespace().any(|word| word.ends_with(ending));
    match line.starts_with("sonagi run ") {
        true if has(".yml") => FEW,
        true if has(".js") => FEW_OF_K6,
        _ => "",
    }
}

/// A page from its top to its bottom. Scripts that its own command lines do not name are run side by side.
fn read(page: &str) {
    let (_, blocks) = pages().into_iter().find(|(name, _)| name == page).unwrap();
    let is_named = |name: &str| {
        let mut others = blocks.iter().filter(|block| block.name() != Some(name));
        others.any(|block| block.language != "text" && block.text.contains(name))
    };
    let mut reader = Reader::new(&blocks);
    let (alone, in_turn): (Vec<&Block>, Vec<&Block>) =
        blocks.iter().filter(|block| block.language != "text").partition(|block| block.is_script());
    in_turn.iter().for_each(|block| reader.follow(block));
    std::thread::scope(|scope| {
        for block in alone.into_iter().filter(|block| !block.name().is_some_and(is_named)) {
            let blocks = &blocks;
            scope.spawn(move || Reader::new(blocks).follow(block));
        }
    });
}

#[test]
fn the_front_page_does_what_it_says() {
    read("README.md");
}

#[test]
fn the_guide_to_scripts_does_what_it_says() {
    read("docs/scripts.md");
}

#[test]
fn the_other_pages_do_what_they_say() {
    let all = pages();
    for (page, _) in all.iter().filter(|(page, _)| !["README.md", "docs/scripts.md"].contains(&page.as_str()))
    {
        read(page);
    }
}

#[test]
fn every_block_says_what_it_is_and_few_are_not_run() {
    let all: Vec<Block> = pages().into_iter().flat_map(|(_, blocks)| blocks).collect();
    for block in &all {
        let known = ["yaml", "js", "sh", "text"].contains(&block.language.as_str());
        assert!(known, "{}: a block is yaml, js, sh or text; this one is {:?}", block.place, block.language);
    }
    let page = |block: &Block| block.place.split(':').next().unwrap().to_owned();
    let left_out: Vec<String> = all
        .iter()
        .filter(|block| matches!(block.how, How::Not | How::Check))
        .map(|block| format!("{}: {}", page(block), block.reason.as_deref().unwrap_or_default()))
        .collect();
    assert_eq!(
        left_out,
        [
            "README.md: it builds and installs",
            "docs/capacity.md: a search takes minutes",
            "docs/compare.md: it needs ten runs of two versions",
            "docs/from-k6.md: its stages take a minute",
            "docs/launch.md: it names a service that is not here",
            "docs/launch.md: it names a service that is not here",
            "docs/launch.md: it names a service that is not here",
            "docs/page.md: it serves until Ctrl-C",
            "docs/scripts.md: the reference service has no HTML forms",
        ]
    );
}

#[test]
fn a_block_is_found_with_what_the_line_above_says_of_it() {
    let text =
        "a\n```yaml\n# x.yml\nb\n```\n<!-- run: exit 2; it is wrong -->\n```sh\nsonagi x    # y\n```\n";
    let found = blocks("p.md", text);
    assert_eq!(
        (found[0].place.as_str(), found[0].name(), &found[0].how),
        ("p.md:2", Some("x.yml"), &How::Exit(0))
    );
    assert_eq!((found[1].commands().collect::<Vec<_>>(), &found[1].how), (vec!["sonagi x"], &How::Exit(2)));
    let with = "<!-- run: with --set a; b; it is long -->";
    assert_eq!(directive(with), Ok((How::With("--set a; b".into()), Some("it is long".into()))));
    for wrong in
        ["<!-- run: not -->", "<!-- run: maybe; so -->", "<!-- run:not; so -->", "<!-- run: exit x; so -->"]
    {
        assert!(directive(wrong).is_err(), "{wrong}");
    }
}
