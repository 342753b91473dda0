// Bottom up: functions, and below them who calls them.

import { useMemo } from "preact/hooks";

import { quantityOf, usePage } from "../state/context.js";
import { chosen, decimals } from "../ui/format.js";
import { Tree } from "../ui/tree.js";
import { Pane } from "./calls.js";

/** A function called in some call paths; `at` are the callers so far above, `own` the call paths whose values count. */
interface Node { name: string; at: number[]; own: number[]; children: number[] | null }

export function Callers() {
  const page = usePage();
  const { calls, severities, report } = page.data;
  const quantity = quantityOf(page);
  const nodes = useMemo(() => {
    const byName = new Map<string, Node>();
    for (let at = 0; at < calls.count; at++) {
      const node = byName.get(calls.name(at)) ?? { name: calls.name(at), at: [], own: [], children: null };
      node.at.push(at);
      node.own.push(at);
      byName.set(node.name, node);
    }
    return [...byName.values()];
  }, [page.data]);
  const count = useMemo(() => nodes.length, [nodes]);
  if (!quantity) return null;
  const { exclusive } = severities.byCall(quantity);
  const value = (node: number) => nodes[node]!.own.reduce((sum, at) => sum + exclusive[at]!, 0);
  const children = (node: number): number[] => {
    const of = nodes[node]!;
    if (of.children) return of.children;
    const byName = new Map<string, Node>();
    of.at.forEach((at, number) => {
      const caller = calls.parent[at]!;
      if (caller >= calls.count) return;
      const above = byName.get(calls.name(caller)) ?? { name: calls.name(caller), at: [], own: [], children: null };
      above.at.push(caller);
      above.own.push(of.own[number]!);
      byName.set(above.name, above);
    });
    const first = nodes.length;
    nodes.push(...byName.values());
    return (of.children = nodes.slice(first).map((_, at) => first + at));
  };
  const roots = Array.from({ length: count }, (_, at) => at).filter((at) => value(at) !== 0).sort((a, b) => value(b) - value(a));
  const all = severities.all(quantity);
  const digits = decimals(all ?? 0);
  return (
    <Pane title={`Functions: ${quantity.title}, without what they call`}>
      {quantity.combine !== "sum" ? <p class="limit">Values of this metric do not add up.</p> : (
        <Tree
          name="Functions and their callers" roots={roots} open={[]} selected={null} parent={() => null} most={() => all ?? 0}
          children={(node) => children(node)} label={(node) => nodes[node]!.name} value={value}
          text={(it) => (it === null || it === 0 ? "·" : chosen(it, quantity.unit, page.state, report, all, digits))}
          onSelect={(node) => page.change({ path: calls.hash(nodes[node]!.own[0]!), isAlone: true })}
        />
      )}
    </Pane>
  );
}
