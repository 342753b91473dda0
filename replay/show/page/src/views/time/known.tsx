// What is known of single calls in the visible part of the run, and how to get more.

import type { Data } from "../../data/load.js";
import { MOST_LOCATIONS } from "../../data/served.js";
import { usePage } from "../../state/context.js";
import { coverage } from "./events.js";
import type { Visible } from "./window.js";

/** Milliseconds that the view has to stay before the server is asked. */
const STAY = 300;

/** Part of the visible time that is asked for on both sides of it, for who goes on a little. */
const BESIDE = 0.25;

/** Whether single calls are known of all that is visible. */
function isKnown(data: Data, view: Visible, rows: readonly number[]): boolean {
  const pieces = coverage(data, view);
  return rows.slice(view.first, view.last)
    .every((location) => pieces.some((it) => it.location === location && it.begin <= view.begin && view.end <= it.end));
}

/** Asks the server for what is visible, unless it is known; returns how to take that back. */
export function ask(data: Data, view: Visible, rows: readonly number[]): (() => void) | undefined {
  const { served, report } = data;
  if (!served || view.last - view.first > MOST_LOCATIONS || isKnown(data, view, rows)) return undefined;
  const beside = BESIDE * (view.end - view.begin);
  const wanted = {
    begin: Math.max(0, Math.floor(view.begin - beside)), end: Math.min(report.end + 1, Math.ceil(view.end + beside)),
    locations: rows.slice(view.first, view.last),
  };
  const timer = setTimeout(() => void served.ask(wanted), STAY);
  return () => clearTimeout(timer);
}

/** What is known of single calls, in a sentence. */
export function About({ view, rows }: { view: Visible; rows: readonly number[] }) {
  const { data } = usePage();
  return <span class="known">{words(data, view, rows)}</span>;
}

function words(data: Data, view: Visible, rows: readonly number[]): string {
  const { served } = data;
  if (served) {
    if (view.last - view.first > MOST_LOCATIONS) return `Single calls are read from the trace for ${MOST_LOCATIONS} rows at most: choose fewer rows.`;
    if (served.isAsking) return "Single calls are being read from the trace.";
    if (isKnown(data, view, rows)) {
      const missing = served.of(view.end - view.begin).find((it) => it.begin <= view.begin && view.end <= it.end)?.missing;
      return `Single calls and messages are those of the trace.${missing ? ` Not all messages are there: ${missing}.` : ""}`;
    }
    if (served.problem !== null) return `Single calls cannot be read from the trace: ${served.problem}.`;
    return "There are too many calls in this time to show each: zoom in.";
  }
  if (!data.tables.has("windows")) return "Single calls are not in this page.";
  if ((data.tables.get("windows")?.rows ?? 0) === 0) return "Single calls and messages are known around severe waits; this page has none.";
  return "Single calls and messages are known around the severest waits: choose one, and fit it.";
}
