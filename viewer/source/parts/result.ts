import { parts } from "../parts";
import { Result } from "../result";

parts.result = { Result };
