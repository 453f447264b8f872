import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  AUDIENCE_TYPES,
  bodyOf,
  dataOf,
  doneOf,
  draftOf,
  mayRun,
  mergeTo,
  NEW_CAMPAIGN,
  outcomeOf,
  PROGRESS_PARTS,
  progressOf,
  SKIP_REASONS,
  type Campaign,
} from './campaign.ts';
import { CAMPAIGN_STATES } from './vocabulary.ts';

const read = (path: string): string => readFileSync(join(import.meta.dirname, path), 'utf8');

const CAMPAIGN: Campaign = {
  id: '019a6f0e-2b1c-7c3d-9e4f-5a6b7c8d9e0f',
  name: 'Spring',
  channel: 'email',
  template_id: '019a6f0e-2b1c-7c3d-9e4f-5a6b7c8d9e01',
  audience: { type: 'list', id: '019a6f0e-2b1c-7c3d-9e4f-5a6b7c8d9e02' },
  category: 'marketing',
  topic: null,
  data: { shop: { city: 'Arica' } },
  repeatable: false,
  paused: false,
  state: 'draft',
  last_run: null,
  maker: null,
  standing: 'permitted',
  created_at: '2026-11-26T10:00:00.000Z',
  updated_at: '2026-11-26T10:00:00.000Z',
  deleted_at: null,
};
const RUN: NonNullable<Campaign['last_run']> = {
  id: '019a6f0e-2b1c-7c3d-9e4f-5a6b7c8d9e03',
  state: 'running',
  reason: null,
  counts: { audience: 21, pending: 5, skipped: 2, sent: 3, delivered: 4, held: 1, bounced: 2, capped: 4 },
  skipped_reasons: { duplicate_address: 2 },
  template_version: 1,
  started_at: '2026-11-26T10:00:00.000Z',
  finished_at: null,
};

describe.each(['en', 'es'])('the words in %s', (language) => {
  const texts = JSON.parse(read(`messages.${language}.json`)) as Record<string, Record<string, string>>;

  it.each([
    ['states', CAMPAIGN_STATES],
    ['audienceTypes', AUDIENCE_TYPES],
    ['parts', PROGRESS_PARTS],
    ['skipReasons', SKIP_REASONS],
    ['fields', Object.keys(bodyOf(NEW_CAMPAIGN))],
  ])('say all %s', (name, codes) => {
    expect(Object.keys(texts[name] ?? {}).sort()).toEqual([...codes].sort());
  });
});

describe('a run', () => {
  it('is told in parts that are together its audience', () => {
    const parts = progressOf(RUN);
    expect(Object.fromEntries(parts.map(({ part, count }) => [part, count]))).toEqual({
      out: 7,
      lost: 6,
      skipped: 2,
      waiting: 1,
      pending: 5,
    });
    expect(parts.find(({ part }) => part === 'lost')?.states).toEqual([
      { state: 'bounced', count: 2 },
      { state: 'capped', count: 4 },
    ]);
    expect(doneOf(RUN)).toEqual({ done: 15, audience: 21 });
  });

  it('begins once, and again only where it may repeat and is completed', () => {
    expect(mayRun(CAMPAIGN)).toBe(true);
    const completed = { ...CAMPAIGN, last_run: RUN, state: 'completed' } as const;
    expect(mayRun(completed)).toBe(false);
    expect(mayRun({ ...completed, repeatable: true })).toBe(true);
    expect(mayRun({ ...completed, repeatable: true, state: 'paused' })).toBe(false);
    expect(mayRun({ ...CAMPAIGN, deleted_at: '2026-11-26T10:00:00.000Z' })).toBe(false);
  });
});

describe('a run that has ended', () => {
  const ended = (counts: Record<string, number>) =>
    outcomeOf({ state: 'completed', last_run: { ...RUN, state: 'completed', counts } });

  it('is not told as if all were well where nobody got anything', () => {
    expect(ended({ audience: 7, failed: 7 })).toBe('reachedNobody');
    expect(ended({ audience: 7, skipped: 5, opted_out: 2 })).toBe('reachedNobody');
    expect(ended({ audience: 7, failed: 6, sent: 1 })).toBe('someFailed');
    expect(ended({ audience: 7, skipped: 3, delivered: 4 })).toBe('fine');
    expect(ended({ audience: 1, complained: 1 })).toBe('fine');
    expect(ended({ audience: 0 })).toBe('fine');
    const failing = { ...RUN, counts: { audience: 7, failed: 6, pending: 1 } };
    expect(outcomeOf({ state: 'running', last_run: failing })).toBe('fine');
  });
});

describe('the form', () => {
  it('writes what it was given where nobody touched it', () => {
    expect(bodyOf(draftOf(CAMPAIGN))).toEqual({
      name: 'Spring',
      channel: 'email',
      template_id: CAMPAIGN.template_id,
      audience: CAMPAIGN.audience,
      category: 'marketing',
      topic: null,
      data: { shop: { city: 'Arica' } },
      repeatable: false,
    });
  });

  it.each(['{', '[]', '1', 'null', '"a"', '{"order": 9007199254740993}'])('takes no %s as data', (data) => {
    expect(dataOf({ data })).toBeUndefined();
  });

  it('takes nothing as no data', () => {
    expect(dataOf({ data: ' ' })).toEqual({});
  });

  it('says by a merge what of the data is gone', () => {
    const before = { kept: 1, gone: 2, inner: { gone: 3, kept: [1] } };
    expect(mergeTo(before, { kept: 1, inner: { kept: [2] }, more: {} })).toEqual({
      kept: 1,
      gone: null,
      inner: { gone: null, kept: [2] },
      more: {},
    });
  });
});
