// The heat map: which class of time a cell has most of, or how much of one, as pixels.

import { NOTHING, STEPS, covered, type Cells, type Grid } from "../../data/grid.js";
import type { Data } from "../../data/load.js";
import { cividis, rgb, type Palette } from "../../ui/colours.js";
import type { Visible } from "./window.js";

/** What the heat map shows: the class with most time, the share of waiting, or that of one class. */
export type Mode = "class" | "share" | number;

export interface Heat {
  cells: Cells;
  image: ImageData;
  /** Cells that were looked at. */
  count: number;
}

/** The share of waiting from which on a cell whose class is another one is hatched. */
const HATCHED = 0.25;

/** The level that has rows of so many pixels and all bins that fit. */
export function levelOf(grid: Grid, view: Visible, pixels: number, isByNumber: boolean): Cells | null {
  const rows = view.last - view.first;
  // Other orders need each location.
  return grid.levelFor(isByNumber ? Math.max(1, rows / pixels) : 1);
}

/** Draws the visible part at so many pixels. `rows` are the locations in their order. */
export function heat(
  data: Data, cells: Cells, view: Visible, rows: readonly number[], size: [number, number], mode: Mode, colours: Palette,
  isByNumber: boolean,
): Heat {
  const [width, height] = size;
  const image = new ImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer);
  const pack = ([red, green, blue]: [number, number, number]) => (255 << 24) | (blue << 16) | (green << 8) | red;
  const fills = data.report.classes.map((it) => pack(colours.rgb(it.colour)));
  const back = pack(rgb(colours.back));
  const hatch = pack(colours.rgb("messages"));
  const unknown = pack(rgb(colours.line));
  const scale = Array.from({ length: STEPS + 1 }, (_, at) => pack(cividis(at / STEPS)));
  const { span, bins, bin_ticks } = cells.level;
  const each = (view.end - view.begin) / width;
  // Which bins a pixel covers, and with which part of itself.
  const parts = Array.from({ length: width }, (_, x) => {
    const [begin, end] = [view.begin + x * each, view.begin + (x + 1) * each];
    return [...covered(bins, bin_ticks, begin, end)].map(([bin, part]) => [bin, (part * bin_ticks) / each] as const);
  });
  const most = new Float64Array(data.report.classes.length);
  let count = 0;
  let before = null as { key: string; line: Uint32Array } | null;
  for (let y = 0; y < height; y++) {
    const [from, to] = rowsAt(view, y, height);
    const groups = groupsOf(data, cells, rows, from, to, isByNumber);
    const isUnknown = groups.length > 0 && groups.every((group) => isUnknownGroup(data, span, group));
    const key = `${groups.join()}${isUnknown ? y % 6 : ""}`;
    // Rows of several pixels are the same but for their hatching.
    const isHatchable = mode === "class";
    if (before?.key === key && !isHatchable && !isUnknown) {
      pixels.set(before.line, y * width);
      continue;
    }
    const line = new Uint32Array(width);
    for (let x = 0; x < width; x++) {
      if (isUnknown) {
        line[x] = (x + y) % 6 === 0 ? unknown : back;
        continue;
      }
      line[x] = pixel(parts[x]!, groups, x, y);
    }
    pixels.set(line, y * width);
    before = { key, line };
  }
  return { cells, image, count };

  function pixel(bins_: readonly (readonly [number, number])[], groups: number[], x: number, y: number): number {
    let [share, all, own] = [0, 0, 0];
    if (mode === "class") most.fill(0);
    for (const group of groups) {
      const members = data.grid!.members(cells.level, group);
      for (const [bin, part] of bins_) {
        const at = group * bins + bin;
        count++;
        all += part * members;
        const waiting = (cells.share[at]! / STEPS) * part * members;
        share += waiting;
        const main = cells.main[at]!;
        if (mode === "class" && main !== NOTHING) most[main] = most[main]! + part * members;
        if (typeof mode === "number") {
          const ticks = cells.ticks?.get(mode);
          own += ticks ? (ticks[at]! / bin_ticks) * part : main === mode ? part * members : 0;
        }
      }
    }
    if (mode === "class") {
      let main = -1;
      for (let at = 0; at < most.length; at++) if (most[at]! > 0 && (main < 0 || most[at]! > most[main]!)) main = at;
      if (main < 0) return back;
      if (!data.report.classes[main]!.is_waiting && share / all >= HATCHED && (x + y) % 5 === 0) return hatch;
      return fills[main]!;
    }
    const value = all > 0 ? (mode === "share" ? share : own) / all : 0;
    return value > 0 ? scale[Math.round(Math.min(1, value) * STEPS)]! : back;
  }
}

/** Rows of a line of pixels: at least one. */
function rowsAt(view: Visible, y: number, height: number): [number, number] {
  const rows = view.last - view.first;
  const from = view.first + Math.floor((y * rows) / height);
  return [from, Math.max(from + 1, view.first + Math.floor(((y + 1) * rows) / height))];
}

function groupsOf(data: Data, cells: Cells, rows: readonly number[], from: number, to: number, isByNumber: boolean): number[] {
  const { span, groups } = cells.level;
  if (isByNumber) {
    const [first, last] = [Math.floor(from / span), Math.min(groups, Math.ceil(to / span))];
    return Array.from({ length: Math.max(1, last - first) }, (_, at) => Math.min(groups - 1, first + at));
  }
  const found: number[] = [];
  for (let row = from; row < to && row < data.places.count; row++) found.push(Math.floor(rows[row]! / span));
  return found;
}

/** Whether nothing is known of all locations of a group. */
export function isUnknownGroup(data: Data, span: number, group: number): boolean {
  const last = Math.min(data.places.count, (group + 1) * span);
  for (let at = group * span; at < last; at++) if (data.places.known[at] === 1) return false;
  return true;
}
