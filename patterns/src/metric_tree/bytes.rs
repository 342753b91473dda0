//! Metrics that are amounts of data.

use crate::metric::Metric;
use crate::metric::Source::{Measured, Sum};
use crate::metric::Unit::Bytes;

pub(super) const METRICS: &[Metric] = &[
    Metric::root(
        "bytes",
        "MPI bytes transferred",
        Bytes,
        Sum,
        "Data moved by messages, collective operations and one-sided communication, both directions.",
    )
    .in_reference("Data moved by two-sided and collective operations, both directions."),
    Metric::below("bytes", "bytes_p2p", "Point-to-point", Bytes, Sum, "Data of messages, both directions."),
    Metric::below("bytes_p2p", "bytes_sent", "Sent", Bytes, Measured, "Data of messages that were sent."),
    Metric::below(
        "bytes_p2p",
        "bytes_rcvd",
        "Received",
        Bytes,
        Measured,
        "Data of messages that were received, as their senders count it.",
    ),
    Metric::below(
        "bytes",
        "bytes_coll",
        "Collective",
        Bytes,
        Sum,
        "Data of collective operations, both directions.",
    ),
    Metric::below(
        "bytes_coll",
        "bytes_cout",
        "Outgoing",
        Bytes,
        Measured,
        "Data that this rank put into collective operations.",
    ),
    Metric::below(
        "bytes_coll",
        "bytes_cin",
        "Incoming",
        Bytes,
        Measured,
        "Data that this rank got from collective operations.",
    ),
    Metric::below(
        "bytes",
        "bytes_rma",
        "One-sided",
        Bytes,
        Sum,
        "Data of one-sided communication, both directions.",
    )
    .beyond_reference(),
    Metric::below(
        "bytes_rma",
        "bytes_put",
        "Sent",
        Bytes,
        Measured,
        "Data that this rank put into the memory of others.",
    )
    .beyond_reference(),
    Metric::below(
        "bytes_rma",
        "bytes_get",
        "Received",
        Bytes,
        Measured,
        "Data that this rank got from the memory of others.",
    )
    .beyond_reference(),
];
