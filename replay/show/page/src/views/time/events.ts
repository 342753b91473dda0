// Single calls and messages of the windows: what their locations did around the severest waits.

import type { Data } from "../../data/load.js";
import { column, type Table } from "../../data/table.js";
import type { Visible } from "./window.js";

export interface Call { location: number; enter: number; leave: number; cnode: number; depth: number }

export interface Message {
  source: number; destination: number; begin: number; end: number; bytes: number; tag: number; waited: number;
}

export interface Wait {
  location: number; begin: number; ticks: number; cause: number; causeTime: number; metric: number; number: number;
}

/** Rows up to which single calls are shown. */
export const FEW = 64;

/** The most messages that are drawn. */
export const MESSAGES = 500;

/** Tables of events: those of the report, and of the server's windows as far as they are complete enough for a view. */
function tablesOf(data: Data, name: string, view: Visible): Table[] {
  const served = data.served?.of(view.end - view.begin).map((it) => it.tables.get(name)) ?? [];
  return [...served, data.tables.get(name)].filter((table) => table !== undefined);
}

/** Calls of the windows in a stretch of time, outer ones first. */
export function callsIn(data: Data, view: Visible): Call[] {
  const found: Call[] = [];
  const seen = new Set<string>();
  for (const table of tablesOf(data, "window_calls", view)) {
    const [locations, enters, leaves] = [column(table, "location"), column(table, "enter"), column(table, "leave")];
    const [cnodes, depths] = [column(table, "cnode"), column(table, "depth")];
    for (let row = 0; row < table.rows; row++) {
      if (leaves[row]! < view.begin || enters[row]! > view.end) continue;
      // Windows overlap.
      const key = `${locations[row]}/${enters[row]}/${cnodes[row]}/${depths[row]}`;
      if (seen.has(key)) continue;
      seen.add(key);
      found.push({ location: locations[row]!, enter: enters[row]!, leave: leaves[row]!, cnode: cnodes[row]!, depth: depths[row]! });
    }
  }
  return found.sort((a, b) => a.depth - b.depth);
}

/** A stretch of a location of which single calls are known. */
export interface Piece { location: number; begin: number; end: number }

/** Stretches of the windows in a view, joined where they touch. Elsewhere nothing is known of single calls. */
export function coverage(data: Data, view: Visible): Piece[] {
  const pieces: Piece[] = [];
  for (const it of data.served?.of(view.end - view.begin) ?? []) {
    it.locations.forEach((location) => pieces.push({ location, begin: it.begin, end: it.end }));
  }
  const table = data.tables.get("windows") ?? null;
  const [begins, ends] = [column(table, "begin"), column(table, "end")];
  table?.bytes.get("locations")?.forEach((bytes, row) => {
    const list = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (let at = 0; at + 4 <= bytes.byteLength; at += 4) pieces.push({ location: list.getUint32(at, true), begin: begins[row]!, end: ends[row]! });
  });
  const joined: Piece[] = [];
  for (const it of pieces.sort((a, b) => a.location - b.location || a.begin - b.begin)) {
    if (it.end <= view.begin || it.begin >= view.end) continue;
    const last = joined[joined.length - 1];
    if (last?.location === it.location && it.begin <= last.end) last.end = Math.max(last.end, it.end);
    else joined.push({ ...it });
  }
  return joined;
}

/** Locations around a wait, the important ones first: its own, whom it was waited for, those of its chain, and those of its windows. */
export function locationsAround(data: Data, wait: Wait): number[] {
  const found = new Set([wait.location]);
  if (wait.cause < data.places.count) found.add(wait.cause);
  const table = data.tables.get("hops") ?? null;
  const [waits, locations, causes] = [column(table, "wait"), column(table, "location"), column(table, "cause_location")];
  for (let row = 0; row < (table?.rows ?? 0); row++) {
    if (waits[row] !== wait.number - 1) continue;
    for (const it of [locations[row]!, causes[row]!]) if (it < data.places.count) found.add(it);
  }
  const pieces = coverage(data, { begin: wait.begin, end: wait.begin + Math.max(1, wait.ticks), first: 0, last: data.places.count });
  const distance = (location: number) => Math.abs(location - wait.location);
  for (const it of pieces.sort((a, b) => distance(a.location) - distance(b.location))) found.add(it.location);
  return [...found];
}

/** Part of a view from which on the calls of a piece are drawn instead of bins. */
const WIDE = 1 / 8;

/** Stretches in which single calls are drawn. */
export function drawn(data: Data, view: Visible): Piece[] {
  return coverage(data, view).filter((it) => it.end - it.begin >= WIDE * (view.end - view.begin));
}

/** The innermost call at a place where calls are drawn; null if there is none. */
export function callAt(data: Data, view: Visible, location: number, time: number): Call | null {
  const isKnown = view.last - view.first <= FEW && drawn(data, view).some((it) => it.location === location && it.begin <= time && time <= it.end);
  if (!isKnown) return null;
  return callsIn(data, view).filter((it) => it.location === location && it.enter <= time && time <= it.leave).pop() ?? null;
}

/** Messages that end in a stretch of time, those that were waited for longest first. */
export function messagesIn(data: Data, view: Visible): Message[] {
  const found: Message[] = [];
  const seen = new Set<string>();
  for (const table of tablesOf(data, "window_messages", view)) {
    const of = (name: string) => column(table, name);
    const [sources, destinations, begins, ends] = [of("source"), of("destination"), of("send_enter"), of("receive_leave")];
    const [bytes, tags, ticks, windows] = [of("bytes"), of("tag"), of("ticks"), of("window")];
    // Windows overlap; those of one window that are alike are different messages.
    const own = new Map<string, number>();
    for (let row = 0; row < table.rows; row++) {
      if (ends[row]! < view.begin || ends[row]! > view.end) continue;
      const alike = `${sources[row]}/${destinations[row]}/${begins[row]}/${ends[row]}/${tags[row]}`;
      const inWindow = `${windows[row]}/${alike}`;
      const count = own.get(inWindow) ?? 0;
      own.set(inWindow, count + 1);
      if (seen.has(`${alike}/${count}`)) continue;
      seen.add(`${alike}/${count}`);
      found.push({
        source: sources[row]!, destination: destinations[row]!, begin: begins[row]!, end: ends[row]!, bytes: bytes[row]!,
        tag: tags[row]!, waited: ticks[row]!,
      });
    }
  }
  return found.sort((a, b) => b.waited - a.waited || a.begin - b.begin);
}

/** All severe waits, in their order; the number of the first is 1. */
export function waitsOf(data: Data): Wait[] {
  const table = data.tables.get("waits") ?? null;
  const of = (name: string) => column(table, name);
  const [locations, begins, ticks, causes] = [of("location"), of("begin"), of("ticks"), of("cause_location")];
  const [enters, metrics] = [of("cause_enter"), of("metric")];
  return Array.from({ length: table?.rows ?? 0 }, (_, row) => ({
    location: locations[row]!, begin: begins[row]!, ticks: ticks[row]!, cause: causes[row]!, causeTime: enters[row]!,
    metric: metrics[row]!, number: row + 1,
  }));
}
