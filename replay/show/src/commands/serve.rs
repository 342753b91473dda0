//! `serve`: the page over HTTP, with events of the trace on demand.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::{Error, Result};
use crate::opened::Opened;
use crate::output::{Document, Line, Output, Style};
use crate::serve::{End, Server};
use crate::status::Status;

/// Arguments of `serve`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// The experiment directory: a report and its trace
    pub experiment: PathBuf,

    /// Listen on this port of 127.0.0.1 [default: any; a socket in a session of ssh]
    #[arg(long, value_name = "PORT", conflicts_with = "socket")]
    pub port: Option<u16>,

    /// Listen on this socket in the file system, which only you can use
    #[arg(long, value_name = "PATH")]
    pub socket: Option<PathBuf>,

    /// End when no request came for this long, such as 30m or 90s
    #[arg(long, value_name = "TIME", default_value = "2h", value_parser = time)]
    pub idle: Duration,
}

/// Reads a time: a number with `s`, `m` or `h`.
fn time(text: &str) -> std::result::Result<Duration, String> {
    let wrong = "a time is a number with s, m or h, such as 90s, 30m or 2h";
    let unit = text.chars().last().ok_or(wrong)?;
    let seconds: u64 = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        _ => return Err(wrong.into()),
    };
    let number: u64 = text.strip_suffix(unit).unwrap_or_default().parse().map_err(|_| wrong)?;
    let time = number.checked_mul(seconds).filter(|&time| time > 0);
    time.map(Duration::from_secs).ok_or_else(|| wrong.into())
}

/// Serves an experiment until Ctrl-C, or until nobody asks any more.
///
/// # Errors
/// If the report cannot be read, or nobody can listen there.
pub fn run(args: &Args, output: &mut Output<'_>) -> Result<Status> {
    let opened = Opened::open(&args.experiment, output)?;
    let trace = if args.experiment.is_dir() {
        args.experiment.clone()
    } else {
        opened.path.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new(".")).to_owned()
    };
    let is_remote = output.variable("SSH_CONNECTION").is_some();
    let private;
    let socket = match (&args.socket, args.port) {
        (Some(path), _) => Some(path.clone()),
        (None, None) if is_remote => {
            // A directory that only its owner can enter, and that is removed with the socket in it.
            let mode = Permissions::from_mode(0o700);
            let directory = tempfile::Builder::new().prefix("replay-show-").permissions(mode).tempdir();
            private = directory.map_err(|error| Error::new(format!("no directory for a socket: {error}")))?;
            Some(private.path().join("socket"))
        }
        _ => None,
    };
    let server = Server::start(&opened, &trace, socket, args.port.unwrap_or(0))?;
    if let Some(why) = server.why_no_windows() {
        output.warn(format!("{why}; served without windows of events"));
    }
    output.print(&document(&server, args, output))?;
    if server.run(args.idle)? == End::Idle {
        output.warn("ended: no request came for long (--idle)");
    }
    Ok(Status::Done)
}

/// A time in the largest unit in which it is a whole number.
fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    let (number, unit) = match seconds {
        1.. if seconds.is_multiple_of(3600) => (seconds / 3600, "hour"),
        1.. if seconds.is_multiple_of(60) => (seconds / 60, "minute"),
        _ => (seconds, "second"),
    };
    format!("{number} {unit}{}", if number == 1 { "" } else { "s" })
}

/// Where the server listens, and how to get there from another machine.
fn document(server: &Server, args: &Args, output: &Output<'_>) -> Document {
    let user = output.variable("USER").or(output.variable("LOGNAME")).unwrap_or("USER");
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    // A tunnel from a port of the laptop; for a port it has to be the same, as browsers say which one they mean.
    let local = server.port().unwrap_or(8808);
    let target = match server.socket() {
        Some(path) => std::path::absolute(path).unwrap_or(path.to_owned()).display().to_string(),
        None => format!("127.0.0.1:{local}"),
    };
    let tunnel = format!("ssh -N -L {local}:{target} {user}@{host}");
    let url = format!("http://localhost:{local}{}", server.path());
    let mut document = Document::new("serve");
    document.fact("url", url.clone());
    document.fact("path", server.path());
    document.fact("port", server.port());
    document.fact("socket", server.socket().map(|path| path.display().to_string()));
    document.fact("tunnel", tunnel.clone());
    document.text(format!(
        "Serving {} until Ctrl-C, or until no request came for {}.",
        args.experiment.display(),
        duration(args.idle)
    ));
    let here = if server.port().is_some() { "Here, or behind the tunnel: " } else { "Behind the tunnel: " };
    document.picture(Line::styled(here, Style::Dim).and(url, Style::Strong));
    document.picture(Line::styled("Tunnel from your machine: ", Style::Dim).and(tunnel, Style::Plain));
    document
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_the_unit_that_fits() {
        let told = [1, 90, 60, 600, 7200].map(|seconds| duration(Duration::from_secs(seconds)));
        assert_eq!(told, ["1 second", "90 seconds", "1 minute", "10 minutes", "2 hours"]);
    }

    #[test]
    fn times_have_units() {
        assert_eq!(time("2h"), Ok(Duration::from_secs(7200)));
        assert_eq!((time("90s"), time("1m")), (Ok(Duration::from_secs(90)), Ok(Duration::from_secs(60))));
        for wrong in ["", "2", "h", "0s", "-1s", "1d", "99999999999999999999h", "1.5h", "2ü"] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
    }
}
