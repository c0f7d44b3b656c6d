import { EvaluationView, TableView } from "../evaluation";
import { parts } from "../parts";

parts.tables = { EvaluationView, TableView };
