import { EVENT_TYPES } from '@customer-platform/events';
import { eventName, SUBSCRIPTIONS, subscriptionsTo } from './subscriptions.js';

describe('subscriptions', () => {
  it('are the events of every module without their version, and each module as a whole', () => {
    for (const type of EVENT_TYPES) {
      const found = subscriptionsTo(type);
      expect(found).toEqual([type.replace(/\.v\d+$/, ''), `${type.split('.')[0]}.*`]);
      for (const one of found) expect(SUBSCRIPTIONS).toContain(one);
    }
    expect(SUBSCRIPTIONS.filter((one) => one.endsWith('.*'))).toEqual([
      'core.*',
      'crm.*',
      'identity.*',
      'loyalty.*',
      'messaging.*',
    ]);
    expect(SUBSCRIPTIONS.some((one) => /\.v\d+$/.test(one))).toBe(false);
  });

  it('name an event the same in each of its versions', () => {
    expect(eventName('core.contact.created.v1')).toBe('core.contact.created');
    expect(eventName('core.contact.created.v12')).toBe('core.contact.created');
  });
});
