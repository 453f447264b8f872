/** Acts of a life. Each acts on a family of three. */
export const ACTS = [
  ...(['merge', 'undo', 'erase', 'delete', 'restore', 'purge', 'import', 'archive', 'seal anew'] as const),
  ...(['grant', 'withdraw', 'grant late', 'withdraw late', 'grant ahead', 'short grant'] as const),
  ...([
    'refuse all',
    'event',
    'event again',
    'replay',
    'pass on',
    'disagree',
    'archive of two',
    'withdraw meanwhile',
  ] as const),
  ...(['note', 'decline', 'stop', 'start'] as const),
];
/** One of {@link ACTS}. */
export type Act = (typeof ACTS)[number];

/** A number below another, as the seed has it. */
export type Pick = (below: number) => number;
