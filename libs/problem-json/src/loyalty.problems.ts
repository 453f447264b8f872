import { define } from './problem-definition.js';

/** Codes of the loyalty module. */
export const loyaltyProblems = define({
  insufficient_points: [
    409,
    'Insufficient points',
    'The contact has fewer available points than the call takes.',
    'Spend at most what `available` says.',
  ],
  already_reversed: [
    409,
    'Already reversed',
    'The transaction was reversed before.',
    'See the transaction in `reversed_by`.',
  ],
  not_reversible: [
    409,
    'Not reversible',
    'The transaction cannot be reversed, or nothing of it is left.',
    'Post an adjustment instead.',
  ],
});
