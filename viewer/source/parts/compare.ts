import { Compare } from "../compare";
import { parts } from "../parts";

parts.compare = { Compare };
