import { LayerControls } from "../layer_controls";
import { LayersView } from "../layers";
import { parts } from "../parts";
import { Roller } from "../roller";

parts.layers = { LayersView, LayerControls, Roller };
