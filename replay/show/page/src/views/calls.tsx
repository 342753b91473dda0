// The view Calls: the trees of metrics, call paths and the system, of which each conditions those right of it; or one metric
// as an icicle, or bottom up.

import { useMemo } from "preact/hooks";

import { cnodeOf, cnodesOf, quantityOf, usePage, type Page } from "../state/context.js";
import { chosen, decimals, sparse } from "../ui/format.js";
import { Tree } from "../ui/tree.js";
import { Callers } from "./callers.js";
import { Flame } from "./flame.js";
import { Rest } from "./rest.js";
import { systemTree } from "./system.js";

const MODES = [["", "three trees"], ["flame", "flame graph"], ["callers", "bottom up"]] as const;

export function Calls() {
  const page = usePage();
  const { mode } = page.state;
  return (
    <div class="calls">
      <div class="modes" role="group" aria-label="Form">
        {MODES.map(([name, title]) => (
          <button type="button" key={name} aria-pressed={mode === name} onClick={() => page.change({ mode: name })}>{title}</button>
        ))}
        <span class="limit">An open metric or call path shows what is its own, a closed one with all below it; the system's nodes always have all below them.</span>
      </div>
      <div class="trees">
        <MetricTree page={page} />
        {mode === "flame" ? <Flame /> : mode === "callers" ? <Callers /> : <CallTree page={page} />}
        <SystemTree page={page} />
      </div>
    </div>
  );
}

/** Pseudo-metrics stand before those of the report: -1 is all waiting. */
const WAITING = -1;

function MetricTree({ page }: { page: Page }) {
  const { report, severities } = page.data;
  const children = useMemo(() => {
    const below = new Map<number, number[]>();
    report.metrics.forEach((metric, at) => {
      if (!metric) return;
      let parent = metric.parent;
      while (parent !== null && !report.metrics[parent]) parent = null;
      const key = parent ?? -2;
      below.set(key, [...(below.get(key) ?? []), at]);
    });
    return below;
  }, [report]);
  const parent = (node: number) => {
    const above = node < 0 ? null : report.metrics[node]!.parent;
    return above !== null && report.metrics[above] ? above : null;
  };
  const roots = [...(report.waiting.length > 0 ? [WAITING] : []), ...(children.get(-2) ?? [])];
  const selected = page.state.metric === "waiting" ? WAITING : report.metrics.findIndex((it) => it?.name === page.state.metric);
  const quantity = (node: number, isOpen: boolean) =>
    node === WAITING ? severities.quantity("waiting")! : severities.ofMetric(node, isOpen);
  const value = (node: number, isOpen: boolean) => {
    const of = quantity(node, isOpen);
    return of.obstacle ? null : severities.all(of);
  };
  const root = (node: number): number => {
    const parent = node < 0 ? null : report.metrics[node]!.parent;
    return parent === null || !report.metrics[parent] ? node : root(parent);
  };
  const wholes = useMemo(() => new Map(roots.map((node) => [node, value(node, false) ?? 0])), [page.data]);
  const whole = (node: number) => wholes.get(root(node)) ?? 0;
  const open = useMemo(() => {
    const above: number[] = [];
    for (let at: number | null = selected; at !== null && at >= 0; at = report.metrics[at]?.parent ?? null) above.push(at);
    // Times show where they went.
    return above.slice(1);
  }, []);
  return (
    <Pane title="Metrics">
      <Tree
        name="Metrics" roots={roots} children={(node) => children.get(node) ?? []} open={open} parent={parent}
        label={(node) => (node === WAITING ? "Waiting (all)" : report.metrics[node]!.title)}
        note={(node) => (quantity(node, false).obstacle ?? "")}
        value={value} most={whole}
        text={(it, node) => (it === null ? "" : sparse(quantity(node, false).combine, it, whole(node), (value) =>
          chosen(value, quantity(node, false).unit, page.state, report, whole(node), decimals(whole(node)))))}
        selected={selected < -1 ? null : selected}
        onSelect={(node, isOpen) => page.change({
          metric: node === WAITING ? "waiting" : report.metrics[node]!.name,
          isOwn: isOpen && (children.get(node)?.length ?? 0) > 0,
        })}
      />
    </Pane>
  );
}

function CallTree({ page }: { page: Page }) {
  const { calls, severities, report } = page.data;
  const quantity = quantityOf(page);
  const selected = cnodeOf(page);
  const open = useMemo(() => openAtFirst(page), [page.data]);
  if (!quantity) return null;
  const totals = severities.byCall(quantity);
  const all = severities.all(quantity);
  const digits = decimals(all ?? 0);
  return (
    <Pane title={`Call paths: ${quantity.title}${page.state.isOwn ? " (own)" : ""}`}>
      <Tree
        name="Call paths" roots={calls.roots} children={(node) => calls.children[node]!} open={open} parent={(node) => (calls.parent[node]! < calls.count ? calls.parent[node]! : null)}
        label={(node) => calls.name(node)} note={(node) => calls.place(node) ?? ""}
        value={(node, isOpen) => (quantity.obstacle ? null : (isOpen && calls.children[node]!.length > 0 ? totals.exclusive : totals.inclusive)[node]!)}
        text={(it) => quantity.obstacle ?? sparse(quantity.combine, it ?? 0, all ?? 0, (value) => chosen(value, quantity.unit, page.state, report, all, digits))}
        most={() => all ?? 0} selected={selected}
        onSelect={(node, isOpen) => page.change({ path: calls.hash(node), isAlone: isOpen && calls.children[node]!.length > 0 })}
      />
    </Pane>
  );
}

/** The path along which most of the metric is, and that of the selection. */
function openAtFirst(page: Page): number[] {
  const { calls, severities } = page.data;
  const quantity = quantityOf(page);
  const open = new Set<number>();
  const selected = cnodeOf(page);
  if (selected !== null) for (let at = calls.parent[selected]!; at < calls.count; at = calls.parent[at]!) open.add(at);
  if (quantity) {
    const { inclusive } = severities.byCall(quantity);
    const most = (nodes: readonly number[]) => nodes.reduce((a, b) => (inclusive[b]! > inclusive[a]! ? b : a), nodes[0]!);
    let level: readonly number[] = calls.roots;
    for (let depth = 0; level.length > 0 && depth < 40; depth++) {
      const node = most(level);
      if (calls.children[node]!.length === 0) break;
      open.add(node);
      level = calls.children[node]!;
    }
  }
  return [...open];
}

function SystemTree({ page }: { page: Page }) {
  const { severities, places, report } = page.data;
  const quantity = quantityOf(page);
  const tree = useMemo(() => systemTree(page.data), [page.data]);
  const cnodes = useMemo(() => cnodesOf(page), [page.state.path, page.state.isAlone, page.data]);
  const by = useMemo(
    () => (quantity && severities.hasLocations(quantity) ? severities.byLocation(quantity, cnodes) : null),
    [quantity?.name, page.state.isOwn, cnodes, page.version],
  );
  if (!quantity) return null;
  if (!by) return <Pane title="System"><p class="limit">{quantity.obstacle ?? "This metric has no values that add up over locations."}</p></Pane>;
  const sums = tree.sums(by.values);
  const all = severities.all(quantity);
  const most = Math.max(0, ...tree.nodes.map((_, at) => (tree.isLeaf(at) ? Math.abs(sums[at] ?? 0) : 0)));
  const digits = decimals(most);
  const unknown = (node: number) => tree.isUnknown(node);
  return (
    <Pane title="System">
      {by.covered < 0.9995 && (
        <p class="limit">
          {severities.isComplete
            ? `${(100 * by.covered).toFixed(1)} % of this value is in the page by location; of the rest it has sums and a few numbers.`
            : "loading"}
        </p>
      )}
      {by.covered < 0.9995 && severities.isComplete && <Rest quantity={quantity} cnodes={cnodes} />}
      <Tree
        name="System" roots={tree.roots} children={(node) => tree.children(node)} open={tree.open} parent={tree.parent}
        label={(node) => tree.label(node)} note={(node) => (unknown(node) ? "unknown: no events" : "")}
        value={(node) => (unknown(node) ? null : sums[node]!)} most={() => most}
        text={(it) => (it === null ? "?" : sparse(quantity.combine, it, most, (value) => chosen(value, quantity.unit, page.state, report, all, digits)))}
        selected={page.state.location === null || page.state.location >= places.count ? null : tree.ofLocation(page.state.location)}
        onSelect={(node) => page.change({ location: tree.location(node) })}
      />
    </Pane>
  );
}

export function Pane(props: { title: string; children: preact.ComponentChildren }) {
  return (
    <section class="pane" aria-label={props.title}>
      <h2>{props.title}</h2>
      {props.children}
    </section>
  );
}
