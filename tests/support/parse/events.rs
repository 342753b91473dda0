//! Events of a script.

use std::collections::BTreeMap;

use model::Paradigm;

use super::words::{Words, number};
use crate::support::regions::{by_name, operation};
use crate::support::trace::{AtWindow, Message, MetricClass, OfFile, Step};

/// Parses an event; `words` holds everything behind its first word.
pub(super) fn step(word: &str, words: &mut Words<'_>) -> Result<Step, String> {
    let region = |words: &mut Words<'_>| match words.rest() {
        "" => Err("region is missing".to_owned()),
        name => Ok(name.to_owned()),
    };
    Ok(match word {
        ">" => Step::Enter(region(words)?),
        "<" => match words.rest() {
            "" => Step::Leave,
            name => Step::LeaveRegion(name.into()),
        },
        "send" => Step::Send(message(words, None)?.0),
        "recv" => Step::Recv(message(words, None)?.0),
        "isend" => message(words, Some("req")).map(|(message, request)| Step::Isend(message, request))?,
        "irecv" => message(words, Some("req")).map(|(message, request)| Step::Irecv(message, request))?,
        "probe" => message(words, Some("msg")).map(|(message, id)| Step::Probe(message, id))?,
        "sent" => Step::IsendComplete(words.number("request")?),
        "post" => Step::IrecvRequest(words.number("request")?),
        "test" => Step::Test(words.number("request")?),
        "cancel" => Step::Cancel(words.number("request")?),
        "mrecv" => {
            let message = words.number("message")?;
            Step::Mrecv { message, bytes: number(&words.options(&["bytes"])?, "bytes", BYTES)? }
        }
        "mpost" => {
            let message = words.number("message")?;
            Step::ImrecvRequest { message, request: number(&words.options(&["req"])?, "req", 0)? }
        }
        "imrecv" => {
            let request = words.number("request")?;
            Step::Imrecv { request, bytes: number(&words.options(&["bytes"])?, "bytes", BYTES)? }
        }
        "created" => Step::CommCreate(words.word("communicator")?.to_owned()),
        "begin" => Step::CollectiveBegin,
        "wbegin" => Step::WindowCollectiveBegin,
        "wend" | "group-sync" | "lock" | "unlock" | "put" | "get" | "atomic" | "accessed" => {
            at_window(word, words)?
        }
        "create" | "destroy" | "transfer" | "transferred" | "cancelled" | "seek" => of_file(word, words)?,
        "end" => {
            let name = words.word("operation")?;
            let operation = operation(name).ok_or_else(|| format!("unknown operation {name}"))?;
            let options = words.options(&["root", "sent", "received", "comm"])?;
            Step::CollectiveEnd {
                operation,
                root: root(&options)?,
                sent: number(&options, "sent", 0)?,
                received: number(&options, "received", 0)?,
                communicator: options.get("comm").unwrap_or(&"world").to_string(),
            }
        }
        "istart" => Step::NonBlockingRequest(words.number("request")?),
        "idone" => {
            let name = words.word("operation")?;
            let operation = operation(name).ok_or_else(|| format!("unknown operation {name}"))?;
            let options = words.options(&["req", "root", "sent", "received", "comm"])?;
            Step::NonBlockingComplete {
                operation,
                root: root(&options)?,
                sent: number(&options, "sent", 0)?,
                received: number(&options, "received", 0)?,
                communicator: options.get("comm").unwrap_or(&"world").to_string(),
                request: number(&options, "req", 0)?,
            }
        }
        "fork" => Step::Fork,
        "join" => Step::Join,
        "team" => Step::TeamBegin,
        "team-end" => Step::TeamEnd,
        "task-create" | "task-switch" | "task-complete" => {
            let task = words.number("task")?;
            let creator = number(&words.options(&["of"])?, "of", 0)?;
            match word {
                "task-create" => Step::TaskCreate(creator, task),
                "task-switch" => Step::TaskSwitch(creator, task),
                _ => Step::TaskComplete(creator, task),
            }
        }
        "acquire" | "release" => {
            let lock = words.number("lock")?;
            let options = words.options(&["order", "model"])?;
            let order = number(&options, "order", 0)?;
            let model = match options.get("model") {
                Some(model) => by_name(model, Paradigm, Paradigm::name).ok_or("unknown model")?,
                None => Paradigm::OPENMP,
            };
            match word {
                "acquire" => Step::Acquire { model, lock, order },
                _ => Step::Release { model, lock, order },
            }
        }
        "on" => Step::Recording(true),
        "off" => Step::Recording(false),
        "flush" => Step::Flush { until: words.number("time")? },
        "ctx>" => {
            let name = words.word("context")?.to_owned();
            Step::ContextEnter(name, number(&words.options(&["unwind"])?, "unwind", 2)?)
        }
        "ctx<" => Step::ContextLeave(words.word("context")?.into()),
        "sample" => {
            let name = words.word("context")?.to_owned();
            Step::Sample(name, number(&words.options(&["unwind"])?, "unwind", 1)?)
        }
        "metric" => Step::Metric(MetricClass::Instructions, words.number("value")?),
        "cycles" => Step::Metric(MetricClass::Cycles, words.number("value")?),
        "joules" => Step::Metric(MetricClass::Joules, words.number("value")?),
        "kilohertz" => Step::Metric(MetricClass::Kilohertz, words.number("value")?),
        "kibibytes" => Step::Metric(MetricClass::Kibibytes, words.number("value")?),
        "param" => Step::Parameter(words.word("parameter")?.to_owned(), words.number("value")?),
        _ => return Err(format!("unknown event {word}")),
    })
}

/// An event at a window, which is an option.
fn at_window(word: &str, words: &mut Words<'_>) -> Result<Step, String> {
    let what = words.word("what it is about")?;
    let options = words.options(&["win", "level", "kind", "bytes", "sent", "received"])?;
    let rank = || what.parse().map_err(|_| format!("{what} is no rank"));
    let target = || if what == "all" { Ok(None) } else { rank().map(Some) };
    let event = match word {
        "wend" => {
            AtWindow::CollectiveEnd(operation(what).ok_or_else(|| format!("unknown operation {what}"))?)
        }
        "group-sync" => AtWindow::GroupSync { group: what.into(), level: number(&options, "level", 3)? },
        "lock" => {
            AtWindow::RequestLock { target: target()?, is_shared: options.get("kind") == Some(&"shared") }
        }
        "unlock" => AtWindow::ReleaseLock { target: target()? },
        "put" => AtWindow::Put { target: rank()?, bytes: number(&options, "bytes", BYTES)? },
        "get" => AtWindow::Get { target: rank()?, bytes: number(&options, "bytes", BYTES)? },
        "atomic" => AtWindow::Atomic {
            target: rank()?,
            sent: number(&options, "sent", BYTES)?,
            received: number(&options, "received", 0)?,
        },
        _ => AtWindow::Complete(what.parse().map_err(|_| format!("{what} is no number"))?),
    };
    let window = options.get("win").ok_or("win is missing")?;
    Ok(Step::Window(window.to_string(), event))
}

/// An event of a file.
fn of_file(word: &str, words: &mut Words<'_>) -> Result<Step, String> {
    let file = words.word("file")?.to_owned();
    let options = words.options(&["id", "mode", "flags", "bytes", "to"])?;
    let (operation, bytes) = (number(&options, "id", 0)?, number(&options, "bytes", 0)?);
    let event = match word {
        "create" => OfFile::Create,
        "destroy" => OfFile::Destroy,
        "transfer" => OfFile::Begin {
            operation,
            mode: number(&options, "mode", 1)?,
            flags: number(&options, "flags", COLLECTIVE)?,
            bytes,
        },
        "cancelled" => OfFile::Cancel(operation),
        "seek" => OfFile::Seek(number(&options, "to", 0)?),
        _ => OfFile::Complete(operation, bytes),
    };
    Ok(Step::File(file, event))
}

/// OTF2's flag of a collective operation on a file.
const COLLECTIVE: u32 = 2;

/// The root among options, if there is one.
fn root(options: &BTreeMap<&str, &str>) -> Result<Option<u32>, String> {
    options.get("root").map(|root| root.parse().map_err(|_| "no root".to_owned())).transpose()
}

/// Default length of a message in bytes.
const BYTES: u64 = 8;

/// Peer and properties of a message, and the number that `key` names.
fn message(words: &mut Words<'_>, key: Option<&str>) -> Result<(Message, u64), String> {
    let peer = words.number("rank")?;
    let known: Vec<&str> = ["tag", "bytes", "comm"].into_iter().chain(key).collect();
    let options = words.options(&known)?;
    let message = Message {
        peer,
        tag: number(&options, "tag", 0)?,
        bytes: number(&options, "bytes", BYTES)?,
        communicator: options.get("comm").unwrap_or(&"world").to_string(),
    };
    match key {
        Some(key) if !options.contains_key(key) => Err(format!("{key} is missing")),
        Some(key) => Ok((message, number(&options, key, 0)?)),
        None => Ok((message, 0)),
    }
}
