import {
  newestOfParts,
  readAskedTimeline,
  readTimelineParts,
  TIMELINE_HEADER,
  timelineHeader,
  writeTimelineParts,
  type AskedTimeline,
} from './timeline-parts.js';

const PATH = '/v1/core/events';
const TYPES = new Set(['event', 'consent']);
const ID = '019a6f0e-2b1c-7c3d-9e4f-5a6b7c8d9e0f';
const AFTER = { occurredAt: '2026-11-21T09:00:00.000Z', id: ID };
const PARTS = { event: { fields: ['id', 'event'] }, consent: { fields: ['id'], after: AFTER } };
const QUERY = `contact_id=${ID}&sort=-occurred_at&limit=50`;

const read = (
  url: string,
  header: unknown = timelineHeader(PARTS),
  headers = {},
): AskedTimeline | undefined => {
  const value = typeof header === 'string' ? header : JSON.stringify(header);
  return readAskedTimeline(
    { method: 'GET', url, headers: { [TIMELINE_HEADER]: value, ...headers } },
    PATH,
    TYPES,
  );
};

describe('a request for all parts at once', () => {
  it('is read as it was written, with the place of the first part in the query or without', () => {
    const asked = { contactId: ID, limit: 50, parts: PARTS };
    expect(read(`${PATH}?${QUERY}`)).toEqual(asked);
    expect(read(`${PATH}?${QUERY}&before_occurred_at=2026-11-21T09%3A00&before_id=${ID}`)).toEqual(asked);
  });

  it.each([
    PATH,
    `${PATH}/stream?${QUERY}`,
    `/v1/core/other?${QUERY}`,
    `${PATH}?${QUERY}&event=paid`,
    `${PATH}?${QUERY}0`,
    `${PATH}?contact_id=${ID}&sort=-occurred_at&limit=0`,
    `${PATH}?contact_id=${ID}&sort=-occurred_at&limit=201`,
    `${PATH}?contact_id=${ID}&sort=occurred_at&limit=50`,
    `${PATH}?contact_id=${'0'.repeat(36)}&sort=-occurred_at&limit=50`,
  ])('%s is for the list', (url) => {
    expect(read(url)).toBeUndefined();
  });

  it.each([
    'text',
    [],
    {},
    null,
    { send: { after: null, fields: [] } },
    { event: null },
    { event: { after: null } },
    { event: { fields: [] } },
    { event: { after: 'x', fields: [] } },
    { event: { after: [], fields: [] } },
    { event: { after: ['2026-13-21T09:00:00.000Z', ID], fields: [] } },
    { event: { after: ['infinity', ID], fields: [] } },
    { event: { after: [AFTER.occurredAt, 'x'], fields: [] } },
    { event: { after: null, fields: [1] } },
    { event: { after: null, fields: ['__proto__'.repeat(9)] } },
    { event: { after: null, fields: Array.from({ length: 11 }, () => 'id') } },
  ])('with the header %j is for the list', (header) => {
    expect(read(`${PATH}?${QUERY}`, header)).toBeUndefined();
  });

  it('is no other method, and none that is traced', () => {
    const headers = { [TIMELINE_HEADER]: timelineHeader(PARTS) };
    expect(
      readAskedTimeline({ method: 'HEAD', url: `${PATH}?${QUERY}`, headers }, PATH, TYPES),
    ).toBeUndefined();
    expect(read(`${PATH}?${QUERY}`, undefined, { traceparent: '00-1-2-01' })).toBeUndefined();
  });
});

describe('an answer of all parts', () => {
  const asked: AskedTimeline = { contactId: ID, limit: 50, parts: PARTS };

  it('is read as it was written, items as text', () => {
    const event = { id: ID, event: 'paid\n', properties: { line: '\u2028\n' } };
    const text = writeTimelineParts(asked, {
      event: { status: 200, items: [event, { id: ID }], more: true, removedUntil: AFTER.occurredAt },
      consent: { status: 404 },
    });
    expect([...readTimelineParts(text)]).toEqual([
      [
        'event',
        {
          status: 200,
          items: [
            { head: { id: ID, event: 'paid\n' }, text: JSON.stringify(event) },
            { head: { id: ID, event: null }, text: JSON.stringify({ id: ID }) },
          ],
          more: true,
          removedUntil: AFTER.occurredAt,
        },
      ],
      ['consent', { status: 404 }],
    ]);
  });

  it.each([
    '',
    '<html>',
    'null',
    '[]',
    '{"event": {}}',
    '{"event": {"status": 200}}',
    '{"event": {"status": 200, "fields": [], "heads": [[]]}}',
    '{"event": {"status": 200, "fields": [], "heads": [1]}}\n{}',
    '{"event": {"status": 200, "fields": [], "heads": [[]]}}\n[]',
    '{"event": {"status": 200, "fields": [], "heads": [[]]}}\n{',
    '{"event": {"status": 200, "fields": [], "heads": []}}\n{}',
  ])('%j is none', (text) => {
    expect(() => readTimelineParts(text)).toThrow(TypeError);
  });
});

describe('the newest of several parts', () => {
  const rows = (...places: [number, string][]): { at: number; id: string }[] =>
    places.map(([at, id]) => ({ at, id }));
  const first = rows([3, 'b'], [2, 'b'], [1, 'b']);
  const second = rows([3, 'c'], [2, 'a']);

  it.each([
    [0, [0, 0]],
    [1, [0, 1]],
    [2, [1, 1]],
    [3, [2, 1]],
    [4, [2, 2]],
    [9, [3, 2]],
  ])('%s of them', (limit, counts) => {
    expect(newestOfParts([first, second], ({ at }) => at, limit)).toEqual(counts);
  });
});
