// Frame of the page: header, views, panel of the selection, and the time strip.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";

import type { Data } from "../data/load.js";
import { PageContext, type Page } from "../state/context.js";
import { INITIAL, type View } from "../state/state.js";
import type { Store } from "../state/store.js";
import { Calls } from "../views/calls.js";
import { IterationsView } from "../views/iterations/view.js";
import { Messages } from "../views/messages.js";
import { MetricsView } from "../views/metrics.js";
import { First, Overview } from "../views/overview.js";
import { Ranks } from "../views/ranks.js";
import { TimeView } from "../views/time/view.js";
import { Waits } from "../views/waits.js";
import { Guard } from "./guard.js";
import { Header } from "./header.js";
import { Help } from "./help.js";
import { keys } from "./keys.js";
import { Panel } from "./panel.js";
import { Strip } from "./strip.js";
import { VIEWS } from "./views.js";

export function Frame(props: { data: Data; store: Store; version: number }) {
  const { data, store, version } = props;
  const [, redraw] = useState(0);
  const [isHelp, setHelp] = useState(false);
  const live = useRef<HTMLDivElement>(null);
  const search = useRef<HTMLInputElement>(null);
  const center = useRef<HTMLElement>(null);
  useEffect(() => store.subscribe(() => redraw((count) => count + 1)), [store]);
  useEffect(() => {
    // Pictures take their colours from the style.
    const redrawn = () => redraw((count) => count + 1);
    const queries = ["(prefers-color-scheme: dark)", "(forced-colors: active)"].map((query) => matchMedia(query));
    queries.forEach((query) => query.addEventListener("change", redrawn));
    return () => queries.forEach((query) => query.removeEventListener("change", redrawn));
  }, []);
  useEffect(() => {
    // A menu that the mouse has chosen in gives the keys back; who uses keys stays there.
    let isPointer = false;
    const pointer = () => { isPointer = true; };
    const typed = () => { isPointer = false; };
    const changed = (event: Event) => { if (isPointer && event.target instanceof HTMLSelectElement) event.target.blur(); };
    document.addEventListener("pointerdown", pointer, true);
    document.addEventListener("keydown", typed, true);
    document.addEventListener("change", changed);
    return () => {
      document.removeEventListener("pointerdown", pointer, true);
      document.removeEventListener("keydown", typed, true);
      document.removeEventListener("change", changed);
    };
  }, []);
  const { state } = store;
  const root = document.documentElement;
  if (state.theme) root.dataset["theme"] = state.theme;
  else delete root.dataset["theme"];
  const views = VIEWS.filter((view) => view.isThere(data));
  const page: Page = useMemo(() => ({
    data, version, state,
    change: (more, isMoving) => store.change(more, isMoving),
    say: (words) => { if (live.current) live.current.textContent = words; },
  }), [data, version, state, store]);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) =>
      keys(event, {
        page, views: views.map((it) => it.name), search: () => search.current?.focus(), help: () => setHelp((is) => !is),
        close: () => { if (isHelp) setHelp(false); else if (!state.isClosed) page.change({ isClosed: true }); },
      });
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  });
  const view = views.find((it) => it.name === state.view) ?? views[0]!;
  // A view begins at its top, wherever one was in the last.
  useEffect(() => center.current?.scrollTo(0, 0), [view.name]);
  return (
    <PageContext.Provider value={page}>
      <Header search={search} help={() => setHelp(true)} />
      <nav class="views" aria-label="Views">
        {views.map((it, at) => (
          <button
            type="button" key={it.name} aria-current={it.name === view.name ? "page" : undefined}
            onClick={() => page.change({ view: it.name, mode: INITIAL.mode })}
          >
            <kbd aria-hidden="true">{at + 1}</kbd> {it.title}
          </button>
        ))}
      </nav>
      <main ref={center} class="center" data-view={view.name} tabIndex={-1}>
        <First isHidden={view.name !== "overview"} />
        <Guard key={view.name}><Center view={view.name} /></Guard>
      </main>
      {!state.isClosed && <Panel />}
      <Strip />
      {isHelp && <Help close={() => setHelp(false)} />}
      <div class="live" role="status" aria-live="polite" ref={live} />
    </PageContext.Provider>
  );
}

function Center(props: { view: View }) {
  switch (props.view) {
    case "calls": return <Calls />;
    case "time": return <TimeView />;
    case "waits": return <Waits />;
    case "ranks": return <Ranks />;
    case "messages": return <Messages />;
    case "iterations": return <IterationsView />;
    case "metrics": return <MetricsView />;
    default: return <Overview />;
  }
}
