import { parts } from "../parts";
import { textView } from "../text";

parts.text = textView;
