/** What speaks for two contacts being one person. */
export const SIGNALS = ['email', 'phone', 'national_id', 'name_birth_date', 'device_id'] as const;

/** One of {@link SIGNALS}. */
export type Signal = (typeof SIGNALS)[number];

/** A value that both contacts claim. */
export interface Reason {
  readonly signal: Signal;
  readonly type: string;
  /** In the form in which it is matched; shown to nobody. */
  readonly value: string;
  readonly masked: string;
}

/** How much each speaks for it, alone; a telephone is shared more often than a mailbox, a device most often. */
const WEIGHTS: Readonly<Record<Signal, number>> = {
  national_id: 0.95,
  email: 0.8,
  name_birth_date: 0.7,
  phone: 0.6,
  device_id: 0.3,
};

/** What the claim of an identity of this type is a signal of; undefined: of nothing. */
export function signalOf(type: string): Signal | undefined {
  if (type === 'email' || type === 'phone') return type;
  return type === 'device_id' || type === 'anonymous_id' || type === 'custom.push_token'
    ? 'device_id'
    : undefined;
}

/** Together they speak for it unless each of them is wrong: 0 to 1, to two places. */
export function scoreOf(reasons: readonly Pick<Reason, 'signal'>[]): number {
  const wrong = reasons.reduce((product, { signal }) => product * (1 - WEIGHTS[signal]), 1);
  return Math.round((1 - wrong) * 100) / 100;
}

/** A value as a suggestion may show it: enough to recognize, not to use. */
export function maskSignal(type: string, value: string): string {
  if (type === 'email') {
    const at = value.lastIndexOf('@');
    return `${value.slice(0, 1)}***${value.slice(at)}`;
  }
  return `***${value.slice(-Math.min(4, Math.floor(value.length / 2)))}`;
}
