// Trees (WAI-ARIA): values left of names, keys as everywhere, and only the visible rows in the document.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

import { isNothing } from "../data/severities.js";

export interface TreeProps {
  name: string;
  roots: readonly number[];
  children: (node: number) => readonly number[];
  /** The node above; null for roots. What is selected elsewhere is revealed. */
  parent: (node: number) => number | null;
  label: (node: number) => string;
  /** What stands behind the label. */
  note?: (node: number) => string;
  /** The value of a node, which may depend on whether it is open; null is unknown or none. */
  value: (node: number, isOpen: boolean) => number | null;
  text: (value: number | null, node: number) => string;
  /** The value that fills the bar of a node. */
  most: (node: number) => number;
  selected: number | null;
  onSelect: (node: number, isOpen: boolean) => void;
  /** Nodes that are open at first. */
  open: readonly number[];
}

interface Row { node: number; depth: number; place: number; siblings: number }

/** Rows above and below the visible ones that are there. */
const MARGIN = 20;

/** Nodes up to which all are opened at once. */
const MOST = 20_000;

export function Tree(props: TreeProps) {
  const [open, setOpen] = useState(() => new Set(props.open));
  const [active, setActive] = useState<number | null>(null);
  const [scroll, setScroll] = useState(0);
  const [size, setSize] = useState({ row: 24, view: 600 });
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const hidden: number[] = [];
    const above = (node: number | null) => (node === null ? null : props.parent(node));
    for (let at = above(props.selected); at !== null; at = props.parent(at)) if (!open.has(at)) hidden.push(at);
    if (hidden.length > 0) setOpen(new Set([...open, ...hidden]));
  }, [props.selected]);
  useLayoutEffect(() => {
    const measure = () => {
      const font = Number.parseFloat(getComputedStyle(box.current!).fontSize) || 16;
      setSize({ row: Math.round(1.6 * font), view: box.current!.clientHeight || 600 });
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(box.current!);
    return () => observer.disconnect();
  }, []);

  const rows: Row[] = [];
  const add = (nodes: readonly number[], depth: number) =>
    nodes.forEach((node, place) => {
      rows.push({ node, depth, place, siblings: nodes.length });
      if (open.has(node)) add(props.children(node), depth + 1);
    });
  add(props.roots, 1);

  const current = rows.findIndex((row) => row.node === (active ?? props.selected));
  const focus = (at: number) => {
    const row = rows[Math.max(0, Math.min(rows.length - 1, at))];
    if (!row) return;
    setActive(row.node);
    props.onSelect(row.node, open.has(row.node));
    const [top, element] = [rows.indexOf(row) * size.row, box.current!];
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + size.row > element.scrollTop + element.clientHeight) {
      element.scrollTop = top + size.row - element.clientHeight;
    }
  };
  const toggle = (node: number, isOpen: boolean) => {
    if (props.children(node).length === 0) return;
    const next = new Set(open);
    if (isOpen) next.add(node);
    else next.delete(node);
    setOpen(next);
    if (node === props.selected) props.onSelect(node, isOpen);
  };
  const openAll = () => {
    const all = [...props.roots];
    for (let at = 0; at < all.length && all.length < MOST; at++) all.push(...props.children(all[at]!));
    setOpen(new Set(all));
  };
  const onKey = (event: KeyboardEvent) => {
    const at = Math.max(0, current);
    const row = rows[at];
    if (!row || event.ctrlKey || event.altKey || event.metaKey) return;
    const isOpen = open.has(row.node);
    const page = Math.max(1, Math.floor(size.view / size.row) - 1);
    switch (event.key) {
      case "ArrowDown": focus(current < 0 ? 0 : at + 1); break;
      case "ArrowUp": focus(at - 1); break;
      case "PageDown": focus(at + page); break;
      case "PageUp": focus(at - page); break;
      case "Home": focus(0); break;
      case "End": focus(rows.length - 1); break;
      case "ArrowRight": if (isOpen) focus(at + 1); else toggle(row.node, true); break;
      case "ArrowLeft":
        if (isOpen) toggle(row.node, false);
        else focus(rows.slice(0, at).findLastIndex((above) => above.depth < row.depth));
        break;
      case "*": openAll(); break;
      case "Enter": case " ": toggle(row.node, !isOpen); focus(at); break;
      default: return;
    }
    event.preventDefault();
    event.stopPropagation();
  };

  const first = Math.max(0, Math.floor(scroll / size.row) - MARGIN);
  const last = Math.min(rows.length, Math.ceil((scroll + size.view) / size.row) + MARGIN);
  const id = `tree-${props.name.replaceAll(/\W/g, "")}`;
  return (
    <div
      class="tree" role="tree" aria-label={props.name} tabIndex={0} ref={box} onKeyDown={onKey}
      aria-activedescendant={current >= first && current < last ? `${id}-${rows[current]!.node}` : undefined}
      onScroll={() => setScroll(box.current!.scrollTop)}
    >
      <div class="space" role="presentation" style={{ height: `${first * size.row}px` }} />
      {rows.slice(first, last).map((row) => {
        const isOpen = open.has(row.node);
        const value = props.value(row.node, isOpen);
        const most = props.most(row.node);
        const part = value !== null && !isNothing(value) && most > 0 ? Math.max(0, Math.min(1, Math.abs(value) / most)) : 0;
        const isParent = props.children(row.node).length > 0;
        return (
          <div
            key={row.node} id={`${id}-${row.node}`} class={`row${row.node === props.selected ? " selected" : ""}`} role="treeitem"
            aria-level={row.depth} aria-posinset={row.place + 1} aria-setsize={row.siblings}
            aria-selected={row.node === props.selected} aria-expanded={isParent ? isOpen : undefined}
            data-node={row.node} data-value={value === null || isNothing(value) ? "" : value}
            onClick={() => { setActive(row.node); props.onSelect(row.node, isOpen); }}
            onDblClick={() => toggle(row.node, !isOpen)}
          >
            <span class="value">
              <span class="bar" style={{ width: `${(100 * part).toFixed(1)}%` }} />
              <span class="number">{props.text(value, row.node)}</span>
            </span>
            <span class="indent" style={{ width: `${(row.depth - 1) * 0.9}em` }} />
            <span
              class="toggle" aria-hidden="true"
              onClick={(event) => { event.stopPropagation(); setActive(row.node); toggle(row.node, !isOpen); }}
            >
              {isParent ? (isOpen ? "▾" : "▸") : ""}
            </span>
            <span class="label">{props.label(row.node)}</span>
            {props.note && <span class="note">{props.note(row.node)}</span>}
          </div>
        );
      })}
      <div class="space" role="presentation" style={{ height: `${(rows.length - last) * size.row}px` }} />
    </div>
  );
}
