// Colours of calls: those of the classes of time, so that calls look like the bins and the legend.

import type { Data } from "../../data/load.js";
import type { Grid } from "../../data/grid.js";

const colours = new WeakMap<Data, Map<number, string>>();

/** The colour of what a call does itself: of the class that has most of its time. */
export function colourOfCall(data: Data, cnode: number): string {
  let known = colours.get(data);
  if (!known) colours.set(data, (known = new Map()));
  let colour = known.get(cnode);
  if (colour === undefined) known.set(cnode, (colour = largest(data, cnode) ?? data.calls.colour(cnode)));
  return colour;
}

function largest(data: Data, cnode: number): string | null {
  let [most, colour] = [0, null as string | null];
  for (const it of data.report.classes) {
    // Idle is who is in no call, and waiting is a part of the others.
    if (it.is_waiting || it.role === "wait" || it.name === IDLE) continue;
    let sum = 0;
    for (const metric of it.metrics) {
      if (metric !== null && data.report.metrics[metric]) sum += data.severities.byCall(data.severities.ofMetric(metric, false)).exclusive[cnode]!;
    }
    if (sum > most) [most, colour] = [sum, it.colour];
  }
  return colour;
}

/** The class of threads without work. */
const IDLE = "idle";

const idle = new WeakMap<Grid, Map<number, boolean>>();

/** Whether a location has any time without work. */
export function isEverIdle(data: Data, location: number): boolean {
  const number = data.report.classes.findIndex((it) => it.name === IDLE);
  if (!data.grid || number < 0) return false;
  let known = idle.get(data.grid);
  if (!known) idle.set(data.grid, (known = new Map()));
  let is = known.get(location);
  if (is === undefined) known.set(location, (is = data.grid.sums(location, location + 1, 0, Infinity).ticks[number]! > 0));
  return is;
}
