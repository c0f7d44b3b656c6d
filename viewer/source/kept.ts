// What stays as it was when another result is shown.
import type { State } from "./state";

export function kept({
  unit,
  scale,
  hide,
  renormalise,
  fold,
  theme,
  opacity,
  least,
  ask,
}: State): Partial<State> {
  return { unit, scale, hide, renormalise, fold, theme, opacity, least, ask };
}
