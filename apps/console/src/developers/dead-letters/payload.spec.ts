import { causeOf, payloadOf } from './payload.ts';

describe('the payload of a dead letter', () => {
  it('is read as JSON, where it is any', () => {
    expect(payloadOf('{"event":"<b>"}')).toEqual({ event: '<b>' });
    expect(payloadOf('{"event":')).toBe('{"event":');
  });

  it.each([[null], ['']])('is nothing where %j is kept', (payload) => {
    expect(payloadOf(payload)).toBeUndefined();
  });
});

describe('the cause of a dead letter', () => {
  it('is known by its code, or not at all', () => {
    expect(causeOf('credential_revoked')).toBe('credential_revoked');
    expect(causeOf('constructor')).toBeUndefined();
  });
});
