// The visible part of the run: a stretch of time, in ticks, and neighbouring rows.

import type { Page } from "../../state/context.js";
import type { State } from "../../state/state.js";
import { FEW, locationsAround, type Wait } from "./events.js";
import { order } from "./order.js";

export interface Visible {
  begin: number;
  end: number;
  /** Positions in the order of rows: [first, last). */
  first: number;
  last: number;
}

/** Rows with details at first; all others are folded into groups. */
export const ROWS = 16;

/** The stretch and the rows that are visible. */
export function visible(page: Page): Visible {
  const { report, places } = page.data;
  const { time, rows } = page.state;
  const per = report.ticks_per_second;
  const whole: [number, number] = [0, Math.max(1, report.end)];
  const [begin, end] = time ? [Math.min(time[0] * per, whole[1] - 1), Math.min(time[1] * per, whole[1])] : whole;
  const count = Math.max(1, places.count);
  const first = rows ? Math.min(rows[0], count - 1) : 0;
  return {
    begin: Math.max(0, begin), end: end > begin ? end : begin + 1,
    first, last: rows ? Math.min(count, Math.max(first, rows[1]) + 1) : count,
  };
}

/** Shows another stretch of time. */
export function show(page: Page, begin: number, end: number, isMoving: boolean): void {
  page.change({ time: stretch(page, begin, end) }, isMoving);
}

/** A stretch of time as the state has it; null for the whole run. */
export function stretch(page: Page, begin: number, end: number): [number, number] | null {
  const { report } = page.data;
  const per = report.ticks_per_second;
  // A tick is the finest there is.
  const length = Math.max(8, Math.min(report.end, end - begin));
  const from = Math.max(0, Math.min(report.end - length, begin));
  const isWhole = from <= 0 && length >= report.end;
  return isWhole ? null : [from / per, (from + length) / per];
}

/** Shows the time around a wait and, of many rows, those of the locations around it, as far as single calls are shown there. */
export function fitWait(page: Page, wait: Wait, more: Partial<State>): void {
  const { data } = page;
  const rowOf = new Map(order(data, page.state.order).map((location, row) => [location, row]));
  const own = rowOf.get(wait.location) ?? 0;
  let rows: [number, number] | null = null;
  if (data.places.count > FEW) {
    let [first, last] = [own, own];
    for (const row of locationsAround(data, wait).map((it) => rowOf.get(it) ?? own)) {
      if (Math.max(last, row) - Math.min(first, row) < FEW) [first, last] = [Math.min(first, row), Math.max(last, row)];
    }
    // Neighbours, so that one sees where these are.
    const room = Math.max(1, Math.min(Math.ceil((ROWS - (last - first + 1)) / 2), Math.floor((FEW - (last - first + 1)) / 2)));
    const most = data.places.count - 1;
    rows = [Math.max(0, first - room), Math.min(most, last + room)];
    if (rows[1] - rows[0] >= FEW) rows = [first, last];
  }
  const beside = 0.6 * wait.ticks;
  page.change({ ...more, rows, time: stretch(page, wait.begin - beside, wait.begin + wait.ticks + beside) });
}

/** Shows other rows. */
export function showRows(page: Page, first: number, last: number, isMoving: boolean): void {
  const count = page.data.places.count;
  const size = Math.max(1, Math.min(count, last - first));
  const from = Math.max(0, Math.min(count - size, Math.round(first)));
  page.change({ rows: size >= count ? null : [from, from + Math.round(size) - 1] }, isMoving);
}

/** Zooms around a place, a part of the stretch from 0 to 1. */
export function zoom(page: Page, factor: number, at: number, isMoving: boolean): void {
  const { begin, end } = visible(page);
  const center = begin + at * (end - begin);
  show(page, center - at * (end - begin) * factor, center + (1 - at) * (end - begin) * factor, isMoving);
}

/** Positions of an axis of time: where its lines are, in ticks. */
export function marks(begin: number, end: number, per: number, most: number): number[] {
  const raw = (end - begin) / per / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = ([1, 2, 5, 10].find((it) => it * power >= raw) ?? 10) * power;
  const found: number[] = [];
  for (let at = Math.ceil(begin / per / step) * step; at <= end / per && found.length < 100; at += step) found.push(at * per);
  return found;
}

/** Decimals of times that are told apart on an axis. */
export function axisDecimals(begin: number, end: number, per: number): number {
  return Math.max(0, Math.min(9, Math.ceil(-Math.log10((end - begin) / per / 10))));
}
