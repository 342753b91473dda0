// What the view Iterations shows, and how it tells of iterations.

import type { Iterations } from "../../data/iterations.js";
import type { Data } from "../../data/load.js";
import { NONE } from "../../data/table.js";
import { VIEWS } from "../../frame/views.js";
import type { Page } from "../../state/context.js";
import { INITIAL } from "../../state/state.js";
import { ofUnit, seconds } from "../../ui/format.js";
import { stretch } from "../time/window.js";

/** Pixels left and right of the pictures, which have one axis of iterations. */
export const LEFT = 84;
export const RIGHT = 10;

/** The metrics of the chart and of the map, and the selected row. */
export interface Shown {
  /** Null: elapsed time. */
  metric: number | null;
  map: number | null;
  row: number | null;
}

function numberOf(data: Data, name: string, allowed: readonly number[]): number | null {
  const at = data.report.metrics.findIndex((it) => it?.name === name);
  return allowed.includes(at) && !data.report.metrics[at]!.obstacle ? at : null;
}

/** What the mode says: metrics of the chart and of the map, and the number of an iteration, as in `mpi..33`. */
export function shownOf({ data, state }: Page, iterations: Iterations): Shown {
  const [chart = "", map = "", number = ""] = state.mode.split(".");
  const known = /^\d{1,15}$/.test(number) && Number(number) >= 1 && Number(number) <= iterations.loop.iterations;
  return {
    metric: numberOf(data, chart, iterations.metrics),
    map: numberOf(data, map, iterations.mapped) ?? numberOf(data, state.metric, iterations.mapped) ?? mostWaiting(data, iterations),
    row: known ? iterations.row(Number(number)) : null,
  };
}

/** The wait state of the map with most time, or else the first metric. */
function mostWaiting(data: Data, iterations: Iterations): number | null {
  const waiting = new Set(data.report.classes.flatMap((it) => (it.is_waiting ? it.metrics : [])));
  const sums = iterations.mapped.filter((it) => waiting.has(it)).map((it) => [it, iterations.cells(it).reduce((a, b) => a + b, 0)] as const);
  return sums.sort((a, b) => b[1] - a[1])[0]?.[0] ?? iterations.mapped[0] ?? null;
}

/** Shows something else. A metric becomes that of the selection, too. */
export function change(page: Page, iterations: Iterations, more: Partial<Shown>, isMoving = false): void {
  const { metrics } = page.data.report;
  const [chart = "", map = ""] = page.state.mode.split(".");
  const name = (at: number | null | undefined, before: string) => (at === undefined ? before : at === null ? "" : metrics[at]!.name);
  const row = more.row === undefined ? shownOf(page, iterations).row : more.row;
  const words = [name(more.metric, chart), name(more.map, map), row === null ? "" : String(iterations.numbers(row)[0])];
  const metric = more.metric ?? more.map;
  page.change({
    mode: words.join(".").replace(/\.+$/, ""), ...(metric === undefined || metric === null ? {} : { metric: metrics[metric]!.name, isOwn: false }),
  }, isMoving);
}

/** Whether there is a view Time to show an iteration in. */
export function hasTime(data: Data): boolean {
  return VIEWS.some((it) => it.name === "time" && it.isThere(data));
}

/** Shows the time of some rows in the view Time. */
export function openTime(page: Page, iterations: Iterations, first: number, last: number, location: number | null): void {
  if (!hasTime(page.data)) return;
  const [begin, end] = [iterations.begin[first]!, iterations.end[last]!];
  page.change({ view: "time", mode: INITIAL.mode, rows: null, time: stretch(page, begin, end), ...(location === null ? {} : { location }) });
}

/** The numbers of some rows: `iteration 7`, or `iterations 7–8`, with those in the program if these are others. */
export function named(iterations: Iterations, first: number, last: number): string {
  const [from, to] = [iterations.numbers(first)[0], iterations.numbers(last)[1]];
  return `${from === to ? `iteration ${from}` : `iterations ${from}–${to}`}${iterations.renumbered(from, to)}`;
}

/** A value of a metric of the report, which tables have in ticks if it is a time. */
export function amount(data: Data, metric: number, value: number): string {
  const { unit } = data.report.metrics[metric]!;
  return ofUnit(unit === "seconds" ? value / data.report.ticks_per_second : value, unit);
}

/** The kind of an iteration. */
export function kindOf(iterations: Iterations, row: number): string | null {
  const kind = iterations.loop.kinds[iterations.kind[row] ?? NONE];
  // Neighbours that share a row may be of several kinds.
  if (!kind || iterations.loop.block > 1) return null;
  return kind.iterations === 1 ? "like no other" : `like number ${kind.representative}${iterations.renumbered(kind.representative, kind.representative)}`;
}

/** What is known of a row, in words. */
export function describe(data: Data, iterations: Iterations, row: number, metric: number | null): string {
  const { report, places } = data;
  const per = report.ticks_per_second;
  const { loop } = iterations;
  const at = (location: number) => places.who(location);
  const parts: string[] = [];
  if (metric === null) {
    parts.push(`${seconds(iterations.elapsed[row]! / per)}`);
    const most = iterations.computation[row]!;
    if (most > 0 && iterations.computationAt[row] !== NONE) parts.push(`longest outside of MPI ${at(iterations.computationAt[row]!)}, ${seconds(most / per)}`);
  } else {
    const values = iterations.values(metric);
    const text = (value: number) => amount(data, metric, value);
    if (Number.isNaN(values.sum[row]!)) parts.push(`${report.metrics[metric]!.title} unknown`);
    else {
      parts.push(`${report.metrics[metric]!.title} ${text(values.sum[row]!)} in all`);
      if (loop.block === 1) parts.push(`${text(values.least[row]!)} to ${text(values.most[row]!)} a location`);
      if (loop.block === 1 && values.most[row]! > values.least[row]!) parts.push(`most at ${at(values.at[row]!)}`);
    }
  }
  const isOne = loop.block === 1;
  const kind = kindOf(iterations, row);
  if (kind) parts.push(kind);
  if (iterations.isUnlike(row)) parts.push(isOne ? "unlike those around it" : "one of them is unlike those around it");
  if (iterations.isBorder(row)) parts.push("the loop begins or ends here");
  if (iterations.hasGap(row)) parts.push(`recording was off during ${isOne ? "it" : "one of them"}`);
  if (iterations.locations[row]! < loop.locations) parts.push(`on ${iterations.locations[row]} of ${loop.locations} locations`);
  return `${named(iterations, row, row)}: ${parts.join(", ")}`;
}

/** Colours of kinds, the largest first: those of classes of time, which most people can tell apart, and one more. */
const COLOURS = ["work", "communicate", "critical", "collectives", "files", "idle", "messages", "kind", "tool", "threads"];

/** The colour of each kind. */
export function coloursOf(iterations: Iterations): string[] {
  const { kinds } = iterations.loop;
  const order = kinds.map((_, at) => at).sort((a, b) => kinds[b]!.iterations - kinds[a]!.iterations || a - b);
  const colours: string[] = [];
  order.forEach((kind, at) => { colours[kind] = COLOURS[Math.min(at, COLOURS.length - 1)]!; });
  return colours;
}
