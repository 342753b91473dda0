// Loading: the blocks of the page, decoded. What takes long comes later, and says when it is there.

import { bytesOf, jsonOf } from "./blocks.js";
import { Calls } from "./calls.js";
import { Grid } from "./grid.js";
import type { MainLoop } from "./iterations.js";
import { Places } from "./places.js";
import type { Explanation, Report } from "./report.js";
import { Severities } from "./severities.js";
import { Served } from "./served.js";
import { readTable, type Table } from "./table.js";

/** Everything that views show. */
export interface Data {
  report: Report;
  explanations: Explanation[];
  calls: Calls;
  places: Places;
  severities: Severities;
  grid: Grid | null;
  /** The loop that most time is in; null if there is none. */
  mainLoop: MainLoop | null;
  tables: Map<string, Table>;
  /** Windows of events from the server; null if there is none. */
  served: Served | null;
}

/** A table; null if the page has none of this name. */
async function table(name: string): Promise<Table | null> {
  const bytes = await bytesOf(name);
  return bytes && readTable(bytes);
}

const TABLES = [
  "waits", "hops", "activities", "windows", "window_calls", "window_messages", "window_waits", "critical", "flow", "blocks", "pairs",
  "processes", "sizes", "collectives", "last", "rest", "series", "series_values", "series_map",
];

/** Loads the data; `changed` is called whenever more of it is there. */
export async function load(changed: () => void): Promise<Data> {
  const report = (await jsonOf<Report>("report"))!;
  const calls = new Calls(report, (await table("calls"))!);
  const places = new Places(report, (await table("locations"))!, (await table("groups"))!, await table("coordinates"));
  const severities = new Severities(report, calls, places, (await table("totals"))!);
  const data: Data = {
    report, calls, places, severities, explanations: (await jsonOf<Explanation[]>("explanations")) ?? [], grid: null,
    mainLoop: await jsonOf<MainLoop>("main_loop"), tables: new Map(), served: report.has_server ? new Served(changed) : null,
  };
  void more(data, changed);
  return data;
}

async function more(data: Data, changed: () => void): Promise<void> {
  const ticks = await table("ticks");
  if (ticks) {
    data.grid = new Grid(data.report, data.places.count, ticks);
    changed();
  }
  for (const name of TABLES) {
    const read = await table(name);
    if (read) data.tables.set(name, read);
  }
  changed();
  for (let level = data.report.levels.length - 1; level >= 0 && data.grid; level--) {
    const shades = await table(`shades${level}`);
    if (shades) {
      data.grid.addShades(level, shades);
      changed();
    }
  }
  const rows = await table("rows");
  if (rows) await data.severities.addRows(rows);
  data.severities.isComplete = true;
  changed();
  document.documentElement.dataset["loaded"] = "all";
}
