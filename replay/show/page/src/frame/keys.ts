// Keys that do something in every view.

import { listedWaits, shownWait, waitRows } from "../views/waits.js";
import type { Page } from "../state/context.js";
import { INITIAL, UNITS, type View } from "../state/state.js";

interface Actions {
  page: Page;
  views: View[];
  search: () => void;
  help: () => void;
  close: () => void;
}

export function keys(event: KeyboardEvent, { page, views, search, help, close }: Actions): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const target = event.target as HTMLElement;
  if (event.key === "Escape") {
    close();
    target.blur?.();
    return;
  }
  if (event.defaultPrevented || target.matches?.("input:not([type=checkbox]), select, textarea")) return;
  if (/^[1-9]$/.test(event.key)) {
    const view = views[Number(event.key) - 1];
    if (view) page.change({ view, mode: INITIAL.mode });
    return;
  }
  switch (event.key) {
    case "/": event.preventDefault(); search(); break;
    case "?": help(); break;
    case "u": page.change({ unit: UNITS[(UNITS.indexOf(page.state.unit) + 1) % UNITS.length]! }); break;
    case "m": page.change({ view: "metrics" }); break;
    case "p": page.change({ isClosed: !page.state.isClosed }); break;
    case "[": case "]": {
      const all = waitRows(page.data);
      const isList = page.state.view === "waits";
      const list = isList ? listedWaits(page, all).shown : all;
      if (list.length === 0) return;
      // The list shows its first one if none is selected.
      const now = isList && page.state.wait !== null ? list.indexOf(shownWait(page, list)!) : page.state.wait === null ? -1 : page.state.wait - 1;
      const next = list[Math.max(0, Math.min(list.length - 1, now + (event.key === "]" ? 1 : -1)))]!;
      page.change({ wait: next.number });
      break;
    }
    default: break;
  }
}
