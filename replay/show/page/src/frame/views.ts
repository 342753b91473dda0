// The views: their titles, and whether the report has anything for them.

import { hasBlock } from "../data/blocks.js";
import type { Data } from "../data/load.js";
import type { View } from "../state/state.js";

/** Whether a table has anything, as far as that is known: tables are there after the page. */
function hasRows(data: Data, name: string): boolean {
  return hasBlock(name) && data.tables.get(name)?.rows !== 0;
}

export const VIEWS: { name: View; title: string; isThere: (data: Data) => boolean }[] = [
  { name: "overview", title: "Overview", isThere: () => true },
  { name: "calls", title: "Calls", isThere: (data) => data.calls.count > 0 },
  { name: "time", title: "Time", isThere: (data) => data.report.levels.length > 0 && hasBlock("ticks") },
  { name: "waits", title: "Waits", isThere: (data) => hasRows(data, "waits") },
  { name: "ranks", title: "Ranks", isThere: (data) => data.places.count > 1 },
  { name: "messages", title: "Messages", isThere: (data) => hasRows(data, "blocks") || hasRows(data, "collectives") },
  { name: "iterations", title: "Iterations", isThere: (data) => data.mainLoop !== null },
  { name: "metrics", title: "Metrics", isThere: () => true },
];
