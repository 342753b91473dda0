//! `serve`: what is answered and refused, over real sockets.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::example::{self, Names};

/// A server in a process of its own.
struct Server {
    child: Child,
    /// What it has said of itself.
    facts: Value,
    _directory: tempfile::TempDir,
}

impl Server {
    /// Serves the example's report, which has no trace, with options and variables of the environment.
    fn start(options: &[&str], variables: &[(&str, &str)]) -> Server {
        let directory = tempfile::tempdir().unwrap();
        let report = directory.path().join("trace.cubex");
        example::write(&report, &Names { program: "</pre><script>x".into(), ..Names::default() }, |_| {});
        Server::start_on(directory, options, variables)
    }

    fn start_on(directory: tempfile::TempDir, options: &[&str], variables: &[(&str, &str)]) -> Server {
        let mut command = Command::new(env!("CARGO_BIN_EXE_replay-show"));
        command.arg("serve").arg(directory.path()).args(options).arg("--json");
        command.env_remove("SSH_CONNECTION").env("TMPDIR", directory.path());
        command.envs(variables.iter().copied()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut text = Vec::new();
        let stdout = child.stdout.as_mut().unwrap();
        let mut byte = [0];
        while stdout.read(&mut byte).unwrap() == 1 {
            text.push(byte[0]);
            if text.ends_with(b"\n}\n") {
                break;
            }
        }
        let facts = serde_json::from_slice(&text).unwrap();
        Server { child, facts, _directory: directory }
    }

    fn port(&self) -> u16 {
        self.facts["port"].as_u64().unwrap().try_into().unwrap()
    }

    /// The path of the page, with the token.
    fn path(&self) -> &str {
        self.facts["path"].as_str().unwrap()
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port())).unwrap();
        // A machine that is busy, or stops its processes for a while, is no failure.
        stream.set_read_timeout(Some(Duration::from_secs(600))).unwrap();
        stream
    }

    /// Sends bytes and returns the status and the whole response.
    fn send(&self, bytes: &[u8]) -> (u16, String) {
        let mut stream = self.connect();
        // The server may answer, and end, before it has everything.
        let _ = stream.write_all(bytes);
        response(&mut stream)
    }

    fn request(&self, method: &str, path: &str, host: &str) -> (u16, String) {
        self.send(format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes())
    }

    fn get(&self, path: &str) -> (u16, String) {
        self.request("GET", path, &format!("localhost:{}", self.port()))
    }

    /// Waits until it has ended, and returns its status.
    fn ended(&mut self) -> i32 {
        let begin = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code().unwrap_or(-1);
            }
            assert!(begin.elapsed() < Duration::from_secs(60), "it goes on");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args([name, &pid]).status().unwrap().success());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn response(stream: &mut impl Read) -> (u16, String) {
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    while let Ok(count @ 1..) = stream.read(&mut piece) {
        bytes.extend_from_slice(&piece[..count]);
    }
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let status = text.split(' ').nth(1).and_then(|status| status.parse().ok());
    (status.unwrap_or(0), text)
}

#[test]
fn page_is_there_for_those_who_know_the_token() {
    let server = Server::start(&[], &[]);
    let token = server.path().trim_matches('/');
    assert!(token.len() == 32 && token.bytes().all(|byte| byte.is_ascii_hexdigit()), "{token}");
    let (status, text) = server.get(server.path());
    assert_eq!(status, 200, "{text}");
    assert!(text.contains("because of work on rank 0"), "{text}");
    assert!(text.contains("&lt;script&gt;") && !text.contains("<script>x"), "names are text:\n{text}");
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let head = head.to_ascii_lowercase();
    for header in [
        "content-type: text/html; charset=utf-8",
        "content-security-policy: default-src 'none'",
        "referrer-policy: no-referrer",
        "x-content-type-options: nosniff",
        "cache-control: no-store",
        &format!("content-length: {}", body.len()),
    ] {
        assert!(head.contains(header), "{header} in {head}");
    }
    assert!(!head.contains("access-control"), "other pages must not read it: {head}");
    let other = if token.starts_with('0') { "1" } else { "0" };
    for wrong in [
        "/".to_owned(),
        format!("/{}/", &token[1..]),
        format!("/{token}0/"),
        format!("/{other}{}/", &token[1..]),
        format!("/{}/window.json?begin=0&end=1&locations=0", "0".repeat(32)),
        format!("/x/{token}/"),
        format!("/{}/", token.to_ascii_uppercase() + "G"),
    ] {
        let (status, text) = server.get(&wrong);
        assert_eq!(status, 403, "{wrong}: {text}");
        assert!(!text.contains("rank 0") && !text.contains(token), "{text}");
    }
}

#[test]
fn other_hosts_are_refused() {
    let server = Server::start(&[], &[]);
    let port = server.port();
    for host in [format!("localhost:{port}"), format!("127.0.0.1:{port}")] {
        assert_eq!(server.request("GET", server.path(), &host).0, 200, "{host}");
    }
    for host in [
        "localhost".to_owned(),
        format!("localhost:{}", port ^ 1),
        format!("evil.example:{port}"),
        format!("localhost.evil.example:{port}"),
        format!("[::1]:{port}"),
        String::new(),
    ] {
        assert_eq!(server.request("GET", server.path(), &host).0, 403, "{host}");
    }
    let without = format!("GET {} HTTP/1.1\r\n\r\n", server.path());
    assert_eq!(server.send(without.as_bytes()).0, 403);
    let two = format!("GET {} HTTP/1.1\r\nHost: localhost:{port}\r\nHost: x\r\n\r\n", server.path());
    assert_eq!(server.send(two.as_bytes()).0, 403);
}

#[test]
fn paths_are_those_of_a_table() {
    let server = Server::start(&[], &[]);
    for path in [
        "../../../etc/passwd",
        "..%2f..%2fetc%2fpasswd",
        "trace.cubex",
        "%2e%2e/",
        "./",
        "/",
        "window.json/",
        "index.html",
    ] {
        let (status, text) = server.get(&format!("{}{path}", server.path()));
        assert_eq!(status, 404, "{path}: {text}");
        assert!(!text.contains("root:"), "{text}");
    }
    let token = server.path().trim_matches('/').to_owned();
    for path in [format!("/../{token}/"), format!("//{token}/"), "/etc/passwd".into()] {
        assert_eq!(server.get(&path).0, 403, "{path}");
    }
}

#[test]
fn only_get_is_answered() {
    let server = Server::start(&[], &[]);
    let host = format!("localhost:{}", server.port());
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "CONNECT", "TRACE", "HEAD", "get"] {
        let (status, text) = server.request(method, server.path(), &host);
        assert_eq!(status, 405, "{method}: {text}");
        assert!(text.contains("Allow: GET"), "{text}");
    }
    for wrong in [
        "\r\n\r\n",
        "GET\r\n\r\n",
        "GET / HTTP/2\r\n\r\n",
        "\0\0\0\0\r\n\r\n",
        "GET http://a/ HTTP/1.1\r\n\r\n",
    ] {
        assert_eq!(server.send(wrong.as_bytes()).0, 400, "{wrong:?}");
    }
}

#[test]
fn large_heads_are_refused() {
    let server = Server::start(&[], &[]);
    let path = server.path();
    let large = format!("GET {path} HTTP/1.1\r\nX: {}\r\n\r\n", "x".repeat(1 << 20));
    let many = format!("GET {path} HTTP/1.1\r\n{}\r\n", "X: y\r\n".repeat(10_000));
    let long = format!("GET /{} HTTP/1.1\r\n\r\n", "x".repeat(100_000));
    for head in [large, many, long] {
        let (status, text) = server.send(head.as_bytes());
        assert!(status == 431 || status == 0, "the response may be lost while more is sent: {text}");
    }
    assert_eq!(server.get(path).0, 200);
}

#[test]
fn slow_clients_keep_nobody_waiting() {
    let server = Server::start(&[], &[]);
    // Of those that are answered at a time all but one send nothing, or a part, or do not read.
    let mut slow: Vec<TcpStream> = (0..15).map(|_| server.connect()).collect();
    for (at, stream) in slow.iter_mut().enumerate() {
        if at % 2 == 0 {
            stream.write_all(b"GET / HT").unwrap();
        }
    }
    let begin = Instant::now();
    assert_eq!(server.get(server.path()).0, 200);
    // Less than the patience with a head.
    assert!(begin.elapsed() < Duration::from_secs(9), "{:?}", begin.elapsed());
    // With one more all places are taken; they are free again once the patience with a head has ended.
    let more: Vec<TcpStream> = (0..8).map(|_| server.connect()).collect();
    assert_eq!(server.get(server.path()).0, 200);
    let (status, _) = response(&mut slow[0]);
    assert_eq!(status, 408);
    drop(more);
}

#[test]
fn clients_that_go_away_do_no_harm() {
    let server = Server::start(&[], &[]);
    for _ in 0..50 {
        let mut stream = server.connect();
        let _ = stream.write_all(
            format!("GET {} HTTP/1.1\r\nHost: localhost:{}\r\n\r\n", server.path(), server.port()).as_bytes(),
        );
        drop(stream);
    }
    assert_eq!(server.get(server.path()).0, 200);
}

#[test]
fn sockets_are_for_their_owner_and_removed_at_the_end() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("socket");
    let mut server = Server::start(&["--socket", path.to_str().unwrap()], &[]);
    let data = std::fs::metadata(&path).unwrap();
    assert!(data.file_type().is_socket());
    assert_eq!(data.mode() & 0o777, 0o600);
    assert_eq!((&server.facts["port"], server.facts["socket"].as_str()), (&Value::Null, path.to_str()));
    let tunnel = server.facts["tunnel"].as_str().unwrap();
    assert!(tunnel.starts_with("ssh -N -L 8808:/") && tunnel.contains(path.to_str().unwrap()), "{tunnel}");
    for (host, expected) in [("localhost:8808", 200), ("127.0.0.1:1234", 200), ("evil.example:8808", 403)] {
        let mut stream = UnixStream::connect(&path).unwrap();
        write!(stream, "GET {} HTTP/1.1\r\nHost: {host}\r\n\r\n", server.path()).unwrap();
        assert_eq!(response(&mut stream).0, expected, "{host}");
    }
    server.signal("-INT");
    assert_eq!(server.ended(), 0);
    assert!(!path.exists());
}

#[test]
fn sockets_of_servers_that_were_killed_are_replaced_and_other_files_are_not() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("socket");
    let mut server = Server::start(&["--socket", path.to_str().unwrap()], &[]);
    server.signal("-KILL");
    server.ended();
    assert!(path.exists());
    let second = Server::start(&["--socket", path.to_str().unwrap()], &[]);
    assert!(UnixStream::connect(&path).is_ok());
    let refused = |path: &Path| {
        let output = Command::new(env!("CARGO_BIN_EXE_replay-show"))
            .arg("serve")
            .arg(second._directory.path())
            .args(["--socket", path.to_str().unwrap()])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    };
    let text = refused(&path);
    assert!(text.contains("cannot listen"), "{text}");
    assert!(UnixStream::connect(&path).is_ok(), "a server that runs keeps its socket");
    let file = place.path().join("file");
    std::fs::write(&file, "mine").unwrap();
    refused(&file);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
}

#[test]
fn sessions_of_ssh_get_a_socket() {
    let mut server = Server::start(&[], &[("SSH_CONNECTION", "10.0.0.1 50000 10.0.0.2 22"), ("USER", "ada")]);
    let path = PathBuf::from(server.facts["socket"].as_str().unwrap());
    let mode = |path: &Path| std::fs::metadata(path).unwrap().mode() & 0o777;
    assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    assert!(server.facts["tunnel"].as_str().unwrap().contains(" ada@"), "{}", server.facts);
    server.signal("-TERM");
    assert_eq!(server.ended(), 0);
    assert!(!path.parent().unwrap().exists());
    let server = Server::start(&["--port", "0"], &[("SSH_CONNECTION", "10.0.0.1 50000 10.0.0.2 22")]);
    assert!(server.port() > 0);
}

#[test]
fn servers_end_when_nobody_asks() {
    let mut server = Server::start(&["--idle", "2s"], &[]);
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_secs(3) {
        assert_eq!(server.get(server.path()).0, 200);
        std::thread::sleep(Duration::from_millis(500));
    }
    let begin = Instant::now();
    assert_eq!(server.ended(), 0);
    assert!(begin.elapsed() > Duration::from_secs(1), "{:?}", begin.elapsed());
}

#[test]
fn reports_without_a_trace_have_no_windows_of_events() {
    let server = Server::start(&[], &[]);
    let (status, text) = server.get(&format!("{}window.json?begin=0&end=10&locations=0", server.path()));
    assert_eq!(status, 404, "{text}");
    let body: Value = serde_json::from_str(text.split_once("\r\n\r\n").unwrap().1).unwrap();
    assert!(body["error"].as_str().is_some_and(|error| !error.is_empty()), "{text}");
    let (status, text) = server.get(&format!("{}window.json?begin=0", server.path()));
    assert_eq!(status, 400, "{text}");
}
