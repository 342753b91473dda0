//! Integration tests. One binary, so that they link once; each topic is a module.

mod advice; // first advice of archives, laws of gains, rules of users
mod advice_causes;
mod advice_events; // rules over visits of regions and pairs of calls
mod advice_messages; // the examples of the specification of advice, and rows of messages
mod advice_output; // options of advice, what is printed of it, and where it goes
mod bad_input;
mod browsers;
mod causes;
mod citations;
mod clocks;
mod command_line;
mod comparison;
mod containers; // archives in SION containers
mod crates;
mod culprits;
mod damage;
mod details_grid;
mod details_of_messages;
mod details_places;
mod details_structure;
mod details_waits;
mod diagnostics;
mod documentation;
mod efficiencies;
mod equivalence;
mod faults;
mod file_waiting; // what file I/O costs others, in the summary
mod focus;
mod focus_model;
mod foreign;
mod generated;
mod golden;
mod installed;
mod interop;
mod io_bad_input; // records of files that cannot be right
mod io_model; // phases of file I/O, in all forms
mod io_requests; // metrics of calls on files that something is the matter with
mod io_views; // models of traces that tell of views
mod laws;
mod loops;
mod masks;
mod masters;
mod messages;
mod one_program; // the MPI library that is opened at run time
mod oracle;
mod pauses;
mod predict;
mod reference;
mod robustness;
mod scaling;
mod scout; // the analyzer inside of Scalasca's scan
mod second_implementation;
mod series;
mod serve;
mod short;
mod short_shown;
mod show;
mod site_defaults;
mod states;
mod structure;
mod support;
mod unfinished; // recordings that the analyzer has completed first
mod what_if;
mod what_if_forms; // run times under other conditions that are known in closed form
mod work_by_counters;
