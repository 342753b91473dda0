// The block `report`: the report in numbers, and names.

export interface Metric {
  name: string;
  title: string;
  unit: string;
  parent: number | null;
  combine: "sum" | "ratio" | "minimum" | "maximum";
  obstacle: string | null;
  about: string;
}

export interface TimeClass {
  name: string;
  title: string;
  role: string;
  colour: string;
  is_waiting: boolean;
  metrics: (number | null)[];
}

export interface Level { span: number; groups: number; bins: number; bin_ticks: number }

export interface Topology { name: string; dimensions: { name: string; size: number; periodic: boolean }[] }

export interface Report {
  title: string;
  file: string;
  program: string;
  trust: string[];
  is_trusted: boolean;
  ranks: number;
  threads: number;
  run: { total: number; length: number; waiting: number | null; mpi: number };
  ticks_per_second: number;
  end: number;
  has_details: boolean;
  /** Whether there is a server that gives windows of events. */
  has_server: boolean;
  is_exact: boolean;
  actions: { id: string; cnode: number; metric: string | null; place: string }[];
  /** Whether the first screen has advice in the place of actions. */
  has_advice: boolean;
  classes: TimeClass[];
  levels: Level[];
  metrics: (Metric | null)[];
  waiting: number[];
  delay: number[];
  regions: { name: string[]; file: string[]; line: (number | null)[]; paradigm: string[] };
  names: string[];
  nodes: { parent: number | null; name: string }[];
  topologies: Topology[];
  communicators: [number, string, number][];
  ranks_of_block: number;
  incomplete: Record<string, string>;
  limits: string[];
}

/** Whether any of the time in MPI was analysed for wait states: otherwise there may be waiting that nobody knows of. */
export function isAnalysed(report: Report): boolean {
  return (report.run.waiting ?? 0) > 0 || !report.trust.some((it) => /^coverage 0\s?%$/.test(it));
}

export interface Explanation {
  metric: string;
  title: string;
  place: string;
  meaning: string;
  large_when?: string | null;
  what_to_do?: string;
  is_waiting?: boolean;
  picture?: Picture | null;
}

export interface Picture {
  lanes: { name: string; segments: [string, number, number, string][] }[];
  measured: [number, number, string] | null;
  text: string;
}
