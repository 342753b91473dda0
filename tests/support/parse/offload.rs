//! Events of accelerators of a script.

use model::accelerators::{CALL_SITE, EVENT, STREAM};

use super::words::Words;
use crate::support::trace::{CopyDirection, Step};

/// The words that these events begin with.
pub(super) const WORDS: [&str; 6] = ["launch", "site", "sync", "record", "wait", "copyto"];

/// Parses an event of a process or of its stream; `words` holds everything behind its first word. Functions of CUDA have attributes where
/// Score-P writes them.
pub(super) fn step(word: &str, words: &mut Words<'_>, rank: u32) -> Result<Step, String> {
    let stream = |words: &mut Words<'_>| -> Result<(&'static str, u64), String> {
        let number: u64 = words.number("stream")?;
        Ok((STREAM, number << 32 | u64::from(rank)))
    };
    let named_stream = |words: &mut Words<'_>| match words.word("gpu")? {
        "gpu" => stream(words),
        other => Err(format!("{other} in place of gpu")),
    };
    let call = |region, at_leave| Step::Offload { region, at_enter: Vec::new(), at_leave };
    Ok(match word {
        "launch" => {
            let at_enter = vec![named_stream(words)?];
            Step::Offload { region: "cuLaunchKernel", at_enter, at_leave: Vec::new() }
        }
        "site" => Step::Parameter(CALL_SITE.into(), words.number("call site")?),
        "sync" => match words.next() {
            None => call("cuCtxSynchronize", Vec::new()),
            Some("gpu") => call("cuStreamSynchronize", vec![stream(words)?]),
            Some("event") => call("cuEventSynchronize", vec![(EVENT, words.number("event")?)]),
            Some(other) => return Err(format!("{other} is neither gpu nor event")),
        },
        "record" | "wait" => {
            let event = (EVENT, words.number("event")?);
            let region = if word == "record" { "cuEventRecord" } else { "cuStreamWaitEvent" };
            call(region, vec![event, named_stream(words)?])
        }
        _ => {
            let direction = match words.word("direction or bytes")? {
                "host" => CopyDirection::ToHost,
                "device" => CopyDirection::ToDevice,
                "itself" => CopyDirection::OnDevice,
                other => return Err(format!("{other} is neither host, device nor itself")),
            };
            let bytes = words.number("bytes")?;
            let until = match words.word("until")? {
                "until" => words.number("time")?,
                other => return Err(format!("{other} in place of until")),
            };
            Step::Copy { direction, bytes, until }
        }
    })
}
