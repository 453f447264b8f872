import fc from 'fast-check';
import {
  decodeAcceptances,
  decodeRecord,
  encodeFrame,
  encodeRecord,
  UnreadableRecord,
  type QueuedEvent,
} from './event-frame.js';

const ID = '0197f2c4-5d1e-7a3b-8c4d-5e6f7a8b9c0d';

const queuedEvent = fc.record({
  organizationId: fc.uuid(),
  eventId: fc.uuid({ version: 8 }),
  kind: fc.constantFrom('track' as const, 'identify' as const),
  receivedAt: fc.integer({ min: 0, max: Date.UTC(3000, 0, 1) }),
  unconfirmedKey: fc.option(fc.stringMatching(/^[0-9a-f]{64}$/), { nil: undefined }),
  body: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
}) satisfies fc.Arbitrary<QueuedEvent>;

describe('the record of the queue', () => {
  it('gives back every event, byte by byte and in order', () => {
    fc.assert(
      fc.property(fc.array(queuedEvent, { minLength: 1, maxLength: 20 }), (events) => {
        const record = encodeRecord(events.map(encodeFrame));
        expect(decodeRecord(record)).toEqual(events);
        expect(decodeAcceptances(record)).toEqual(
          events.map(({ organizationId, receivedAt }) => ({ organizationId, receivedAt })),
        );
      }),
    );
  });

  it('never takes a cut or foreign record for events', () => {
    fc.assert(
      fc.property(queuedEvent, fc.nat(), (event, at) => {
        const record = encodeRecord([encodeFrame(event), encodeFrame(event)]);
        const half = 1 + (record.length - 1) / 2;
        const cut = 1 + (at % (record.length - 1));
        fc.pre(cut !== 1 && cut !== half);
        expect(() => decodeRecord(record.subarray(0, cut))).toThrow(UnreadableRecord);
        expect(() => decodeAcceptances(record.subarray(0, cut))).toThrow(UnreadableRecord);
      }),
    );
    expect(() => decodeRecord(Buffer.from('{"event":"x"}'))).toThrow(UnreadableRecord);
    expect(() => decodeRecord(Buffer.alloc(0))).toThrow(UnreadableRecord);
  });

  it.each([
    ['whose organization is no id', { organizationId: 'not-a-uuid'.padEnd(36, 'x') }],
    ['whose organization is an id in another form', { organizationId: ID.toUpperCase() }],
    ['whose event is no id', { eventId: 'x'.repeat(36) }],
    ['that was received in no year that a day has', { receivedAt: 2 ** 48 - 1 }],
  ])('is none with an event %s', (_, wrong) => {
    const event = {
      organizationId: ID,
      eventId: ID,
      kind: 'track',
      receivedAt: 0,
      body: Buffer.of(),
    } as const;
    const record = encodeRecord([encodeFrame(event), encodeFrame({ ...event, ...wrong })]);
    expect(() => decodeRecord(record)).toThrow(UnreadableRecord);
    expect(() => decodeAcceptances(record)).toThrow(UnreadableRecord);
  });
});
