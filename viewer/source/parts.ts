// What only some results need is a script of its own, and a page holds the scripts that its results need. Each says
// here that it is there; all of them have run before anything is drawn.
import type { arcsOf } from "./arcs";
import type { Compare } from "./compare";
import type { EvaluationView } from "./evaluation";
import type { LayerControls } from "./layer_controls";
import type { hasLayers, layersView } from "./layers";
import type { patchesView } from "./patches";
import type { pictureView } from "./picture";
import type { Records, TableView } from "./record";
import type { Result } from "./result";
import type { rollerOf } from "./roller";
import type { Picker, Several } from "./several";
import type { textView } from "./text";

export interface Parts {
  result?: { Result: typeof Result }; // for whatever has values
  text?: typeof textView;
  picture?: typeof pictureView;
  patches?: typeof patchesView; // for images in a prompt that has text as well
  layers?: {
    hasLayers: typeof hasLayers;
    layersView: typeof layersView;
    LayerControls: typeof LayerControls;
    rollerOf: typeof rollerOf;
  };
  arcs?: typeof arcsOf; // for single weights that a result names
  compare?: { Compare: typeof Compare };
  several?: { Picker: typeof Picker; Several: typeof Several }; // for more than one result
  tables?: { EvaluationView: typeof EvaluationView; TableView: typeof TableView; Records: typeof Records };
}

export const parts: Parts = {};
