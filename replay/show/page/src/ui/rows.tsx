// Tables of rows that can be chosen and sorted.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

export interface ColumnOf<T> {
  title: string;
  cell: (row: T) => ComponentChildren;
  /** What rows are sorted by; columns without it do not sort. */
  key?: (row: T) => number | string;
  isNumber?: boolean;
}

interface Props<T> {
  name: string;
  columns: ColumnOf<T>[];
  rows: readonly T[];
  /** At most so many rows are shown; the number of others is said. */
  limit?: number;
  selected?: (row: T) => boolean;
  onSelect?: (row: T) => void;
}

/** Rows of a table, if nobody says how many. */
const LIMIT = 200;

export function Rows<T>(props: Props<T>) {
  const [sort, setSort] = useState<{ column: number; isUp: boolean } | null>(null);
  const limit = props.limit ?? LIMIT;
  let rows = props.rows;
  const key = sort && props.columns[sort.column]?.key;
  if (sort && key) {
    const order = (a: T, b: T) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0);
    rows = [...rows].sort((a, b) => (sort.isUp ? order(a, b) : order(b, a)));
  }
  const shown = rows.slice(0, limit);
  return (
    <div class="rows" tabIndex={0} role="region" aria-label={props.name}>
      <table>
        <thead>
          <tr>
            {props.columns.map((column, at) => (
              <th
                scope="col" class={column.isNumber ? "number" : ""} key={column.title + at}
                aria-sort={sort?.column === at ? (sort.isUp ? "ascending" : "descending") : undefined}
              >
                {column.key
                  ? <button type="button" onClick={() => setSort({ column: at, isUp: sort?.column === at ? !sort.isUp : !column.isNumber })}>
                      {column.title || "number"}{sort?.column === at ? (sort.isUp ? " ▴" : " ▾") : ""}
                    </button>
                  : column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((row, number) => (
            <tr key={number} class={props.selected?.(row) ? "selected" : ""} aria-current={props.selected?.(row) ? "true" : undefined}>
              {props.columns.map((column, at) => (
                <td class={column.isNumber ? "number" : ""} key={at}>
                  {at === 0 && props.onSelect
                    ? <button type="button" class="choose" onClick={() => props.onSelect!(row)}>{column.cell(row)}</button>
                    : column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > limit && <p class="limit">and {rows.length - limit} more</p>}
      {rows.length === 0 && <p class="limit">none</p>}
    </div>
  );
}
