const DAY_MS = 86_400_000;

/** How long a key may live, in days; `never` is until it is revoked. */
export const LIVES = ['30', '90', '365', 'never'] as const;
export type Life = (typeof LIVES)[number];

/** For how long the former key goes on after a rotation, in seconds. */
export const GRACES = [0, 3_600, 86_400, 604_800] as const;

/** When a key that is made now ends. */
export function endOf(life: Life, now: Date): string | null {
  return life === 'never' ? null : new Date(now.getTime() + Number(life) * DAY_MS).toISOString();
}
