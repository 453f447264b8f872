/** What is done about events that break their schema. */
export const MODES = ['off', 'warn', 'strict'] as const;
export type Mode = (typeof MODES)[number];

/** How a taxonomy is to be enforced: a mode, and those of single events. */
export interface EnforcementDraft {
  mode: Mode;
  overrides: Record<string, Mode>;
}

/** What is installed, or what is offered first. */
export function enforcementDraftOf(
  installed: { mode: Mode; overrides: Record<string, Mode> } | null,
): EnforcementDraft {
  return installed === null
    ? { mode: 'warn', overrides: {} }
    : { mode: installed.mode, overrides: { ...installed.overrides } };
}

/** With another mode for one event; undefined for that of the whole. */
export function withOverride(
  draft: EnforcementDraft,
  event: string,
  mode: Mode | undefined,
): EnforcementDraft {
  const others = Object.entries(draft.overrides).filter(([name]) => name !== event);
  return {
    ...draft,
    overrides: Object.fromEntries(mode === undefined ? others : [...others, [event, mode]]),
  };
}

/** Whether both say the same. */
export function isSameDraft(one: EnforcementDraft, other: EnforcementDraft): boolean {
  const events = new Set([...Object.keys(one.overrides), ...Object.keys(other.overrides)]);
  return (
    one.mode === other.mode && [...events].every((name) => one.overrides[name] === other.overrides[name])
  );
}

/** A mode as a list of choices gives it back. */
export function modeOf(value: string): Mode | undefined {
  return MODES.find((mode) => mode === value);
}
