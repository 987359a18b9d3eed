//! The page: one HTML file for a run that is served, and the same with the run in it, to be sent to the team.
//!
//! The page itself is built from `web/` and put into the binary as it is; here its place for data is filled. A file
//! asks for nothing but itself: the policy in its head allows no connection.

use crate::lines::{Languages, Line, LineReader};
use base64::engine::general_purpose::STANDARD;
use base64::write::EncoderWriter;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use sonagi_measure::folder::{ReadError, RunState};
use sonagi_measure::frame::Frames;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

/// The built page.
const PAGE: &str = include_str!("../../../web/dist/page.html");
/// The place of the data in it.
const PLACE: &str = "<!--sonagi:data-->";
/// Connections that the page may make.
const NO_CONNECTIONS: &str = "connect-src 'none'";

/// The lines of a run whose seconds are merged to as many as a page shows.
///
/// # Errors
/// The folder cannot be read as a run.
pub fn lines(folder: &Path, id: &str, languages: &Languages) -> Result<Vec<Line>, ReadError> {
    let mut reader = LineReader::open(folder, languages)?;
    let mut frames = Frames::default();
    let mut rest = Vec::new();
    reader.advance(&mut |line| match line {
        Line::Frame(frame) => frames.push(Arc::unwrap_or_clone(frame)),
        line => rest.push(line),
    })?;
    if !matches!(rest.last(), Some(Line::End(_))) {
        // A run under way: as it is now. A file without an `end` is read as one that was cut off.
        rest.extend([reader.summary(), Line::End(RunState::Running)]);
    }
    let mut head = reader.head(id, languages);
    if let Line::Head(head) = &mut head
        && frames.width() > 1
    {
        head["merged"] = json!(frames.width());
    }
    let mut lines = vec![head];
    lines.extend(frames.into_frames().into_iter().map(|frame| Line::Frame(Arc::new(frame))));
    lines.extend(rest);
    Ok(lines)
}

/// Writes the page with a run in it.
///
/// # Errors
/// As the writer.
pub fn write(lines: &[Line], mut out: impl Write) -> io::Result<()> {
    let (before, behind) = PAGE.split_once(PLACE).unwrap_or((PAGE, ""));
    out.write_all(before.as_bytes())?;
    out.write_all(b"<script id=\"sonagi-data\" type=\"application/gzip;base64\">")?;
    let mut zipped = GzEncoder::new(EncoderWriter::new(&mut out, &STANDARD), Compression::best());
    for line in lines {
        zipped.write_all(&line.to_json())?;
        zipped.write_all(b"\n")?;
    }
    zipped.finish()?.finish()?;
    out.write_all(b"</script>")?;
    out.write_all(behind.as_bytes())?;
    out.flush()
}

/// The page that asks its server for data; `boot` says for which.
pub fn served(boot: &Value) -> String {
    of(boot).replacen(NO_CONNECTIONS, "connect-src 'self'", 1)
}

/// The page that has in `boot` all it shows, and asks for nothing.
pub fn of(boot: &Value) -> String {
    // In a script element only `<` could end it.
    let boot = boot.to_string().replace('<', "\\u003c");
    let script = format!("<script id=\"sonagi-boot\" type=\"application/json\">{boot}</script>");
    PAGE.replacen(PLACE, &script, 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_page_has_one_place_for_data_and_one_policy_and_asks_for_nothing() {
        assert_eq!((PAGE.matches(PLACE).count(), PAGE.matches(NO_CONNECTIONS).count()), (1, 1));
        assert!(PAGE.len() <= 250 << 10, "{} bytes", PAGE.len());
    }

    #[test]
    fn a_served_page_may_ask_its_server_and_its_boot_cannot_end_the_script() {
        let page = served(&json!({ "mode": "run", "id": "</script><b>" }));
        assert!(
            page.contains("connect-src 'self'") && !page.contains(NO_CONNECTIONS) && !page.contains("<b>")
        );
        assert!(page.contains(r#"{"mode":"run","id":"\u003c/script>\u003cb>"}</script>"#), "{page}");
    }
}
