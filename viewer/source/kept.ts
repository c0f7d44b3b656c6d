// What stays as it was when another result is shown.
import type { State } from "./state";

export const kept = ({
  unit,
  scale,
  hide,
  renormalise,
  fold,
  theme,
  opacity,
  least,
  ask,
}: State): Partial<State> => ({ unit, scale, hide, renormalise, fold, theme, opacity, least, ask });
