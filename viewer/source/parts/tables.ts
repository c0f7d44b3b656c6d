import { EvaluationView } from "../evaluation";
import { parts } from "../parts";
import { Records, TableView } from "../record";

parts.tables = { EvaluationView, TableView, Records };
