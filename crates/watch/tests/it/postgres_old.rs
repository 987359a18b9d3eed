//! A PostgreSQL that is too old to say who waits for whom: as much of one as says so.

use crate::support::Watching;
use sonagi_watch::probes::probe;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

/// A message of its protocol (3.0): a letter, and what belongs to it.
fn message(letter: u8, body: &[u8]) -> Vec<u8> {
    [&[letter][..], &(body.len() as i32 + 4).to_be_bytes(), body].concat()
}

fn read(stream: &mut TcpStream, length: usize) -> std::io::Result<Vec<u8>> {
    let mut bytes = vec![0; length];
    stream.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Lets anybody in, and answers every query with its version, `server_version_num`.
fn serve(mut stream: TcpStream, version: &str) -> std::io::Result<()> {
    let length = read(&mut stream, 4)?;
    let length = i32::from_be_bytes([length[0], length[1], length[2], length[3]]);
    read(&mut stream, length as usize - 4)?;
    let ready = message(b'Z', b"I");
    stream.write_all(&[message(b'R', &[0; 4]), ready.clone()].concat())?;
    loop {
        let head = read(&mut stream, 5)?;
        read(&mut stream, i32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize - 4)?;
        if head[0] != b'Q' {
            return Ok(());
        }
        let column =
            [&[0, 1][..], b"n\0", &[0; 6], &25_i32.to_be_bytes(), &[255; 2], &[255; 4], &[0; 2]].concat();
        let value = [&[0, 1][..], &(version.len() as i32).to_be_bytes(), version.as_bytes()].concat();
        let answer =
            [message(b'T', &column), message(b'D', &value), message(b'C', b"SELECT 1\0"), ready.clone()];
        stream.write_all(&answer.concat())?;
    }
}

#[test]
fn a_server_that_is_too_old_is_told_once_with_its_version_and_nothing_of_it_is_measured() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let _ = serve(stream.unwrap(), "90524");
        }
    });
    let address = format!("postgres://watcher:planted@127.0.0.1:{port}/app");
    let mut watching = Watching::start(probe(&address).unwrap());
    watching.until("a refusal", |seen| !seen.notes.is_empty());
    let note = &watching.seen.notes[0];
    let why = "it is not measured: it is of version 9.5, and says what is needed from 9.6 on";
    assert_eq!((note.text.as_str(), note.hint.as_deref()), (why, Some("update PostgreSQL")));
    assert!(
        watching.seen.values.keys().all(|(metric, _)| metric.starts_with("watch.")),
        "{:?}",
        watching.seen
    );
    assert!(!format!("{:?}", watching.seen).contains("planted"));
}
