/** Lets go of what stands in a place: `go` runs at once, or once somebody has said that what they wrote there may go. */
type Guard = (place: Node & ParentNode, go: () => void) => void;

let guard: Guard = (_, go) => go();

/** Leaves a place in which something may have been written and not saved. */
export const leave: Guard = (place, go) => guard(place, go);

/** Sets who is asked before something is left. @returns what sets it back */
export function guardLeaving(asks: Guard): () => void {
  const before = guard;
  guard = asks;
  return () => void (guard = before);
}
