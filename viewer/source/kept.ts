// What stays as it was when another result is shown.
import { ANEW } from "./session";
import { START, type State } from "./state";

const { item, beside, search } = START;

export const kept = (state: State): Partial<State> => ({ ...state, ...ANEW, item, beside, search });
