// What the time view shows of single calls and messages, as tables.

import { usePage } from "../../state/context.js";
import { bytes, decimals, seconds } from "../../ui/format.js";
import { Rows } from "../../ui/rows.js";
import { FEW, callsIn, coverage, messagesIn } from "./events.js";
import type { Visible } from "./window.js";

/** Rows of a table. */
const MOST = 200;

export function Listed({ view, rowOf }: { view: Visible; rowOf: Map<number, number> }) {
  const { data } = usePage();
  const { places, calls, report } = data;
  const per = report.ticks_per_second;
  const isShown = (location: number) => {
    const row = rowOf.get(location);
    return row !== undefined && row >= view.first && row < view.last;
  };
  if (view.last - view.first > FEW || coverage(data, view).length === 0) return null;
  const messages = messagesIn(data, view).filter((it) => isShown(it.source) && isShown(it.destination));
  const shown = callsIn(data, view).filter((it) => isShown(it.location)).sort((a, b) => a.enter - b.enter || a.depth - b.depth);
  // Times that differ by a pixel look different.
  const digits = decimals((view.end - view.begin) / per / 1000);
  const time = (ticks: number) => seconds(ticks / per, digits);
  return (
    <div class="listed">
      <details>
        <summary>{messages.length} message{messages.length === 1 ? " that ends" : "s that end"} in this time, as a table</summary>
        <Rows
          name="Messages in this time" rows={messages} limit={MOST}
          columns={[
            { title: "from", cell: (it) => places.name(it.source) },
            { title: "to", cell: (it) => places.name(it.destination) },
            { title: "send begins", cell: (it) => time(it.begin), key: (it) => it.begin, isNumber: true },
            { title: "receive ends", cell: (it) => time(it.end), key: (it) => it.end, isNumber: true },
            { title: "waited", cell: (it) => (it.waited > 0 ? seconds(it.waited / per) : "·"), key: (it) => it.waited, isNumber: true },
            { title: "size", cell: (it) => bytes(it.bytes), key: (it) => it.bytes, isNumber: true },
            { title: "tag", cell: (it) => it.tag, isNumber: true },
          ]}
        />
      </details>
      <details>
        <summary>{shown.length} call{shown.length === 1 ? "" : "s"} in this time, as a table</summary>
        <Rows
          name="Calls in this time" rows={shown} limit={MOST}
          columns={[
            { title: "who", cell: (it) => places.name(it.location) },
            { title: "function", cell: (it) => calls.name(it.cnode) },
            { title: "begins", cell: (it) => time(it.enter), key: (it) => it.enter, isNumber: true },
            { title: "ends", cell: (it) => time(it.leave), key: (it) => it.leave, isNumber: true },
            { title: "takes", cell: (it) => seconds((it.leave - it.enter) / per), key: (it) => it.leave - it.enter, isNumber: true },
          ]}
        />
      </details>
    </div>
  );
}
