// The view Overview: the first screen, as it is without scripts, with ways into the other views.

import { useEffect, useMemo, useRef } from "preact/hooks";

import { isAnalysed } from "../data/report.js";
import { usePage } from "../state/context.js";
import { waitRows, waitsOfMetric } from "./waits.js";

/** The first screen, which stays in the document, hidden in other views: it is printed in any case. */
export function First(props: { isHidden: boolean }) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const first = document.getElementById("first");
    first?.removeAttribute("role");
    if (first && box.current) box.current.appendChild(first);
  }, []);
  return <div class="slot" ref={box} hidden={props.isHidden} />;
}

export function Overview() {
  const page = usePage();
  const { report, calls, places } = page.data;
  const waits = useMemo(() => waitRows(page.data), [page.data, page.version]);
  const first = (metric: string) => waitsOfMetric(page.data, waits, metric)[0]?.number ?? null;
  const ranks = (first: number) => page.change({ view: "ranks", metric: "waiting", isOwn: false, path: null, location: first });
  // Advice has links of its own.
  const actions = report.has_advice ? [] : report.actions;
  const hasRanks = report.run.waiting !== null && isAnalysed(report) && places.count > 1;
  return (
    <div class="further">
      {(actions.length > 0 || (report.has_advice && hasRanks)) && (
        <nav aria-label="Look at what to do first">
          <h2>Look at it</h2>
          {actions.map((action, at) => (
            <p key={action.id}>
              {at + 1}{" "}
              <button type="button" onClick={() => page.change({ view: "calls", metric: "delay", isOwn: false, path: calls.hash(action.cnode), isAlone: false })}>
                {calls.name(action.cnode)} in Calls
              </button>{" "}
              {action.metric && first(action.metric) !== null && (
                <button type="button" onClick={() => page.change({ view: "waits", metric: action.metric!, isOwn: false, path: null, wait: first(action.metric!) })}>
                  its severest waits
                </button>
              )}{" "}
              {action.metric && (
                <button type="button" onClick={() => page.change({ view: "metrics", metric: action.metric!, isOwn: false })}>
                  what it means
                </button>
              )}
            </p>
          ))}
          {hasRanks && (
            <p><button type="button" onClick={() => ranks(0)}>waiting of all ranks</button></p>
          )}
        </nav>
      )}
      {report.limits.length > 0 && (
        <section>
          <h2>Not in this page</h2>
          <ul class="limit">{report.limits.map((limit) => <li key={limit}>{limit}</li>)}</ul>
        </section>
      )}
    </div>
  );
}
