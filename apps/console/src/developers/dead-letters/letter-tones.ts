/** How urgent a letter's state looks. */
export const LETTER_TONES = {
  pending: 'bad',
  replaying: 'warn',
  replayed: 'good',
  closed: 'neutral',
} as const;
