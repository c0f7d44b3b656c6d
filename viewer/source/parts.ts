// What only some results need is a script of its own, and a page holds the scripts that its results need. Each says
// here that it is there; all of them have run before anything is drawn.
import type { Compare } from "./compare";
import type { EvaluationView } from "./evaluation";
import type { LayerControls } from "./layer_controls";
import type { LayersView } from "./layers";
import type { PatchesView } from "./patches";
import type { PictureView } from "./picture";
import type { Records, TableView } from "./record";
import type { Result } from "./result";
import type { Roller } from "./roller";
import type { Picker, Several } from "./several";
import type { TextView } from "./text";

export interface Parts {
  result?: { Result: typeof Result }; // for whatever has values
  text?: typeof TextView;
  picture?: typeof PictureView;
  patches?: typeof PatchesView; // for images in a prompt that has text as well
  layers?: {
    LayersView: typeof LayersView;
    LayerControls: typeof LayerControls;
    Roller: typeof Roller;
  };
  compare?: { Compare: typeof Compare };
  several?: { Picker: typeof Picker; Several: typeof Several }; // for more than one result
  tables?: { EvaluationView: typeof EvaluationView; TableView: typeof TableView; Records: typeof Records };
}

export const parts: Parts = {};
