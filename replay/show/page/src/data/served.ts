// Windows of events that a server reads from the trace when the page asks for them.

import { NONE, type Table } from "./table.js";

/** Calls and messages of some locations in a stretch of time, in ticks. */
export interface ServedWindow {
  begin: number;
  end: number;
  locations: number[];
  /** Calls shorter than this may be missing; 0 if none is. */
  droppedBelow: number;
  /** What a limit has left out of the messages, in words; null if nothing. */
  missing: string | null;
  tables: Map<string, Table>;
}

/** What is asked for. */
export interface Wanted { begin: number; end: number; locations: number[] }

interface Answer {
  error?: string;
  begin: number;
  end: number;
  locations: number[];
  dropped_below: number;
  complete: Record<string, true | string>;
}

/** The most locations of a window. */
export const MOST_LOCATIONS = 64;

/** Windows that are kept. */
const KEPT = 12;

/** Part of a view that calls may be missing of: less than a pixel. */
const UNSEEN = 1 / 2000;

export class Served {
  /** The last one first. */
  windows: ServedWindow[] = [];
  isAsking = false;
  /** Why the last question had no answer. */
  problem: string | null = null;
  /** The last question, which is not asked again at once. */
  private last = "";

  constructor(private readonly changed: () => void) {}

  /** Windows that have all calls of a stretch of this length that anybody would see. */
  of(length: number): ServedWindow[] {
    return this.windows.filter((it) => it.droppedBelow <= length * UNSEEN);
  }

  /** Asks the server, one question at a time. */
  async ask(wanted: Wanted): Promise<void> {
    const query = `begin=${wanted.begin}&end=${wanted.end}&locations=${wanted.locations.join(",")}`;
    if (this.isAsking || query === this.last) return;
    this.last = query;
    this.isAsking = true;
    this.changed();
    try {
      const answer = (await (await fetch(`window.json?${query}`)).json()) as Answer;
      this.problem = answer.error ?? null;
      if (answer.error === undefined) this.windows = [windowOf(answer), ...this.windows].slice(0, KEPT);
    } catch {
      this.problem = "the server does not answer";
    }
    this.isAsking = false;
    this.changed();
  }
}

function windowOf(answer: Answer): ServedWindow {
  const messages = answer.complete["window_messages"];
  const tables = new Map<string, Table>();
  for (const name of ["window_calls", "window_messages"]) {
    const columns = Object.entries((answer as unknown as Record<string, Record<string, (number | null)[]>>)[name] ?? {});
    const numbers = new Map(columns.map(([column, values]) => [column, Float64Array.from(values, (value) => value ?? NONE)]));
    tables.set(name, { rows: columns[0]?.[1].length ?? 0, numbers, bytes: new Map() });
  }
  return {
    begin: answer.begin, end: answer.end, locations: answer.locations, droppedBelow: Number(answer.dropped_below),
    missing: typeof messages === "string" ? messages : null, tables,
  };
}
