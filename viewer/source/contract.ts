// What a page holds. headwater/output/page/contents.cpp writes it; the names are those of the JSON output
// where both have a thing.

export interface Page {
  headwater: string; // the version that wrote it
  command: string; // what was typed; "" if unknown
  items: Item[];
}

export type Item = Attribution | Comparison | Evaluation | Table;

// Values over the largest of their row, which is in `scale`; see headwater/output/page/pack.h.
export interface Packed {
  rows: number;
  columns: number;
  coding: "f32" | "f16" | "root16" | "root8";
  steps: number; // K of root8 and root16
  difference: boolean;
  scale: string;
  data: string;
}

export interface Tokens {
  labels: string[];
  before: string[]; // between a token and the one before it
  text: string[]; // its own part of the text; "" for a token that has none
  special: number[];
}

export interface Picture {
  uri: string;
  width: number;
  height: number;
  seen: [number, number, number, number]; // x, y, width, height
  rows: number;
  columns: number;
  prefix: number; // tokens before the patches
}

export interface Options {
  preset: string;
  fuse: string;
  residual: number;
  discard: number;
  order: "residual_first" | "discard_first" | string;
  empty: string;
  divide: string;
  layers: [number, number];
}

export interface Cut {
  layer: number[];
  from: number[];
  to: number[];
  capacity: number[];
}

export interface Edges {
  layer: number;
  from: number[]; // token of the layer's output
  to: number[]; // token of its input
  value: number[];
}

export interface Attribution {
  kind: "attribution";
  about?: string; // a line that says what to look at
  command?: string; // what makes it, if not the command of the page
  method: string;
  title: string;
  details: string[];
  label: string;
  options: Options;
  inputs: Tokens;
  outputs?: Tokens; // what rows are about, if not the inputs
  rows: number[]; // the output token of each row; empty if `mean`
  mean: boolean; // one row, the mean over all outputs
  columns?: number[]; // the input token of each column, if not all
  by_layer?: number[]; // the top layer of each matrix in values
  shown: number; // the row to show first
  left_out?: number[]; // tokens that a filter left out
  renormalise: boolean;
  signed: boolean;
  values: Packed[];
  maps?: Packed[]; // fused, of each layer of options.layers
  fixed?: string; // why the page cannot recompute the result from them, if it cannot
  no_layers?: string; // how to get the layers that are not there
  image?: Picture;
  cut?: Cut;
  carried?: Cut; // the flow of which it is the cut: what its largest arcs carry
  heads?: Packed; // layers x heads: the relevance that passes each head
  edges?: Edges;
  notes: string[];
}

export interface Comparison {
  kind: "comparison";
  about?: string;
  command?: string;
  by: string;
  title: string;
  details: string[];
  panels: Attribution[];
  agreement: number[][]; // Spearman's rank correlation, the mean over rows
}

export interface Spreads {
  mean: (number | null)[];
  deviation: (number | null)[];
  count: number[];
}

export interface EvaluationRecord {
  file: string;
  count: number;
  options: Options;
  correlation: Record<string, Record<string, Spreads>>;
  truth?: { methods: Record<string, Spreads>; found?: Record<string, Spreads>; chance: Spreads };
  faithfulness?: Record<
    string,
    { comprehensiveness: Spreads; sufficiency: Spreads; area: Spreads; curve: number[] }
  >;
  examples: {
    line: number;
    tokens: string[];
    target: { name: string };
    probability?: number;
    correlation: Record<string, Record<string, (number | null)[]>>;
  }[];
  notes: string[];
}

export interface Evaluation {
  kind: "evaluation";
  about?: string;
  command?: string;
  title: string;
  details: string[];
  record: EvaluationRecord;
}

export interface Table {
  kind: "table";
  about?: string;
  command?: string;
  title: string;
  details: string[];
  record: Record<string, unknown>;
}
