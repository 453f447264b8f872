import { verdictOf } from './smtp-verdict.js';

const gone = { outcome: 'bounced', recipientGone: true };

it.each([
  // Before the recipient is named nothing can be the recipient's fault.
  ['MAIL', 550, '5.1.0 sender rejected', { outcome: 'bounced' }],
  ['MAIL', 550, '5.1.1 no such sender', { outcome: 'bounced' }],
  ['MAIL', 553, '5.1.7 bad sender', { outcome: 'bounced' }],
  ['MAIL', 553, '5.1.8 bad sender domain', { outcome: 'bounced' }],
  ['MAIL', 550, '5.7.1 not from here', { outcome: 'bounced' }],
  ['MAIL', 550, 'no status', { outcome: 'bounced' }],
  ['MAIL', 530, '5.7.0 authenticate first', { outcome: 'misconfigured', stage: 'MAIL' }],
  ['MAIL', 535, '5.7.8 bad credentials', { outcome: 'misconfigured', stage: 'MAIL' }],
  ['MAIL', 550, '5.7.13 account disabled', { outcome: 'misconfigured', stage: 'MAIL' }],
  ['MAIL', 451, '4.1.8 domain not found now', { outcome: 'deferred' }],
  ['RCPT', 550, '5.1.0 address', gone],
  ['RCPT', 550, '5.1.1 no such user', gone],
  ['RCPT', 550, '5.1.2 no such domain', gone],
  ['RCPT', 553, '5.1.3 syntax', gone],
  ['RCPT', 551, '5.1.6 moved', gone],
  ['RCPT', 556, '5.1.10 takes no mail', gone],
  ['RCPT', 550, '5.1.351 not known there', gone],
  ['RCPT', 550, 'User unknown', gone],
  ['RCPT', 550, 'no such user', gone],
  ['RCPT', 550, 'recipient rejected', gone],
  ['RCPT', 550, '5.0.0 the account does not exist', gone],
  ['RCPT', 550, '5.2.1 recipient rejected', { outcome: 'bounced' }],
  ['RCPT', 550, '5.7.1 recipient rejected', { outcome: 'bounced' }],
  ['RCPT', 550, '5.1.1 sender rejected: user unknown', { outcome: 'bounced' }],
  ['RCPT', 550, '5.1.90 too many today', { outcome: 'bounced' }],
  ['RCPT', 553, '5.1.7 bad sender', { outcome: 'bounced' }],
  ['RCPT', 553, '5.1.8 bad sender domain', { outcome: 'bounced' }],
  ['RCPT', 550, '5.2.1 mailbox disabled', { outcome: 'bounced' }],
  ['RCPT', 554, '5.7.1 relay access denied', { outcome: 'bounced' }],
  ['RCPT', 550, 'no status', { outcome: 'bounced' }],
  ['RCPT', 530, '5.7.0 authenticate first', { outcome: 'misconfigured', stage: 'RCPT' }],
  ['RCPT', 452, '4.2.2 full', { outcome: 'deferred' }],
  ['content', 550, '5.1.1 no such user', gone],
  ['content', 550, '5.1.0 address', gone],
  ['content', 550, '5.1.351 not known there', gone],
  ['content', 550, 'unknown user', gone],
  ['content', 550, '5.1.0 not allowed to send from there', { outcome: 'bounced' }],
  ['content', 550, '5.1.8 bad sender domain', { outcome: 'bounced' }],
  ['content', 554, '5.6.0 content', { outcome: 'bounced' }],
  ['content', 550, '5.7.1 policy', { outcome: 'bounced' }],
  ['content', 550, '5.7.8 signature', { outcome: 'bounced' }],
  ['content', 451, '4.7.1 greylisted', { outcome: 'deferred' }],
] as const)('a reply blames who is at fault: %s %i %s', (phase, code, text, expected) => {
  const enhanced = /^\d\.\d+\.\d+/.exec(text)?.[0];
  expect(verdictOf({ code, lines: [text], enhanced }, phase)).toEqual({
    code,
    ...(enhanced ? { enhanced } : {}),
    ...expected,
  });
});
