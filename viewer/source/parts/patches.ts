import { parts } from "../parts";
import { PatchesView } from "../patches";

parts.patches = PatchesView;
