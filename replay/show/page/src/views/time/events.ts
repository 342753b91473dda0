// Single calls and messages of the windows: what their locations did around the severest waits.

import type { Data } from "../../data/load.js";
import { column } from "../../data/table.js";
import type { Visible } from "./window.js";

export interface Call { location: number; enter: number; leave: number; cnode: number; depth: number }

export interface Message {
  source: number; destination: number; begin: number; end: number; bytes: number; tag: number; waited: number;
}

export interface Wait {
  location: number; begin: number; ticks: number; cause: number; causeTime: number; metric: number; number: number;
}

/** The most messages that are drawn. */
export const MESSAGES = 500;

/** Calls of the windows in a stretch of time, outer ones first. */
export function callsIn(data: Data, view: Visible): Call[] {
  const table = data.tables.get("window_calls") ?? null;
  const [locations, enters, leaves] = [column(table, "location"), column(table, "enter"), column(table, "leave")];
  const [cnodes, depths] = [column(table, "cnode"), column(table, "depth")];
  const found: Call[] = [];
  const seen = new Set<string>();
  for (let row = 0; row < (table?.rows ?? 0); row++) {
    if (leaves[row]! < view.begin || enters[row]! > view.end) continue;
    // Windows overlap.
    const key = `${locations[row]}/${enters[row]}/${cnodes[row]}/${depths[row]}`;
    if (seen.has(key)) continue;
    seen.add(key);
    found.push({ location: locations[row]!, enter: enters[row]!, leave: leaves[row]!, cnode: cnodes[row]!, depth: depths[row]! });
  }
  return found.sort((a, b) => a.depth - b.depth);
}

/** Stretches of the windows: location, begin and end. Elsewhere nothing is known of single calls. */
export function coverage(data: Data): { location: number; begin: number; end: number }[] {
  const table = data.tables.get("windows") ?? null;
  const [begins, ends] = [column(table, "begin"), column(table, "end")];
  return (table?.bytes.get("locations") ?? []).flatMap((bytes, row) => {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return Array.from({ length: Math.floor(bytes.byteLength / 4) }, (_, at) => ({
      location: view.getUint32(4 * at, true), begin: begins[row]!, end: ends[row]!,
    }));
  });
}

/** Messages that end in a stretch of time, those that were waited for longest first. */
export function messagesIn(data: Data, view: Visible): Message[] {
  const table = data.tables.get("window_messages") ?? null;
  const of = (name: string) => column(table, name);
  const [sources, destinations, begins, ends] = [of("source"), of("destination"), of("send_enter"), of("receive_leave")];
  const [bytes, tags, ticks] = [of("bytes"), of("tag"), of("ticks")];
  const found: Message[] = [];
  const seen = new Set<string>();
  for (let row = 0; row < (table?.rows ?? 0); row++) {
    if (ends[row]! < view.begin || ends[row]! > view.end) continue;
    const key = `${sources[row]}/${destinations[row]}/${begins[row]}/${ends[row]}`;
    if (seen.has(key)) continue;
    seen.add(key);
    found.push({
      source: sources[row]!, destination: destinations[row]!, begin: begins[row]!, end: ends[row]!, bytes: bytes[row]!,
      tag: tags[row]!, waited: ticks[row]!,
    });
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
