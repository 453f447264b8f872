import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { newId } from '@customer-platform/database';
import { ChainWalk, GENESIS, hashOf, type ChainedItem, type Finding } from './audit-chain.js';
import { anAuditEntry } from './audit-log.fixture.js';
import { itemOf } from './audit-item.js';

const organizationId = newId();

/** A chain as the service makes it. */
function aChain(rows: number): ChainedItem[] {
  let previous = GENESIS;
  return Array.from({ length: rows }, (_, at) => {
    const entry = anAuditEntry(organizationId, { reason: `reason ${String(at)}` });
    const item = itemOf(entry, at + 1, new Date(1_770_000_000_000 + at));
    const chained = { item, prevHash: previous, hash: hashOf(previous, item) };
    previous = chained.hash;
    return chained;
  });
}

/** The same rows hashed anew: what somebody does who may write everything but cannot sign. */
function rehashed(rows: readonly ChainedItem[]): ChainedItem[] {
  let previous = GENESIS;
  return rows.map(({ item }, at) => {
    const renumbered = { ...item, seq: at + 1 };
    const chained = { item: renumbered, prevHash: previous, hash: hashOf(previous, renumbered) };
    previous = chained.hash;
    return chained;
  });
}

const headOf = (rows: readonly ChainedItem[]) => ({ seq: rows.length, hash: rows.at(-1)?.hash ?? GENESIS });

function walked(
  rows: readonly ChainedItem[],
  head: ReturnType<typeof headOf>,
  signed: readonly ChainedItem[] = [],
): Finding {
  const checkpoints = signed.map(({ item, hash }) => ({ seq: item.seq, hash, genuine: true }));
  const walk = new ChainWalk(undefined, checkpoints);
  for (const row of rows) if (!walk.take(row)) break;
  return walk.end(head);
}

const tampering = fc.oneof(
  fc.record({
    kind: fc.constant('edit' as const),
    field: fc.constantFrom('action', 'occurred_at', 'ip', 'reason', 'outcome', 'correlation_id'),
  }),
  fc.record({ kind: fc.constant('delete' as const) }),
  fc.record({ kind: fc.constant('swap' as const) }),
  fc.record({ kind: fc.constant('truncate' as const) }),
  fc.record({ kind: fc.constant('insert' as const) }),
);

function tampered(
  rows: readonly ChainedItem[],
  at: number,
  how: { kind: string; field?: string },
): ChainedItem[] {
  const copy = [...rows];
  const row = copy[at];
  if (!row) throw new Error('There is no such row');
  if (how.kind === 'edit') copy[at] = { ...row, item: { ...row.item, [how.field ?? '']: 'another' } };
  if (how.kind === 'delete') copy.splice(at, 1);
  if (how.kind === 'swap') copy.splice(at - 1, 2, row, copy[at - 1] ?? row);
  if (how.kind === 'truncate') copy.length = at;
  if (how.kind === 'insert') copy.splice(at, 0, { ...row, item: { ...row.item, id: newId() } });
  return copy;
}

describe('a chain of audit rows', () => {
  it('is hashed as the specification says, byte by byte', () => {
    const [first, second] = aChain(2);
    if (!first || !second) throw new Error('no rows');
    const { item } = second;
    // RFC 8785, written out: members by name, no blanks.
    const text =
      `{"action":"crm.notes.update","actor":{"id":"${item.actor.id}","impersonator_id":null,"type":"api_key"},` +
      `"changed_fields":["body"],"correlation_id":"${item.correlation_id}","created_at":"2026-02-02T02:40:00.001Z",` +
      `"id":"${item.id}","ip":"203.0.113.7","module":"crm","occurred_at":"2026-01-15T12:00:00.000Z",` +
      `"outcome":"success","reason":"reason 1","resource":{"id":"${item.resource.id}","type":"notes"},"seq":2,` +
      `"updated_at":"2026-02-02T02:40:00.001Z","user_agent":"curl/8.0"}`;
    expect(first.prevHash).toEqual(Buffer.alloc(32));
    expect(second.hash).toEqual(createHash('sha256').update(first.hash).update(text).digest());
  });

  it('is intact, with any of its rows signed', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 12 }), fc.infiniteStream(fc.boolean()), (length, choices) => {
        const rows = aChain(length);
        const signed = rows.filter(() => choices.next().value === true);
        expect(walked(rows, headOf(rows), signed)).toEqual({ status: 'intact' });
      }),
    );
  });

  it('shows every edit, deletion, exchange, truncation and insertion, no later than where it is', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 2, max: 12 }),
        fc.nat(),
        tampering,
        fc.boolean(),
        (length, place, how, headToo) => {
          const rows = aChain(length);
          const at = 1 + (place % (length - 1));
          const changed = tampered(rows, at, how);
          // Whoever cuts the chain and its known end is found out by a checkpoint only.
          const cut = how.kind === 'truncate' && headToo;
          const found = walked(changed, headOf(cut ? changed : rows), cut ? rows.slice(-1) : []);
          expect(found).toMatchObject({ status: 'broken' });
          expect(found.status === 'broken' && found.atSeq).toBeLessThanOrEqual(at + 2);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('shows by one signed row that all before it was hashed anew', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 12 }), fc.nat(), tampering, (length, place, how) => {
        const rows = aChain(length);
        const at = 1 + (place % (length - 1));
        const forged = rehashed(tampered(rows, at, how));
        expect(walked(forged, headOf(forged))).toEqual({ status: 'intact' });
        expect(walked(forged, headOf(forged), rows.slice(-1))).toMatchObject({ status: 'broken' });
      }),
      { numRuns: 500 },
    );
  });

  it('takes no checkpoint for true that is not ours', () => {
    const rows = aChain(3);
    const walk = new ChainWalk(undefined, [{ seq: 2, hash: rows[1]?.hash ?? GENESIS, genuine: false }]);
    rows.every((row) => walk.take(row));
    expect(walk.end(headOf(rows))).toEqual({ status: 'broken', atSeq: 2, what: 'checkpoint_forged' });
  });
});
