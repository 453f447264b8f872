import { bodyOf, delayOf, draftOf, NEW_ROUTING, patchOf, type RoutingRule } from './routing-draft.ts';

const RULE: RoutingRule = {
  id: '01a2074e-e222-7141-b80f-cf7ad31fc5af',
  name: 'Thank for a purchase',
  enabled: true,
  event_type: 'core.event.recorded',
  event_name: 'purchase_completed',
  condition: {
    any: [
      { path: 'event.properties.amount', op: 'gte', value: 10_000 },
      { path: 'contact.attributes.plan', op: 'in', value: ['pro', 'gold'] },
    ],
  },
  channel: 'email',
  template_id: '01a2074e-e108-72ea-9489-a1e0d464095f',
  recipient: { from: 'event', path: 'properties.email' },
  category: 'marketing',
  topic: 'news',
  delay_seconds: 5_400,
  maker: null,
  standing: 'permitted',
  created_at: '2026-01-01T03:00:00.000Z',
  updated_at: '2026-01-01T03:00:00.000Z',
  deleted_at: null,
};

const written = ({
  id: _,
  created_at: __,
  updated_at: ___,
  deleted_at: ____,
  maker: _____,
  standing: ______,
  ...rest
}: RoutingRule): object => rest;

describe('a rule of event routing in its form', () => {
  it('is written as it was read', () => {
    expect(bodyOf(draftOf(RULE))).toEqual(written(RULE));
  });

  it('keeps a condition of groups in groups as it is', () => {
    const condition = { all: [{ any: [{ path: 'event.a', op: 'eq', value: 1 }] }] };
    expect(bodyOf(draftOf({ ...RULE, condition })).condition).toEqual(condition);
  });

  it('has no name where the event has none', () => {
    const draft = { ...draftOf(RULE), eventType: 'core.segment.entered' as const };
    expect(bodyOf(draft).event_name).toBeNull();
  });

  it('takes back by null what another recipient and another way to join had', () => {
    const draft = { ...draftOf(RULE), to: 'contact' as const, joined: 'all' as const };
    const { recipient, condition } = patchOf(bodyOf(draft));
    expect(recipient).toEqual({ from: 'contact', path: null, value: null });
    expect(condition).toMatchObject({ any: null });
    expect(patchOf(bodyOf({ ...draft, conditions: [] })).condition).toBeNull();
  });

  it('says a delay by its largest whole unit', () => {
    expect([0, 45, 5_400, 7_200, 172_800].map(delayOf)).toEqual([
      { delay: '0', unit: 'minutes' },
      { delay: '45', unit: 'seconds' },
      { delay: '90', unit: 'minutes' },
      { delay: '2', unit: 'hours' },
      { delay: '2', unit: 'days' },
    ]);
    expect(bodyOf({ ...NEW_ROUTING, delay: '1.5', unit: 'hours' }).delay_seconds).toBe(5_400);
  });
});
