/** What a program says when it ends while it starts, and what to do about it. */
const REMEDIES: readonly (readonly [said: RegExp, remedy: string])[] = [
  [
    /address already in use|EADDRINUSE|could not bind/i,
    'another program has taken its port meanwhile: start again, and it takes a free one',
  ],
  [
    /database files are incompatible/,
    'the data are of another release: start that one, or begin anew with --reset',
  ],
  [
    /no space left on device|ENOSPC/i,
    'the disk is full (no space left on device): free some space and start again',
  ],
  [
    /OutOfMemoryError|cannot allocate memory|insufficient memory/i,
    'too little memory is left: end other programs and start again',
  ],
];
const LONGEST = 600;

/** One line for a program that ended while it was starting: what it was, what to do or what it said, and its log. */
export function startFailure(name: string, how: string, said: string, log: string): string {
  const remedy = REMEDIES.find(([pattern]) => pattern.test(said))?.[1];
  const words =
    said
      .trim()
      .replaceAll(/\s*\n\s*/g, ' ')
      .slice(-LONGEST) || 'nothing';
  return `${name} ended while it was starting (${how}): ${remedy ?? `it said ${words}`}. Its log is ${log}.`;
}
