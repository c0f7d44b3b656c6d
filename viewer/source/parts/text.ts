import { parts } from "../parts";
import { TextView } from "../text";

parts.text = TextView;
