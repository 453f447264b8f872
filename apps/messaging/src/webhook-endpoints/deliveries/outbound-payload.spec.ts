import type { DomainEvent } from '@customer-platform/events';
import { outboundPayload } from './outbound-payload.js';

function told(data: Record<string, unknown>): unknown {
  const event = {
    specversion: '1.0',
    id: '0197f6a0-0000-7000-8000-000000000001',
    type: 'core.event.recorded.v1',
    time: '2026-11-21T12:00:00.000Z',
    data,
  } as unknown as DomainEvent;
  return JSON.parse(outboundPayload(event));
}

describe('outboundPayload', () => {
  it('is type, timestamp and data', () => {
    expect(
      told({ event: 'purchase_completed', properties: { amount: 12_990, sku: 'A+1-2', at: 'noon' } }),
    ).toEqual({
      type: 'core.event.recorded',
      timestamp: '2026-11-21T12:00:00.000Z',
      data: { event: 'purchase_completed', properties: { amount: 12_990, sku: 'A+1-2', at: 'noon' } },
    });
  });

  it.each([
    [{ email: 'ana@example.com' }, { email: null }],
    [{ Email: 'no address at all' }, { Email: null }],
    [{ phone: '56911111111' }, { phone: null }],
    [{ external_id: 'ana@example.com' }, { external_id: null }],
    [{ properties: { to: ['Ana <ana@example.com>', 'x'] } }, { properties: { to: [null, 'x'] } }],
    [{ properties: { note: 'write to ana@xn--bcher-kva.example please' } }, { properties: { note: null } }],
    [{ properties: { mobile: '+56 9 1111 1111' } }, { properties: { mobile: null } }],
    [{ properties: { 'ana@example.com': 1 } }, { properties: { '': 1 } }],
    [{ email: { deep: 'x' } }, { email: null }],
  ])('leaves no address in %j', (data, expected) => {
    expect(told(data)).toMatchObject({ data: expected });
  });

  it.each([
    [{ at: '2026-11-21T12:00:00+03:00' }],
    [{ handle: '@ana' }],
    [{ price: '+1' }],
    [{ id: '0197f6a0-0000-7000-8000-000000000001' }],
    [{ nothing: null, yes: true, list: [1, 'a'] }],
  ])('leaves %j as it is', (data) => {
    expect(told(data)).toMatchObject({ data });
  });
});
