// Numbers as text, as the commands print them. A unit is joined by a space that no line breaks at.

import type { Metric, Report } from "../data/report.js";
import { isNothing } from "../data/severities.js";
import type { State } from "../state/state.js";

const JOINT = "\u00a0";

/** Decimals with which seconds have three digits that count, from 3 to 9. */
export function decimals(seconds: number): number {
  const size = Math.abs(seconds);
  let count = 3;
  for (let least = 0.0995; count < 9 && size < least && size > 0; least /= 10) count++;
  return count;
}

function plain(value: number, digits: number): string {
  const text = value.toFixed(digits);
  return /^-[0.]+$/.test(text) ? text.slice(1) : text;
}

export function seconds(value: number, digits = decimals(value)): string {
  return `${plain(value, digits)}${JOINT}s`;
}

export function share(value: number): string {
  return `${plain(100 * value, 1)}${JOINT}%`;
}

export function bytes(value: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
  let [scaled, at] = [value, 0];
  for (; Math.abs(scaled) >= 1024 && at + 1 < units.length; at++) scaled /= 1024;
  return `${plain(scaled, at > 0 ? 1 : 0)}${JOINT}${units[at]}`;
}

export function count(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return plain(value, 0);
  return String(Number(value.toPrecision(6)));
}

/** A value of a unit of the report. */
export function ofUnit(value: number, unit: string, digits = decimals(value)): string {
  switch (unit) {
    case "seconds": return seconds(value, digits);
    case "bytes": return bytes(value);
    case "count": case "": return count(value);
    case "%": return share(value / 100);
    default: return `${count(value)}${JOINT}${unit}`;
  }
}

/** A value in the unit that the user has chosen: itself, as a share of all, or by location. */
export function chosen(
  value: number | null, unit: string, state: State, report: Report, all: number | null, digits?: number,
): string {
  if (value === null || isNothing(value)) return "·";
  if (state.unit === "%" && all !== null && all !== 0) return share(value / all);
  if (state.unit === "l" && report.threads > 0 && unit !== "%") return ofUnit(value / report.threads, unit);
  return ofUnit(value, unit, digits);
}

/** A name cut in the middle to so many letters. */
export function cut(name: string, letters: number): string {
  if (name.length <= letters) return name;
  const half = Math.max(1, Math.floor((letters - 1) / 2));
  return `${name.slice(0, letters - 1 - half)}…${name.slice(-half)}`;
}

/** What differences of sums leave of nothing, as a part of the whole. */
const ROUNDING = 1e-9;

/** A value where most sums are of nothing: a point for those. */
export function sparse(combine: Metric["combine"], value: number, whole: number, text: (value: number) => string): string {
  return combine === "sum" && Math.abs(value) <= ROUNDING * Math.abs(whole) ? "·" : text(value);
}
