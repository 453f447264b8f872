/** What is done about events that break their schema. */
export const MODES = ['off', 'warn', 'strict'] as const;
export type Mode = (typeof MODES)[number];

/** How a taxonomy is to be enforced: a mode, and those of single events. */
export interface Wish {
  mode: Mode;
  overrides: Record<string, Mode>;
}

/** What is installed, or what is offered first. */
export function wishOf(installed: { mode: Mode; overrides: Record<string, Mode> } | null): Wish {
  return installed === null
    ? { mode: 'warn', overrides: {} }
    : { mode: installed.mode, overrides: { ...installed.overrides } };
}

/** With another mode for one event; undefined for that of the whole. */
export function withOverride(wish: Wish, event: string, mode: Mode | undefined): Wish {
  const others = Object.entries(wish.overrides).filter(([name]) => name !== event);
  return { ...wish, overrides: Object.fromEntries(mode === undefined ? others : [...others, [event, mode]]) };
}

/** Whether both say the same. */
export function sameWish(one: Wish, other: Wish): boolean {
  const events = new Set([...Object.keys(one.overrides), ...Object.keys(other.overrides)]);
  return (
    one.mode === other.mode && [...events].every((name) => one.overrides[name] === other.overrides[name])
  );
}

/** A mode as a list of choices gives it back. */
export function modeOf(value: string): Mode | undefined {
  return MODES.find((mode) => mode === value);
}
