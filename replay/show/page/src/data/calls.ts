// Call paths: who calls whom, their names, and how links name them.

import type { Report } from "./report.js";
import { NONE, column, type Numbers, type Table } from "./table.js";

/** Names of a path that are shown; the middle of a longer one is left out, as in the terminal. */
const SHOWN = 128;

export class Calls {
  readonly count: number;
  readonly parent: Numbers;
  readonly region: Numbers;
  readonly roots: number[] = [];
  readonly children: number[][];
  private readonly hashes: Numbers;

  constructor(private readonly report: Report, table: Table) {
    this.count = table.rows;
    this.parent = column(table, "parent");
    this.region = column(table, "region");
    this.hashes = column(table, "hash");
    this.children = Array.from({ length: this.count }, () => []);
    for (let at = 0; at < this.count; at++) {
      const parent = this.parent[at]!;
      if (parent === NONE) this.roots.push(at);
      else this.children[parent]!.push(at);
    }
  }

  /** The function of a call path. */
  name(cnode: number): string {
    return this.report.regions.name[this.region[cnode] ?? NONE] ?? "?";
  }

  /** The colour of a call: the class of time that it is usually in. The root is the program, whoever has defined it. */
  colour(cnode: number): string {
    if (this.roots.includes(cnode)) return "work";
    switch (this.report.regions.paradigm[this.region[cnode] ?? NONE]) {
      case "mpi": return "communicate";
      case "openmp": case "pthread": return "threads";
      case "measurement": return "tool";
      case "io": return "files";
      default: return "work";
    }
  }

  /** The names of a call path from the root on. */
  names(cnode: number): string[] {
    const names: string[] = [];
    for (let at = cnode; at !== NONE && at < this.count; at = this.parent[at]!) names.push(this.name(at));
    return names.reverse();
  }

  /** A call path for people. */
  path(cnode: number): string {
    const names = this.names(cnode);
    if (names.length > SHOWN) names.splice(SHOWN / 2, names.length - SHOWN, "…");
    return names.join("/");
  }

  /** A call path as the commands' option --path takes it. */
  glob(cnode: number): string {
    const quoted = (name: string) => (name === "" || /[/*']/.test(name) ? `'${name.replaceAll("'", "''")}'` : name);
    return this.names(cnode).map(quoted).join("/");
  }

  /** File and line where the function of a call path begins, if they are known. */
  place(cnode: number): string | null {
    const { file, line } = this.report.regions;
    const region = this.region[cnode] ?? NONE;
    return file[region] && line[region] != null ? `${file[region]}:${line[region]}` : null;
  }

  /** How links name a call path. */
  hash(cnode: number): string {
    return (this.hashes[cnode] ?? 0).toString(16).padStart(8, "0");
  }

  /** The call path of a link. */
  byHash(hash: string): number | null {
    const at = this.hashes.indexOf(Number.parseInt(hash, 16) as never);
    return at < 0 ? null : at;
  }

  /** A call path and all below it, callers first. */
  subtree(cnode: number): number[] {
    const found = [cnode];
    for (let at = 0; at < found.length; at++) found.push(...this.children[found[at]!]!);
    return found;
  }
}
