/** Characters that a note may have. */
export const LONGEST_NOTE = 10_000;
