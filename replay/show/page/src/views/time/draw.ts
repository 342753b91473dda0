// Drawing of the time view: rows over time, with events, marks, arrows and the critical path where they are wanted.

import { column } from "../../data/table.js";
import type { Data } from "../../data/load.js";
import { letters, palette, type Palette } from "../../ui/colours.js";
import { cut } from "../../ui/format.js";
import type { Brush } from "../../ui/picture.js";
import { colourOfCall, isEverIdle } from "./colour.js";
import { FEW, MESSAGES, callsIn, drawn, messagesIn, waitsOf, type Call } from "./events.js";
import { heat, levelOf, type Mode } from "./heat.js";
import { axisDecimals, marks, type Visible } from "./window.js";

export interface Scene {
  data: Data;
  view: Visible;
  /** Locations in the order of rows, and the row of each. */
  rows: readonly number[];
  rowOf: Map<number, number>;
  isByNumber: boolean;
  mode: Mode;
  hasCritical: boolean;
  hasMessages: boolean;
  /** The wait that is selected, from 1. */
  wait: number | null;
  cursor: { row: number; at: number } | null;
  /** A stretch that is being dragged over, in pixels. */
  drag: [number, number] | null;
}

/** Where the rows begin, and the height of the axis. */
export const LEFT = 96;
export const AXIS = 26;

/** Levels of calls that are shown, and the least height of one of several. */
const STACK = 4;
const LEAST = 18;

interface Plot extends Scene {
  context: CanvasRenderingContext2D;
  colours: Palette;
  width: number;
  height: number;
  x: (ticks: number) => number;
  /** The middle of a row of a location; null if it is not visible. */
  y: (location: number) => number | null;
  rowHeight: number;
}

/** Draws a scene, and tells what was drawn. */
export function draw(scene: Scene, brush: Brush): Record<string, string | number> {
  const started = performance.now();
  const { data, view } = scene;
  const colours = palette();
  const { context } = brush;
  const [width, height] = [brush.width - LEFT - 4, brush.height - AXIS];
  const visibleRows = view.last - view.first;
  const rowHeight = height / visibleRows;
  const plot: Plot = {
    ...scene, context, colours, width, height, rowHeight,
    x: (ticks) => LEFT + ((ticks - view.begin) / (view.end - view.begin)) * width,
    y: (location) => {
      const row = scene.rowOf.get(location);
      return row === undefined || row < view.first || row >= view.last ? null : (row - view.first + 0.5) * rowHeight;
    },
  };
  const told: Record<string, string | number> = { level: -1, cells: 0, calls: 0, arrows: 0, marks: 0, path: 0, bin: 0 };
  const cells = data.grid && levelOf(data.grid, view, height, scene.isByNumber);
  if (cells) {
    const size: [number, number] = [Math.max(1, Math.round(width)), Math.max(1, Math.round(height))];
    const made = heat(data, cells, view, scene.rows, size, scene.mode, colours, scene.isByNumber);
    const layer = new OffscreenCanvas(...size);
    layer.getContext("2d")!.putImageData(made.image, 0, 0);
    context.imageSmoothingEnabled = false;
    context.drawImage(layer, LEFT, 0);
    told["level"] = data.report.levels.indexOf(cells.level);
    told["cells"] = made.count;
    told["finest"] = data.grid!.cells.findIndex((it) => it !== null);
    const pixel = (view.end - view.begin) / width;
    if (cells.level.bin_ticks > 1.5 * pixel) told["bin"] = cells.level.bin_ticks;
  }
  labels(plot);
  axis(plot);
  context.save();
  context.beginPath();
  context.rect(LEFT, 0, width, height);
  context.clip();
  if (visibleRows <= FEW) told["calls"] = drawCalls(plot);
  if (scene.hasCritical) told["path"] = critical(plot);
  if (scene.hasMessages && visibleRows <= 300) {
    const messages = messagesIn(data, view).filter((it) => plot.y(it.source) !== null && plot.y(it.destination) !== null);
    for (const it of messages.slice(0, MESSAGES)) arrow(plot, it.source, it.begin, it.destination, it.end, colours.text, 1);
    told["arrows"] = Math.min(MESSAGES, messages.length);
    told["messages"] = messages.length;
  }
  told["marks"] = drawMarks(plot);
  if (scene.wait !== null) Object.assign(told, chain(plot, scene.wait));
  cursor(plot);
  context.restore();
  told["milliseconds"] = (performance.now() - started).toFixed(1);
  return told;
}

function labels({ context, colours, data, rows, view, rowHeight, height }: Plot): void {
  context.fillStyle = colours.text;
  context.textAlign = "right";
  context.textBaseline = "middle";
  const each = Math.max(1, Math.ceil(14 / rowHeight));
  for (let row = view.first; row < view.last; row += each) {
    // The label of many rows is at the first of them.
    const y = rowHeight < 14 ? 7 + (row - view.first) * rowHeight : (row - view.first + 0.5) * rowHeight;
    if (y > height - 5 && row > view.first) break;
    context.fillText(cut(data.places.name(rows[row]!), 15), LEFT - 6, y, LEFT - 8);
  }
  context.textAlign = "left";
  context.textBaseline = "alphabetic";
  if (rowHeight < 6) return;
  context.strokeStyle = colours.back;
  context.beginPath();
  for (let row = 1; row < view.last - view.first; row++) {
    context.moveTo(LEFT, Math.round(row * rowHeight) + 0.5);
    context.lineTo(LEFT + 1e5, Math.round(row * rowHeight) + 0.5);
  }
  context.stroke();
}

function axis({ context, colours, data, view, width, height, x }: Plot): void {
  const per = data.report.ticks_per_second;
  context.strokeStyle = colours.line;
  context.fillStyle = colours.text;
  context.strokeRect(LEFT + 0.5, 0.5, width - 1, height - 1);
  const digits = axisDecimals(view.begin, view.end, per);
  context.textAlign = "center";
  for (const ticks of marks(view.begin, view.end, per, width / 100)) {
    const at = Math.round(x(ticks)) + 0.5;
    context.beginPath();
    context.moveTo(at, height);
    context.lineTo(at, height + 5);
    context.stroke();
    const text = `${(ticks / per).toFixed(digits)}\u00a0s`;
    if (at > LEFT + 20 && at < LEFT + width - 25) context.fillText(text, at, height + 18);
  }
  context.textAlign = "left";
}

/** Calls of windows that are wide enough, in their place instead of bins. Returns how many there are. */
function drawCalls(plot: Plot): number {
  const { context, colours, data, view, x, y, rowHeight } = plot;
  const covered = drawn(data, view);
  if (covered.length === 0) return 0;
  const piecesOf = (call: Call) => covered.filter((it) => it.location === call.location && call.enter < it.end && call.leave > it.begin);
  const high = rowHeight - 2;
  const calls = callsIn(data, view).filter((call) => y(call.location) !== null && piecesOf(call).length > 0);
  const base = new Map<number, number>();
  for (const call of calls) base.set(call.location, Math.min(base.get(call.location) ?? Infinity, call.depth));
  const deepest = new Map<number, number>();
  for (const call of calls) deepest.set(call.location, Math.max(deepest.get(call.location) ?? 0, call.depth));
  // Who is in no call is idle, if it is ever; of others the bins say what they do.
  for (const it of covered) {
    const middle = y(it.location);
    if (middle === null || plot.mode !== "class" || !isEverIdle(data, it.location)) continue;
    context.fillStyle = colours.of("idle");
    context.fillRect(x(it.begin), middle - high / 2, x(it.end) - x(it.begin), high);
  }
  let count = 0;
  // Where there is room for few levels, the innermost calls, which say what is done. Each goes down to the end of its row, so that what
  // it does itself has its colour; those it calls are drawn over it, and callers without a level are behind.
  const most = Math.max(1, Math.min(STACK, Math.floor(high / LEAST)));
  for (const call of calls) {
    const top = most === 1 ? call.depth : Math.max(base.get(call.location)!, deepest.get(call.location)! - most + 1);
    const isBehind = call.depth < top && data.calls.children[call.cnode]!.length > 0;
    const levels = most === 1 ? 1 : deepest.get(call.location)! - top + 1;
    const [h, middle] = [high / levels, y(call.location)!];
    const [above, bottom] = [middle - high / 2 + Math.max(0, call.depth - top) * h, middle + high / 2];
    const fill = colourOfCall(data, call.cnode);
    for (const piece of piecesOf(call)) {
      const [from, to] = [x(Math.max(call.enter, piece.begin, view.begin)), x(Math.min(call.leave, piece.end, view.end))];
      context.fillStyle = colours.of(fill);
      context.fillRect(from, above, Math.max(0.5, to - from), bottom - above);
      if (isBehind) continue;
      context.strokeStyle = colours.line;
      if (to - from > 3) context.strokeRect(from + 0.5, above + 0.5, to - from - 1, bottom - above - 1);
      if (to - from > 30 && h > 9) {
        context.fillStyle = letters(colours.rgb(fill));
        context.fillText(cut(data.calls.name(call.cnode), Math.floor((to - from - 6) / 6.6)), from + 4, above + Math.min(13, h - 3));
      }
    }
    if (!isBehind) count++;
  }
  hatchWaits(plot, covered);
  return count;
}

/** Waits of windows, hatched over the calls that they lie in. */
function hatchWaits({ context, colours, data, view, x, y, rowHeight }: Plot, covered: { location: number }[]): void {
  const table = data.tables.get("window_waits") ?? null;
  const [locations, begins, ticks, metrics] = [column(table, "location"), column(table, "begin"), column(table, "ticks"), column(table, "metric")];
  const shown = new Set(covered.map((it) => it.location));
  // Below the name of the innermost call.
  const level = (rowHeight - 2) / Math.max(1, Math.min(STACK, Math.floor((rowHeight - 2) / LEAST)));
  const band = level < LEAST ? level / 2 : Math.min(8, Math.max(4, level - 14));
  for (let row = 0; row < (table?.rows ?? 0); row++) {
    const middle = y(locations[row]!);
    const [begin, end] = [begins[row]!, begins[row]! + ticks[row]!];
    if (middle === null || !shown.has(locations[row]!) || end < view.begin || begin > view.end) continue;
    const [from, to] = [Math.max(LEFT, x(begin)), x(end)];
    const [top, high] = [middle - rowHeight / 2 + 1, rowHeight - 2];
    context.save();
    context.beginPath();
    context.rect(from, top + high - band, to - from, band);
    context.clip();
    context.fillStyle = colours.of(colourOfWait(data, metrics[row]!));
    context.fillRect(from, top, to - from, high);
    context.strokeStyle = colours.back;
    context.beginPath();
    for (let at = from - high; at < to; at += 5) {
      context.moveTo(at, top + high);
      context.lineTo(at + high, top);
    }
    context.stroke();
    context.restore();
  }
}

/** The colour of the class of time that a metric is a part of. */
function colourOfWait(data: Data, metric: number): string {
  for (let at: number | null = metric; at !== null; at = data.report.metrics[at]?.parent ?? null) {
    const found = data.report.classes.find((it) => it.is_waiting && it.metrics.includes(at));
    if (found) return found.colour;
  }
  return "messages";
}

/** The critical path. Returns how many stretches of it there are. */
function critical({ context, colours, data, view, x, y }: Plot): number {
  const table = data.tables.get("critical") ?? null;
  const [locations, begins, ends] = [column(table, "location"), column(table, "begin"), column(table, "end")];
  let [drawn, before] = [0, null as { y: number; end: number } | null];
  context.strokeStyle = colours.of("critical");
  context.lineWidth = 3;
  context.beginPath();
  for (let row = 0; row < (table?.rows ?? 0); row++) {
    if (ends[row]! < view.begin || begins[row]! > view.end) continue;
    const middle = y(locations[row]!);
    if (middle === null) { before = null; continue; }
    if (before) {
      context.moveTo(x(before.end), before.y);
      context.lineTo(x(begins[row]!), middle);
    }
    context.moveTo(x(begins[row]!), middle);
    context.lineTo(x(ends[row]!), middle);
    before = { y: middle, end: ends[row]! };
    drawn++;
  }
  context.stroke();
  context.lineWidth = 1;
  return drawn;
}

/** An arrow from one location and time to another. */
function arrow(plot: Plot, from: number, begin: number, to: number, end: number, colour: string, thick: number): void {
  const { context, x, y } = plot;
  const [y1, y2] = [y(from), y(to)];
  if (y1 === null || y2 === null) return;
  const [x1, x2] = [x(begin), x(end)];
  const angle = Math.atan2(y2 - y1, x2 - x1);
  const head = 4 + 2 * thick;
  const tip = (turn: number): [number, number] => [x2 - head * Math.cos(angle + turn), y2 - head * Math.sin(angle + turn)];
  const line = () => {
    context.beginPath();
    context.moveTo(x1, y1);
    context.lineTo(x2, y2);
    context.moveTo(x2, y2);
    context.lineTo(...tip(0.4));
    context.moveTo(x2, y2);
    context.lineTo(...tip(-0.4));
    context.stroke();
  };
  context.strokeStyle = plot.colours.back;
  context.lineWidth = thick + 2;
  line();
  context.strokeStyle = colour;
  context.lineWidth = thick;
  line();
  context.lineWidth = 1;
}

/** Width of a mark. */
const MARK = 6;

/** Marks of the severest waits at their places, with a count where they touch. Returns how many waits they stand for. */
function drawMarks({ context, colours, data, view, x, y, wait }: Plot): number {
  const places = new Map<string, { x: number; y: number; count: number; isSelected: boolean }>();
  let all = 0;
  for (const it of waitsOf(data)) {
    const middle = y(it.location);
    if (middle === null || it.begin + it.ticks < view.begin || it.begin > view.end) continue;
    const at = x(Math.max(view.begin, Math.min(view.end, it.begin + it.ticks / 2)));
    const key = `${Math.round(at / (2 * MARK))}/${Math.round(middle / (2 * MARK))}`;
    const place = places.get(key) ?? { x: at, y: middle, count: 0, isSelected: false };
    place.count++;
    place.isSelected ||= it.number === wait;
    places.set(key, place);
    all++;
  }
  for (const place of places.values()) {
    context.beginPath();
    context.arc(place.x, place.y, place.isSelected ? MARK : MARK - 2, 0, 2 * Math.PI);
    context.fillStyle = place.isSelected ? colours.focus : colours.back;
    context.fill();
    context.strokeStyle = colours.text;
    context.stroke();
    if (place.count > 1) {
      context.fillStyle = colours.text;
      const text = String(place.count);
      context.strokeStyle = colours.back;
      context.lineWidth = 3;
      context.strokeText(text, place.x + MARK, place.y + 4);
      context.lineWidth = 1;
      context.fillText(text, place.x + MARK, place.y + 4);
    }
  }
  return all;
}

/** The selected wait and its chain: from each cause to the wait that it ended. */
function chain(plot: Plot, number: number): Record<string, string | number> {
  const { data, colours } = plot;
  const wait = waitsOf(data)[number - 1];
  if (!wait) return { chain: 0 };
  const table = data.tables.get("hops") ?? null;
  const of = (name: string) => column(table, name);
  const [waits, locations, begins, ticks] = [of("wait"), of("location"), of("begin"), of("ticks")];
  const [causes, times] = [of("cause_location"), of("cause_time")];
  let hops = 0;
  for (let row = 0; row < (table?.rows ?? 0); row++) {
    if (waits[row] !== number - 1) continue;
    const end = begins[row]! + ticks[row]!;
    arrow(plot, causes[row]!, Math.min(times[row]!, end), locations[row]!, end, colours.of("messages"), hops === 0 ? 4 : 2);
    hops++;
  }
  if (hops === 0) arrow(plot, wait.cause, wait.causeTime, wait.location, wait.begin + wait.ticks, colours.of("messages"), 4);
  return { chain: Math.max(1, hops), end: wait.begin + wait.ticks, endx: plot.x(wait.begin + wait.ticks).toFixed(1) };
}

function cursor({ context, colours, cursor: at, drag, view, rowHeight, width, height }: Plot): void {
  context.strokeStyle = colours.focus;
  context.lineWidth = 2;
  if (at && at.row >= view.first && at.row < view.last) {
    const [x, y] = [LEFT + at.at * width, (at.row - view.first) * rowHeight];
    context.strokeRect(x - 4, y + 1, 8, Math.max(4, rowHeight - 2));
  }
  context.lineWidth = 1;
  if (drag) {
    context.fillStyle = `${colours.accent}40`;
    context.fillRect(Math.min(...drag), 0, Math.abs(drag[1] - drag[0]), height);
  }
}
