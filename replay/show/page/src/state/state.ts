// State of the page: everything that a link restores. It is read from the part of the address behind #, by a grammar: unknown
// keys are ignored, and wrong values are those that nobody has chosen.

export const VIEWS = ["overview", "calls", "time", "waits", "ranks", "messages", "iterations", "metrics"] as const;
export type View = (typeof VIEWS)[number];
export const UNITS = ["s", "%", "l"] as const;
export const ORDERS = ["number", "node", "topology", "waiting"] as const;

export interface State {
  view: View;
  /** Visible time, in seconds. */
  time: [number, number] | null;
  /** Visible locations: first and last. */
  rows: [number, number] | null;
  metric: string;
  /** Whether the metric is what those below it do not have. */
  isOwn: boolean;
  /** The hash of the call path. */
  path: string | null;
  /** Whether the call path is meant alone. */
  isAlone: boolean;
  location: number | null;
  /** The number of the wait, from 1. */
  wait: number | null;
  unit: (typeof UNITS)[number];
  order: (typeof ORDERS)[number];
  theme: "light" | "dark" | null;
  /** What the view shows: its own words. */
  mode: string;
  /** Whether the panel of the selection is closed. */
  isClosed: boolean;
}

export const INITIAL: State = {
  view: "overview", time: null, rows: null, metric: "waiting", isOwn: false, path: null, isAlone: false, location: null,
  wait: null, unit: "s", order: "number", theme: null, mode: "", isClosed: false,
};

const NUMBER = /^\d{1,12}$/;
const SECONDS = /^(\d{1,12}(?:\.\d{1,12})?)-(\d{1,12}(?:\.\d{1,12})?)$/;
const WORD = /^[A-Za-z0-9_:.+-]{1,200}$/;

function oneOf<T extends string>(words: readonly T[], value: string): T | null {
  return words.find((word) => word === value) ?? null;
}

function range(pattern: RegExp, value: string, isEqualAllowed: boolean): [number, number] | null {
  const found = pattern.exec(value);
  if (!found) return null;
  const [from, to] = [Number(found[1]), Number(found[2])];
  return from < to || (isEqualAllowed && from === to) ? [from, to] : null;
}

/** The state that the address says. */
export function parse(hash: string): State {
  const state: State = { ...INITIAL };
  for (const part of hash.replace(/^#/, "").slice(0, 4000).split("&")) {
    const equals = part.indexOf("=");
    const [key, value] = [part.slice(0, Math.max(0, equals)), part.slice(equals + 1)];
    switch (key) {
      case "v": state.view = oneOf(VIEWS, value) ?? state.view; break;
      case "t": state.time = range(SECONDS, value, false) ?? state.time; break;
      case "r": state.rows = range(/^(\d{1,9})-(\d{1,9})$/, value, true) ?? state.rows; break;
      case "m": if (WORD.test(value)) state.metric = value; break;
      case "mo": state.isOwn = value === "1"; break;
      case "p": if (/^[0-9a-f]{8}$/.test(value)) state.path = value; break;
      case "pa": state.isAlone = value === "1"; break;
      case "l": if (NUMBER.test(value)) state.location = Number(value); break;
      case "i": if (NUMBER.test(value) && Number(value) > 0) state.wait = Number(value); break;
      case "u": state.unit = oneOf(UNITS, value) ?? state.unit; break;
      case "o": state.order = oneOf(ORDERS, value) ?? state.order; break;
      case "d": state.theme = value === "1" ? "dark" : value === "0" ? "light" : state.theme; break;
      case "x": if (WORD.test(value)) state.mode = value; break;
      case "c": state.isClosed = value === "1"; break;
      default: break;
    }
  }
  return state;
}

/** A number of seconds without more digits than it needs. */
export function digits(seconds: number): string {
  return String(Number(seconds.toFixed(9)));
}

/** The address of a state: only what differs from the initial one. */
export function format(state: State): string {
  const parts: string[] = [];
  const add = (key: string, value: string | null) => { if (value !== null) parts.push(`${key}=${value}`); };
  add("v", state.view === INITIAL.view ? null : state.view);
  add("t", state.time && `${digits(state.time[0])}-${digits(state.time[1])}`);
  add("r", state.rows && `${state.rows[0]}-${state.rows[1]}`);
  add("m", state.metric === INITIAL.metric || !WORD.test(state.metric) ? null : state.metric);
  add("mo", state.isOwn ? "1" : null);
  add("p", state.path);
  add("pa", state.isAlone ? "1" : null);
  add("l", state.location === null ? null : String(state.location));
  add("i", state.wait === null ? null : String(state.wait));
  add("u", state.unit === INITIAL.unit ? null : state.unit);
  add("o", state.order === INITIAL.order ? null : state.order);
  add("d", state.theme && (state.theme === "dark" ? "1" : "0"));
  add("x", state.mode === "" ? null : state.mode);
  add("c", state.isClosed ? "1" : null);
  return `#${parts.join("&")}`;
}
