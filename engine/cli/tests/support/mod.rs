//! Running the real engine: servers that end with the test, and jobs.

#![allow(dead_code)] // Each test file uses its own part.

use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};
use touchstone_sys::process;
pub use touchstone_sys::process::Signal;

pub const ENGINE: &str = env!("CARGO_BIN_EXE_touchstone-engine");

/// A server of the engine, killed with the test.
pub struct Server {
    pub child: Child,
    pub line: Value,
}

impl Server {
    /// Starts `touchstone-engine ARGUMENTS` and waits for its line.
    pub fn start(arguments: &[&str]) -> Self {
        let mut child = Command::new(ENGINE)
            .args(arguments)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap())
            .read_line(&mut line)
            .unwrap();
        let line = serde_json::from_str(&line).unwrap_or_else(|e| panic!("{line:?}: {e}"));
        Self { child, line }
    }

    pub fn address(&self) -> &str {
        self.line["listening"].as_str().unwrap()
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends SIGTERM and gives the exit code.
    pub fn terminate(mut self) -> Option<i32> {
        signal(self.pid(), Signal::Terminate);
        self.child.wait().unwrap().code()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// To a child of the test's own, which may have ended meanwhile.
pub fn signal(pid: u32, signal: Signal) {
    let _ = process::signal(pid as i32, signal);
}

/// One request on a connection of its own; the whole answer as text.
pub fn ask(address: &str, method: &str, target: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    write!(
        stream,
        "{method} {target} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n"
    )
    .unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

/// The body of an answer, as JSON.
pub fn ask_json(address: &str, method: &str, target: &str) -> Value {
    let text = ask(address, method, target);
    let body = text
        .split_once("\r\n\r\n")
        .unwrap_or_else(|| panic!("{text:?}"))
        .1;
    serde_json::from_str(body).unwrap_or_else(|e| panic!("{text}: {e}"))
}

/// A finished engine: exit code, result, standard error.
pub struct Done {
    pub code: Option<i32>,
    pub result: Value,
    pub errors: String,
}

/// Carries out a job given on standard input.
pub fn job(command: &str, job: &Value) -> Done {
    finish(start_job(command, job))
}

pub fn start_job(command: &str, job: &Value) -> Child {
    let mut child = Command::new(ENGINE)
        .args([command, "--job", "-", "--progress"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(job.to_string().as_bytes())
        .unwrap();
    child
}

pub fn finish(child: Child) -> Done {
    let output = child.wait_with_output().unwrap();
    Done {
        code: output.status.code(),
        result: serde_json::from_slice(&output.stdout).unwrap_or(Value::Null),
        errors: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// A port that was free a moment ago, outside the range from which clients get theirs; another one each time, for tests
/// that run at the same time.
pub fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let start = 20_000 + (std::process::id() % 5_000) as u16 * 2;
    loop {
        let port = start + NEXT.fetch_add(1, Ordering::Relaxed);
        if std::net::TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

/// Waits until something holds, for a minute.
pub fn until(holds: impl Fn() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < Duration::from_secs(60), "it never holds");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The processes that the first thread of another one has started.
pub fn children(pid: u32) -> Vec<u32> {
    let list = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
    let list = list.unwrap_or_default();
    list.split_whitespace().flat_map(str::parse).collect()
}
