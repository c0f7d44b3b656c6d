import { parts } from "../parts";
import { PictureView } from "../picture";

parts.picture = PictureView;
