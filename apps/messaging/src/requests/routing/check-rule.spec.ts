import { checkRule, type GivenRule } from './check-rule.js';

const OF_BEFORE = { from: 'address', value: '+560987650053' } as const;

const rule = (recipient: object): GivenRule =>
  ({
    eventType: 'core.event.recorded',
    eventName: 'paid',
    channel: 'sms',
    condition: null,
    recipient,
  }) as unknown as GivenRule;

describe('checkRule', () => {
  it('leaves a number that the rule has, and takes no other of no numbering plan', () => {
    expect(checkRule(rule(OF_BEFORE), OF_BEFORE).recipient).toEqual(OF_BEFORE);
    const other = { from: 'address', value: '+560987650054' };
    expect(() => checkRule(rule(other), OF_BEFORE)).toThrow(expect.objectContaining({ status: 400 }));
    const good = { from: 'address', value: '+56987650054' };
    expect(checkRule(rule(good), OF_BEFORE).recipient).toEqual(good);
  });
});
