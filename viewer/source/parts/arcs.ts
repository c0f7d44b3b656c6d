import { arcsOf } from "../arcs";
import { parts } from "../parts";

parts.arcs = arcsOf;
