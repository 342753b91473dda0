// The view Metrics: all explanations.

import { useState } from "preact/hooks";

import { usePage } from "../state/context.js";
import { Explain } from "../ui/explain.js";

export function MetricsView() {
  const page = usePage();
  const [words, setWords] = useState("");
  const has = new Set(page.data.report.metrics.flatMap((metric) => (metric ? [metric.name] : [])));
  const wanted = words.toLowerCase();
  const shown = page.data.explanations.filter((it) => `${it.metric} ${it.title} ${it.meaning}`.toLowerCase().includes(wanted));
  const chosen = page.data.explanations.find((it) => it.metric === page.state.metric);
  return (
    <div class="columns">
      <div class="list">
        <label>Find <input type="search" value={words} onInput={(event) => setWords(event.currentTarget.value)} /></label>
        <ul>
          {shown.map((it) => (
            <li key={it.metric}>
              <button
                type="button" class={`choose${it.metric === page.state.metric ? " selected" : ""}`}
                aria-current={it.metric === page.state.metric ? "true" : undefined}
                onClick={() => page.change({ metric: it.metric, isOwn: false })}
              >
                {it.title} <code>{it.metric}</code>{has.has(it.metric) || it.metric === "waiting" ? "" : " (not in this report)"}
              </button>
            </li>
          ))}
        </ul>
      </div>
      <div class="text">{chosen ? <Explain of={chosen} isMain /> : <p>Choose a metric: its meaning, when it is large, and what to do.</p>}</div>
    </div>
  );
}
