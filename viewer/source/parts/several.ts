import { parts } from "../parts";
import { Picker, Several } from "../several";

parts.several = { Picker, Several };
