// What the server says and is asked. server/models.cpp and server/question.cpp are the other side.
import type { Page } from "../contract";

export interface ServedModel {
  name: string;
  about: string;
  sees: "text" | "image";
  writes: boolean; // it can continue a text
  targets: boolean; // it has logits to ask about
  layers: number;
  classes: string[];
  texts: string[]; // examples
  images: string[]; // names of examples
}

export interface Menu {
  headwater: string;
  methods: { name: string; options: string[] }[];
  files: boolean; // files of attention may be dropped
  models: ServedModel[];
}

/** One line of an answer. */
export interface Line {
  progress?: [what: string, done: number, total: number];
  text?: string; // generated so far
  page?: Page;
  error?: string;
}
