import { LayerControls } from "../layer_controls";
import { hasLayers, layersView } from "../layers";
import { parts } from "../parts";
import { rollerOf } from "../roller";

parts.layers = { hasLayers, layersView, LayerControls, rollerOf };
