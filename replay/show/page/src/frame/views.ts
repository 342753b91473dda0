// The views: their titles, and whether the report has anything for them.

import type { Data } from "../data/load.js";
import type { View } from "../state/state.js";

/** Whether the page has a block, decoded or not. */
function has(name: string): boolean {
  return document.getElementById(`d-${name}`) !== null;
}

export const VIEWS: { name: View; title: string; isThere: (data: Data) => boolean }[] = [
  { name: "overview", title: "Overview", isThere: () => true },
  { name: "calls", title: "Calls", isThere: (data) => data.calls.count > 0 },
  { name: "time", title: "Time", isThere: (data) => data.report.levels.length > 0 && has("ticks") },
  { name: "waits", title: "Waits", isThere: () => has("waits") },
  { name: "ranks", title: "Ranks", isThere: (data) => data.places.count > 1 },
  { name: "messages", title: "Messages", isThere: () => has("blocks") || has("collectives") },
  { name: "metrics", title: "Metrics", isThere: () => true },
];
