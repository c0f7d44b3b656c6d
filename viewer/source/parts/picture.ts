import { parts } from "../parts";
import { pictureView } from "../picture";

parts.picture = pictureView;
