//! The seeded users and given accounts as a file that scripts load.

use std::borrow::Cow;
use std::fmt::Write;
use std::path::Path;

use crate::config::Error;

/// A seeded user: what a script needs to be it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Credential {
    /// The address it logs in with.
    pub email: String,
    /// Its password.
    pub password: String,
    /// Its number.
    pub id: u64,
    /// An access token that is valid already, for tests that do not study login. It ends with the process.
    pub token: String,
}

/// Writes the credentials to `path`: a JSON array when it ends in `.json`, else CSV with the columns
/// `email,password,id,token` and a header line.
pub fn write_credentials(path: &Path, credentials: &[Credential]) -> Result<(), Error> {
    let json = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
    let text = if json { json_text(credentials) } else { csv_text(credentials) };
    std::fs::write(path, text).map_err(|source| Error::Credentials { path: path.to_owned(), source })
}

fn json_text(credentials: &[Credential]) -> String {
    // One user per line: such files are read, cut and compared.
    let lines: Vec<String> = credentials
        .iter()
        .map(|Credential { email, password, id, token }| {
            serde_json::json!({"email": email, "password": password, "id": id, "token": token}).to_string()
        })
        .collect();
    format!("[\n{}\n]\n", lines.join(",\n"))
}

fn csv_text(credentials: &[Credential]) -> String {
    let mut text = String::from("email,password,id,token\n");
    for Credential { email, password, id, token } in credentials {
        let _ = writeln!(text, "{},{},{id},{token}", field(email), field(password));
    }
    text
}

/// Quoted where CSV (RFC 4180) asks for it: a given account's password may be anything.
fn field(text: &str) -> Cow<'_, str> {
    match text.contains([',', '"', '\r', '\n']) || text.trim() != text {
        true => format!("\"{}\"", text.replace('"', "\"\"")).into(),
        false => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_csv_would_misread_is_quoted() {
        let fields = ["1234", "a,b", "say \"hi\"", " spaced"].map(|text| field(text).into_owned());
        assert_eq!(fields, ["1234", "\"a,b\"", "\"say \"\"hi\"\"\"", "\" spaced\""]);
    }

    #[test]
    fn credentials_are_written_as_the_file_s_name_says() {
        let folder = tempfile::tempdir().unwrap();
        let credential = Credential {
            email: "user1@example.test".into(),
            password: "password".into(),
            id: 1,
            token: "t0".into(),
        };
        let csv = folder.path().join("users.csv");
        write_credentials(&csv, std::slice::from_ref(&credential)).unwrap();
        assert_eq!(
            std::fs::read_to_string(csv).unwrap(),
            "email,password,id,token\nuser1@example.test,password,1,t0\n"
        );
        let json = folder.path().join("users.json");
        write_credentials(&json, &[credential]).unwrap();
        let read: serde_json::Value = serde_json::from_slice(&std::fs::read(json).unwrap()).unwrap();
        assert_eq!(
            read,
            serde_json::json!([{"email": "user1@example.test", "password": "password", "id": 1, "token": "t0"}])
        );
    }
}
