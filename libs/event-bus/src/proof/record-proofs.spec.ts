import { UnprovenEvent, type Publisher } from '@customer-platform/events';
import { metrics } from '@customer-platform/http';
import { anIsolatedKafka, keyPairs } from '../../test/a-bus.js';
import { proofIn, RecordProofs, signerOf, proofsOf, type ProvenRecord } from './record-proofs.js';

const TOPIC = 'core.domain-events';

beforeAll(() => {
  anIsolatedKafka();
});
afterEach(() => {
  delete process.env['EVENTS_REQUIRE_PROOF'];
  process.env['PLATFORM_MODE'] = 'local';
});

const proofsFor = (module: Publisher): RecordProofs => new RecordProofs({ module });

const records = (count: number, topic = TOPIC): ProvenRecord[] =>
  Array.from({ length: count }, (_, at) => ({
    topic,
    key: `key ${String(at)}`,
    value: `value ${String(at)}`,
  }));

function refusalOf(record: ProvenRecord, proof: Buffer | undefined): string | undefined {
  try {
    proofsFor('messaging').demand(record, proof);
    return undefined;
  } catch (error) {
    expect(error).toBeInstanceOf(UnprovenEvent);
    return (error as Error).message;
  }
}

/** A record with its proof among the proofs of several. */
function proven(at: number, count: number): { record: ProvenRecord; proof: Buffer } {
  const all = records(count);
  const [record, proof] = [all[at], proofsFor('core').prove(all)[at]];
  if (!record || !proof) throw new Error('There is no such record');
  return { record, proof };
}

describe('the proof of a record', () => {
  it.each([1, 2, 3, 5, 31, 32, 33, 100])('holds for each of %d that are written at once', (count) => {
    const all = records(count);
    const proofs = proofsFor('core').prove(all);
    const consumer = proofsFor('loyalty');
    all.forEach((record, at) => consumer.demand(record, proofs[at]));
    all.forEach((record, at) => {
      const bytes = Buffer.from(String(record.value));
      consumer.demand({ ...record, value: bytes }, Buffer.from(proofs[at] ?? ''));
    });
  });

  it.each<[string, Partial<ProvenRecord>]>([
    ['value', { value: 'another' }],
    ['key', { key: 'another' }],
    ['absent key', { key: undefined }],
    ['topic', { topic: 'core.ingestion' }],
  ])('holds for no other %s', (_, changed) => {
    const { record, proof } = proven(2, 5);
    expect(refusalOf(record, proof)).toBeUndefined();
    expect(refusalOf({ ...record, ...changed }, proof)).toMatch('is not what core signed');
  });

  it('holds for no record beside it, and in no other form', () => {
    const { record, proof } = proven(2, 5);
    expect(refusalOf(record, proven(3, 5).proof)).toMatch('is not what core signed');
    expect(refusalOf(record, proof.subarray(0, -1))).toMatch('cannot be read');
    expect(refusalOf(record, Buffer.alloc(0))).toMatch('cannot be read');
    for (let at = 0; at < proof.length; at += 1) {
      const turned = Buffer.from(proof);
      turned[at] = (turned[at] ?? 0) ^ 1;
      expect(refusalOf(record, turned)).toBeDefined();
    }
  });

  it('is made by the topic’s writers alone', () => {
    const [record] = records(1);
    if (!record) throw new Error('There is no record');
    const [proof] = proofsOf([record], signerOf(keyPairs.loyalty.privateJwk));
    expect(refusalOf(record, proof)).toMatch('is signed by loyalty, who does not write there');
    const [unknown] = proofsOf([record], signerOf({ ...keyPairs.core.privateJwk, kid: 'core-9' }));
    expect(refusalOf(record, unknown)).toMatch('is signed by a key that is not known here: "core-9"');
    expect(proofsFor('core').prove(records(1, 'loyalty.domain-events'))).toEqual([undefined]);
    const entries = records(1, 'audit.entries');
    const [entry] = entries;
    const [ofLoyalty] = proofsOf(entries, signerOf(keyPairs.loyalty.privateJwk));
    if (entry) expect(refusalOf(entry, ofLoyalty)).toBeUndefined();
  });

  it('is believed of each key of a module, while one replaces another', () => {
    const given = process.env['SERVICE_PUBLIC_KEYS'] ?? '';
    const { keys } = JSON.parse(given) as { keys: { kid: string }[] };
    const both = [...keys, { ...keyPairs.loyalty.publicJwk, kid: 'core-2' }];
    const [record] = records(1);
    if (!record) throw new Error('There is no record');
    const [next] = proofsOf([record], signerOf({ ...keyPairs.loyalty.privateJwk, kid: 'core-2' }));
    expect(refusalOf(record, next)).toMatch('not known here');
    try {
      process.env['SERVICE_PUBLIC_KEYS'] = JSON.stringify({ keys: both });
      expect(refusalOf(record, next)).toBeUndefined();
      expect(refusalOf(record, proven(0, 1).proof)).toBeUndefined();
    } finally {
      process.env['SERVICE_PUBLIC_KEYS'] = given;
    }
  });

  it('is made by no key that the others do not know: the process does not start', () => {
    const given = process.env['SERVICE_PRIVATE_KEY'] ?? '';
    const strange = { ...keyPairs.loyalty.privateJwk, kid: 'core' };
    try {
      for (const key of [strange, { ...keyPairs.core.privateJwk, kid: 'core-2' }]) {
        process.env['SERVICE_PRIVATE_KEY'] = JSON.stringify(key);
        expect(() => proofsFor('core')).toThrow('SERVICE_PUBLIC_KEYS lacks the key of SERVICE_PRIVATE_KEY');
      }
    } finally {
      process.env['SERVICE_PRIVATE_KEY'] = given;
    }
  });

  it.each([
    ['local', undefined, true],
    ['local', 'false', false],
    ['production', undefined, false],
    ['production', 'true', true],
  ])(
    'in %s mode with EVENTS_REQUIRE_PROOF=%s: its absence is refused: %s',
    async (mode, given, isRefused) => {
      // This one alone: other files of the process look at what others began with.
      metrics.getSingleMetric('events_without_proof_total')?.reset();
      process.env['PLATFORM_MODE'] = mode;
      if (given !== undefined) process.env['EVENTS_REQUIRE_PROOF'] = given;
      const [record] = records(1);
      if (!record) throw new Error('There is no record');
      const refusal = refusalOf(record, undefined);
      expect(refusal).toEqual(isRefused ? expect.stringMatching('carries no proof') : undefined);
      const counted = await metrics.getSingleMetricAsString('events_without_proof_total');
      expect(counted.includes('{topic="core.domain-events"} 1')).toBe(!isRefused);
      // A wrong one is worse than none.
      const [foreign] = proofsOf([record], signerOf(keyPairs.loyalty.privateJwk));
      expect(refusalOf(record, foreign)).toBeDefined();
    },
  );

  it('is asked for of no topic that is on no list', () => {
    expect(refusalOf({ topic: 'spec.topic', key: 'k', value: 'v' }, undefined)).toBeUndefined();
  });

  it('is none where a record comes with several', () => {
    const { proof } = proven(0, 1);
    expect(proofIn({ headers: { proof } })).toBe(proof);
    expect(proofIn({ headers: { proof: [proof, proof] } })).toBeUndefined();
    expect(proofIn({})).toBeUndefined();
  });
});
