import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  DOMAIN_STATES,
  failsAt,
  foundOf,
  RECORD_FAULTS,
  RECORD_STATUSES,
  ROLES,
  rolesOf,
  type DomainRecord,
} from './sender-domain.ts';

const read = (path: string): string => readFileSync(join(import.meta.dirname, path), 'utf8');

function aRecord(over: Partial<DomainRecord>): DomainRecord {
  const { name = 'shop.example', purpose = 'spf', status = 'missing', required = false } = over;
  return { name, purpose, status, required, type: 'TXT', value: 'v', fault: null, checked_at: null };
}

describe.each(['en', 'es'])('the words in %s', (language) => {
  const texts = JSON.parse(read(`messages.${language}.json`)) as Record<string, Record<string, unknown>>;

  it.each([
    ['states', DOMAIN_STATES],
    ['statuses', RECORD_STATUSES],
    ['faults', RECORD_FAULTS],
    ['roles', ROLES],
  ])('say all %s', (name, codes) => {
    expect(Object.keys(texts[name] ?? {}).sort()).toEqual([...codes].sort());
  });
});

it('knows every fault that the specification names', () => {
  const [, named = ''] =
    /`fault` of a wrong one: `([a-z_ ]+)`/.exec(read('../../../../docs/spec/messaging.md')) ?? [];
  expect([...RECORD_FAULTS]).toEqual(named.split(' '));
});

describe('the records of a domain', () => {
  const key = (selector: string) => aRecord({ purpose: 'dkim', name: `${selector}._domainkey.shop.example` });

  it('say of each key whether it waits, signs or signed before', () => {
    const records = [
      aRecord({ purpose: 'ownership' }),
      ...['cp1', 'cp1-ed25519', 'cp2', 'cp2-ed25519', 'cp3', 'cp3-ed25519'].map(key),
      aRecord({ purpose: 'spf' }),
      aRecord({ purpose: 'dmarc' }),
    ];
    expect(rolesOf({ records, selector: 'cp2' }).map(({ role }) => role)).toEqual([
      'ownership',
      'signs_next',
      'signs_next',
      'signs',
      'signs_beside',
      'signed_before',
      'signed_before',
      'spf',
      'dmarc',
    ]);
  });

  it('count for the domain only where they are required', () => {
    const records = [
      aRecord({ required: true, status: 'found' }),
      aRecord({ required: true, status: 'wrong' }),
      aRecord({ status: 'found' }),
    ];
    expect(foundOf(records)).toEqual({ found: 1, of: 2 });
  });
});

it('a domain that fails stops sending after 72 hours', () => {
  expect(failsAt('2026-11-26T10:00:00.000Z')).toBe('2026-11-29T10:00:00.000Z');
});
