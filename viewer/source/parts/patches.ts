import { parts } from "../parts";
import { patchesView } from "../patches";

parts.patches = patchesView;
