// What every view gets: the data, the state, and how to change it.

import { createContext } from "preact";
import { useContext } from "preact/hooks";

import type { Data } from "../data/load.js";
import type { Quantity } from "../data/severities.js";
import type { State } from "./state.js";

export interface Page {
  data: Data;
  state: State;
  change: (more: Partial<State>, isMoving?: boolean) => void;
  /** Says something to those who do not see it. */
  say: (words: string) => void;
  /** Grows whenever there is more data. */
  version: number;
}

export const PageContext = createContext<Page | null>(null);

/** The page that a view is in. */
export function usePage(): Page {
  const page = useContext(PageContext);
  if (!page) throw new Error("a view outside of the page");
  return page;
}

/** The metric that is selected, and its values. */
export function quantityOf(page: Page): Quantity | null {
  const { severities, report } = page.data;
  const { metric, isOwn } = page.state;
  const at = report.metrics.findIndex((it) => it?.name === metric);
  if (at >= 0) return severities.ofMetric(at, isOwn);
  return severities.quantity(metric) ?? severities.quantity("time") ?? first(page);
}

function first(page: Page): Quantity | null {
  const at = page.data.report.metrics.findIndex((metric) => metric && !metric.obstacle);
  return at < 0 ? null : page.data.severities.ofMetric(at, false);
}

/** The call path that is selected; null for the whole program. */
export function cnodeOf(page: Page): number | null {
  return page.state.path === null ? null : page.data.calls.byHash(page.state.path);
}

/** The call paths whose values count: the selected one with those below, or all. */
export function cnodesOf(page: Page): number[] {
  const { calls } = page.data;
  const cnode = cnodeOf(page);
  if (cnode === null) return Array.from({ length: calls.count }, (_, at) => at);
  return page.state.isAlone ? [cnode] : calls.subtree(cnode);
}
