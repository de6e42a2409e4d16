//! A service that keeps notes, with a login by cookie: as small as it can be.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

#[derive(Default)]
struct Notes {
    kept: Mutex<HashMap<u64, String>>,
    created: AtomicU64,
    /// Every note with a number that this divides is forgotten at once; 0: none.
    forgotten: AtomicU64,
}

/// The service, while it lives.
pub struct NotesServer {
    address: SocketAddr,
    notes: Arc<Notes>,
    over: Arc<AtomicBool>,
}

impl NotesServer {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = Self {
            address: listener.local_addr().unwrap(),
            notes: Arc::default(),
            over: Arc::default(),
        };
        let (notes, over) = (Arc::clone(&server.notes), Arc::clone(&server.over));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if over.load(Ordering::Relaxed) {
                    return;
                }
                let notes = Arc::clone(&notes);
                std::thread::spawn(move || serve(stream, &notes));
            }
        });
        server
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn created(&self) -> u64 {
        self.notes.created.load(Ordering::Relaxed)
    }

    #[allow(dead_code)] // Not every test binary has notes forgotten.
    pub fn forget_every(&self, number: u64) {
        self.notes.forgotten.store(number, Ordering::Relaxed);
    }
}

impl Drop for NotesServer {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect(self.address);
    }
}

/// Answers one connection's requests, one after the other.
fn serve(stream: TcpStream, notes: &Notes) {
    stream.set_nodelay(true).unwrap();
    let mut writer = stream.try_clone().unwrap();
    let mut reader = BufReader::new(stream);
    while let Some((head, body)) = request(&mut reader) {
        if writer
            .write_all(answer(&head, &body, notes).as_bytes())
            .is_err()
        {
            return;
        }
    }
}

/// A request's head, its lines each with an end, and its body.
fn request(reader: &mut impl BufRead) -> Option<(String, String)> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let length = field(&head, "Content-Length").map_or(0, |text| text.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((head, String::from_utf8(body).unwrap()))
}

fn field<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let line = head.lines().find_map(|line| line.strip_prefix(name))?;
    line.strip_prefix(": ")
}

fn answer(head: &str, body: &str, notes: &Notes) -> String {
    let (method, rest) = head.split_once(' ').unwrap();
    let target = rest.split_once(' ').unwrap().0;
    let path = target.split_once('?').map_or(target, |(path, _)| path);
    let number = path
        .strip_prefix("/notes/")
        .and_then(|text| text.parse::<u64>().ok());
    let mut kept = notes.kept.lock().unwrap();
    match (method, path, number) {
        ("POST", "/notes", _) => {
            let id = notes.created.fetch_add(1, Ordering::Relaxed) + 1;
            let forgotten = notes.forgotten.load(Ordering::Relaxed);
            if forgotten == 0 || !id.is_multiple_of(forgotten) {
                kept.insert(id, body.to_owned());
            }
            let note = serde_json::json!({"id": id, "text": body});
            response(
                "201 Created",
                &format!("Location: /notes/{id}\r\n"),
                &note.to_string(),
            )
        }
        ("GET", _, Some(id)) => match kept.get(&id) {
            Some(text) => {
                let note = serde_json::json!({"id": id, "text": text});
                response("200 OK", "", &note.to_string())
            }
            None => response("404 Not Found", "", "there is none"),
        },
        ("DELETE", _, Some(id)) => {
            kept.remove(&id);
            "HTTP/1.1 204 No Content\r\n\r\n".to_owned()
        }
        ("GET", "/login", _) => {
            let user = target.split_once("user=").unwrap().1;
            response(
                "200 OK",
                &format!("Set-Cookie: user={user}; HttpOnly\r\n"),
                "welcome",
            )
        }
        // The cookies that the client is to keep, a Set-Cookie field in the request.
        ("GET", _, _) if path.ends_with("/set") => {
            let set = field(head, "X-Set").unwrap_or_default();
            response("200 OK", &format!("Set-Cookie: {set}\r\n"), "kept")
        }
        // All cookies that the client sends.
        ("GET", _, _) if path.ends_with("/cookies") => {
            response("200 OK", "", field(head, "Cookie").unwrap_or("none"))
        }
        ("GET", "/whoami", _) => {
            let cookie = field(head, "Cookie").and_then(|text| text.strip_prefix("user="));
            response("200 OK", "", cookie.unwrap_or("nobody"))
        }
        _ => response("200 OK", "", "pong"),
    }
}

fn response(status: &str, fields: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\n{fields}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
}
