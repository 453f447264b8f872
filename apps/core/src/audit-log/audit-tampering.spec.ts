import { Database, newId } from '@customer-platform/database';
import { TopicReader } from '@customer-platform/event-bus';
import { DatabaseFault, eventually } from '@customer-platform/testing';
import { exportJWK, generateKeyPair, type CryptoKey } from 'jose';
import { startCore, START_MS, type TestCore } from '../core.fixture.js';
import { GENESIS, hashOf } from './audit-chain.js';
import { AuditCheckpoints } from './audit-checkpoints.js';
import { AuditLogConsumer } from './audit-log.consumer.js';
import { AuditInspection, type InspectedChain } from './audit-inspection.js';
import { toAuditItem, type AuditRow } from './audit-item.js';
import { anAuditEntry, anAuditWorld, publishAudit, type AuditWorld } from './audit-log.fixture.js';
import { AuditVerification } from './audit-verification.js';
import { AuditVerifier } from './audit-verifier.js';
import { CHECKPOINT_TOPIC, signCheckpoint } from './checkpoint.js';

let core: TestCore;
let world: AuditWorld;

beforeAll(async () => {
  core = await startCore();
  await anAuditWorld(core).fill(1);
}, START_MS);
afterAll(() => core.close());

/** A log of twelve rows, signed at the eighth and at the last. */
beforeEach(async () => {
  world = anAuditWorld(core);
  await world.fill(8);
  await sign();
  await world.fill(4);
  await sign();
}, 60_000);

/** Statements on this organization's rows as the superuser, whom no trigger holds back. */
async function tamper(...statements: string[]): Promise<void> {
  for (const table of ['audit_log', 'audit_checkpoints'])
    await core.database.query(`ALTER TABLE ${table} DISABLE TRIGGER USER`);
  for (const sql of statements) await core.database.query(sql, [world.organizationId]);
  for (const table of ['audit_log', 'audit_checkpoints'])
    for (const trigger of ['append_only_rows', 'append_only_table'])
      await core.database.query(`ALTER TABLE ${table} ENABLE ALWAYS TRIGGER ${trigger}`);
}

/** Makes what would be due in five minutes, or tomorrow, due now. */
async function sign(): Promise<void> {
  await core.database.query(`UPDATE audit_chains SET sign_at = '2026-01-01' WHERE organization_id = $1`, [
    world.organizationId,
  ]);
  await core.app.app.get(AuditCheckpoints).runAll();
  // What has left the outbox is on its topic.
  await eventually(async () =>
    expect(
      await core.database.query('SELECT 1 FROM outbox WHERE organization_id = $1', [world.organizationId]),
    ).toEqual([]),
  );
}

async function verifyInBackground(): Promise<void> {
  await core.database.query(`UPDATE audit_chains SET verify_at = '2026-01-01' WHERE organization_id = $1`, [
    world.organizationId,
  ]);
  await core.app.app.get(AuditVerification).runAll();
  // The application's own may have taken it.
  await eventually(async () => {
    const later = await core.database.query(
      `SELECT FROM audit_chains WHERE organization_id = $1 AND verify_at > now() + interval '1 hour'`,
      [world.organizationId],
    );
    expect(later).toHaveLength(1);
  });
}

/** The checkpoints of this organization that are kept outside the database. */
async function outside(): Promise<{ seq: number; hash: string }[]> {
  const values = await core.app.app.get(TopicReader).readAll(CHECKPOINT_TOPIC);
  return values
    .map((value) => JSON.parse(value) as { organization_id: string; seq: number; hash: string })
    .filter(({ organization_id: id }) => id === world.organizationId);
}

/** What the command finds of this organization's log. */
async function inspected(): Promise<Partial<InspectedChain> | undefined> {
  const { app } = core.app;
  const inspection = new AuditInspection(app.get(Database), app.get(TopicReader), app.get(AuditVerifier));
  const { chains } = await inspection.run(world.organizationId);
  return chains[0];
}

/** Hashes all rows anew, as somebody would who knows how, and moves the known end along. */
async function rehash(): Promise<void> {
  const rows = await core.database.query<AuditRow>(
    'SELECT * FROM audit_log WHERE organization_id = $1 ORDER BY seq',
    [world.organizationId],
  );
  let previous = GENESIS;
  const statements: string[] = [];
  for (const [at, row] of rows.entries()) {
    const hash = hashOf(previous, { ...toAuditItem(row), seq: at + 1 });
    statements.push(
      `UPDATE audit_log SET seq = ${String(at + 1)}, prev_hash = '\\x${previous.toString('hex')}',
              hash = '\\x${hash.toString('hex')}' WHERE organization_id = $1 AND id = '${row.id}'`,
    );
    previous = hash;
  }
  await tamper(
    ...statements,
    `UPDATE audit_chains SET head_seq = ${String(rows.length)}, head_hash = '\\x${previous.toString('hex')}'
      WHERE organization_id = $1`,
  );
}

describe('the verifier finds', () => {
  it('nothing where nothing was done', async () => {
    expect(await inspected()).toEqual({
      organization_id: world.organizationId,
      status: 'intact',
      rows: 12,
      checkpoints: 4,
      broken_at_seq: null,
      damage: null,
    });
    const { chain } = (await world.list()).body;
    expect(chain).toMatchObject({ status: 'intact', checkpoint: { seq: 12, hash: chain.head_hash } });
    expect(await outside()).toMatchObject([{ seq: 8 }, { seq: 12, hash: chain.head_hash }]);
  });

  it.each([
    [
      'an edit',
      `UPDATE audit_log SET actor_id = 'nobody' WHERE organization_id = $1 AND seq = 5`,
      5,
      'row_altered',
    ],
    [
      'an edit of a time by a millisecond',
      `UPDATE audit_log SET occurred_at = occurred_at + interval '1 ms' WHERE organization_id = $1 AND seq = 5`,
      5,
      'row_altered',
    ],
    [
      'an edited hash',
      `UPDATE audit_log SET hash = prev_hash WHERE organization_id = $1 AND seq = 5`,
      5,
      'row_altered',
    ],
    ['a deletion', 'DELETE FROM audit_log WHERE organization_id = $1 AND seq = 5', 5, 'row_missing'],
    [
      'the deletion of the first row',
      'DELETE FROM audit_log WHERE organization_id = $1 AND seq = 1',
      1,
      'row_missing',
    ],
    ['a truncation', 'DELETE FROM audit_log WHERE organization_id = $1 AND seq > 10', 11, 'row_missing'],
    ['a log emptied', 'DELETE FROM audit_log WHERE organization_id = $1', 1, 'row_missing'],
    [
      'a row put behind the end',
      `INSERT INTO audit_log SELECT (jsonb_populate_record(log, jsonb_build_object('seq', 13, 'id', gen_random_uuid()))).*
         FROM audit_log AS log WHERE organization_id = $1 AND seq = 12`,
      13,
      'head_contradicted',
    ],
    [
      'a checkpoint that says something else',
      `UPDATE audit_checkpoints SET hash = '\\x${'00'.repeat(32)}' WHERE organization_id = $1 AND seq = 8`,
      8,
      'checkpoint_forged',
    ],
  ])('%s', async (_, sql, at, damage) => {
    await tamper(sql);
    expect(await inspected()).toMatchObject({ status: 'broken', broken_at_seq: at, damage });
  });

  it('two rows that changed places', async () => {
    await tamper(
      'UPDATE audit_log SET seq = 1000 WHERE organization_id = $1 AND seq = 5',
      'UPDATE audit_log SET seq = 5 WHERE organization_id = $1 AND seq = 6',
      'UPDATE audit_log SET seq = 6 WHERE organization_id = $1 AND seq = 1000',
    );
    expect(await inspected()).toMatchObject({ status: 'broken', broken_at_seq: 5, damage: 'link_broken' });
  });

  it('an edit whose row was hashed anew, by the next row', async () => {
    const [row] = await core.database.query<AuditRow>(
      'SELECT * FROM audit_log WHERE organization_id = $1 AND seq = 5',
      [world.organizationId],
    );
    if (!row) throw new Error('no row');
    const hash = hashOf(row.prev_hash, { ...toAuditItem(row), reason: 'none' }).toString('hex');
    await tamper(
      `UPDATE audit_log SET reason = 'none', hash = '\\x${hash}' WHERE organization_id = $1 AND seq = 5`,
    );
    expect(await inspected()).toMatchObject({ status: 'broken', broken_at_seq: 6, damage: 'link_broken' });
  });

  it('a chain that was hashed anew as a whole, by its checkpoints', async () => {
    await tamper(`UPDATE audit_log SET actor_id = 'nobody' WHERE organization_id = $1 AND seq = 5`);
    await rehash();
    const found = { status: 'broken', broken_at_seq: 8, damage: 'checkpoint_contradicted' };
    expect(await inspected()).toMatchObject(found);
    // With those in the database gone, by those outside it.
    await tamper('DELETE FROM audit_checkpoints WHERE organization_id = $1');
    expect(await inspected()).toMatchObject({ ...found, checkpoints: 2 });
  });

  it('a row taken out and the rest moved up and hashed anew', async () => {
    await tamper('DELETE FROM audit_log WHERE organization_id = $1 AND seq = 3');
    await rehash();
    expect(await inspected()).toMatchObject({ broken_at_seq: 8, damage: 'checkpoint_contradicted' });
  });

  it('a truncation of everything that is in the database, by what is outside it', async () => {
    const cut = 'WHERE organization_id = $1 AND seq > 8';
    await tamper(
      `DELETE FROM audit_log ${cut}`,
      `DELETE FROM audit_checkpoints ${cut}`,
      `UPDATE audit_chains AS chain SET head_seq = 8, signed_seq = 8, head_hash = log.hash FROM audit_log AS log
        WHERE chain.organization_id = $1 AND log.organization_id = $1 AND log.seq = 8`,
    );
    expect(await inspected()).toMatchObject({ broken_at_seq: 9, damage: 'row_missing' });
  });

  it('a log of which nothing is left', async () => {
    await tamper(
      'DELETE FROM audit_log WHERE organization_id = $1',
      'DELETE FROM audit_checkpoints WHERE organization_id = $1',
      'DELETE FROM audit_chains WHERE organization_id = $1',
    );
    expect(await inspected()).toMatchObject({ broken_at_seq: 1, damage: 'row_missing' });
  });

  it('a checkpoint signed by a key that somebody put in', async () => {
    const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
    const kid = newId();
    const key: { kid: string; privateKey: CryptoKey; publicKey: CryptoKey } = { kid, privateKey, publicKey };
    await core.database.query(
      `INSERT INTO signing_keys (kid, purpose, public_key, sealed_private_key, usable_from, created_at)
       VALUES ($1, 'audit_checkpoints', $2, $3, '2025-01-01', '2025-01-01')`,
      [kid, await exportJWK(publicKey), JSON.stringify(await exportJWK(privateKey))],
    );
    await tamper(`UPDATE audit_log SET actor_id = 'nobody' WHERE organization_id = $1 AND seq = 12`);
    await rehash();
    const { chain } = (await world.list()).body;
    const head = { seq: 12, hash: Buffer.from(chain.head_hash, 'hex') };
    const { signature, hash } = await signCheckpoint(key, world.organizationId, head);
    await tamper(
      `UPDATE audit_checkpoints SET kid = '${kid}', signature = '${signature}', hash = '\\x${hash}'
        WHERE organization_id = $1 AND seq = 12`,
    );
    expect(await inspected()).toMatchObject({ broken_at_seq: 12, damage: 'checkpoint_forged' });
  });
});

describe('a log that was tampered with', () => {
  it('is shown as broken after the next verification, and intact again once it is put right', async () => {
    const edit = (actor: string) =>
      `UPDATE audit_log SET user_agent = ${actor} WHERE organization_id = $1 AND seq = 5`;
    await tamper(edit(`'another'`));
    await verifyInBackground();
    expect((await world.list()).body.chain).toMatchObject({ status: 'broken', broken_at_seq: 5 });
    await tamper(edit(`'curl/8.0'`));
    await verifyInBackground();
    const { chain } = (await world.list()).body;
    expect(chain).toMatchObject({ status: 'intact', broken_at_seq: null, verified_seq: chain.head_seq });
    await world.fill(1);
    const later = (await world.list()).body.chain;
    expect([later.head_seq, later.verified_seq]).toEqual([chain.head_seq + 1, chain.head_seq]);
    expect(Date.now() - Date.parse(chain.verified_at ?? '')).toBeLessThan(60_000);
  });

  it('is found out piece by piece, each from a checkpoint on', async () => {
    const verifier = core.app.app.get(AuditVerifier);
    const pieces = async (): Promise<unknown[]> => {
      const found: Awaited<ReturnType<AuditVerifier['piece']>>[] = [];
      for (let from = 0; found.at(-1)?.isWhole !== true; from = found.at(-1)?.reached ?? 0)
        found.push(await verifier.piece(world.organizationId, from, 1));
      return found.map(({ finding, reached }) => [finding.status, reached]);
    };
    const { head_seq: head } = (await world.list()).body.chain;
    const checkpoints = (await outside()).map(({ seq }) => ['intact', seq]);
    expect(checkpoints.length).toBeGreaterThan(1);
    expect(await pieces()).toEqual([...checkpoints, ['intact', head]]);
    const [[, first = 0] = []] = checkpoints as [string, number][];
    await tamper(`UPDATE audit_log SET ip = '::1' WHERE organization_id = $1 AND seq = ${String(first + 1)}`);
    expect(await pieces()).toEqual([
      ['intact', first],
      ['broken', 0],
    ]);
    // Where the verification was: what came before is looked at the next day.
    await core.database.query('UPDATE audit_chains SET walked_seq = $2 WHERE organization_id = $1', [
      world.organizationId,
      checkpoints.at(-1)?.[1],
    ]);
    await verifyInBackground();
    expect((await world.list()).body.chain).toMatchObject({ status: 'intact' });
    await verifyInBackground();
    expect((await world.list()).body.chain).toMatchObject({ status: 'broken', broken_at_seq: first + 1 });
  });

  it('goes on, and is not signed', async () => {
    await tamper(`UPDATE audit_log SET ip = '::1' WHERE organization_id = $1 AND seq = 12`);
    await world.fill(2);
    await rehash();
    await core.database.query(`UPDATE audit_chains SET sign_at = '2026-01-01' WHERE organization_id = $1`, [
      world.organizationId,
    ]);
    await core.app.app.get(AuditCheckpoints).runAll();
    expect((await world.list()).body.chain).toMatchObject({
      head_seq: 14,
      status: 'broken',
      broken_at_seq: 13,
      checkpoint: { seq: 12 },
    });
    expect(await outside()).toHaveLength(2);
  });

  it('whose signature cannot be kept holds back the signatures of nobody else', async () => {
    const failing = world;
    const other = anAuditWorld(core);
    await Promise.all([failing.fill(1), other.fill(1)]);
    const fault = await DatabaseFault.in(core.database, {
      table: 'audit_checkpoints',
      on: 'INSERT',
      when: `NEW.organization_id = '${failing.organizationId}'`,
    });
    const due = 'UPDATE audit_chains SET sign_at = $2 WHERE organization_id = $1';
    try {
      await core.database.query(due, [failing.organizationId, '2026-01-01']);
      await core.database.query(due, [other.organizationId, '2026-01-02']);
      await core.app.app.get(AuditCheckpoints).runAll();
      expect((await other.list()).body.chain.checkpoint).toMatchObject({ seq: 1 });
      expect((await failing.list()).body.chain.checkpoint).toMatchObject({ seq: 12 });
    } finally {
      await fault.mend();
    }
  });

  it('holds back nobody else when it takes no row any more, and what came for it is kept', async () => {
    await tamper(
      `INSERT INTO audit_log SELECT (jsonb_populate_record(log, jsonb_build_object('seq', 13, 'id', gen_random_uuid()))).*
         FROM audit_log AS log WHERE organization_id = $1 AND seq = 12`,
    );
    const entry = JSON.stringify(anAuditEntry(world.organizationId));
    await publishAudit(core, world.organizationId, [entry]);
    await eventually(
      async () => {
        const kept = await core.database.query<{ value: Buffer }>('SELECT value FROM unreadable_records');
        expect(kept.map(({ value }) => value.toString())).toContain(entry);
      },
      { within: 30_000 },
    );
    for (let other = 0; other < 4; other += 1) await anAuditWorld(core).fill(1);
    expect((await world.list()).body.chain.head_seq).toBe(12);
  });

  it('takes all rows but the one that the database refuses, in their order', async () => {
    const other = anAuditWorld(core);
    const fault = await DatabaseFault.in(core.database, {
      table: 'audit_log',
      on: 'INSERT',
      when: `NEW.organization_id = '${other.organizationId}' AND NEW.action = 'crm.notes.purge'`,
    });
    const entries = ['create', 'update', 'purge', 'delete', 'restore'].map((verb) =>
      anAuditEntry(other.organizationId, { action: `crm.notes.${verb}` }),
    );
    const records = entries.map((entry, at) => ({
      partition: 0,
      offset: String(9_000_000 + at),
      key: other.organizationId,
      value: Buffer.from(JSON.stringify(entry)),
      timestamp: 0,
    }));
    await core.app.app.get(AuditLogConsumer, { strict: false }).take(records);
    await fault.mend();
    const { body } = await other.list('sort=seq');
    expect(body.data.map(({ action }) => action.split('.')[2])).toEqual([
      'create',
      'update',
      'delete',
      'restore',
    ]);
    const kept = await core.database.query<{ value: Buffer }>(
      `SELECT value FROM unreadable_records WHERE record_offset >= 9000000`,
    );
    expect(kept.map(({ value }) => value.toString())).toEqual([JSON.stringify(entries[2])]);
  });

  it('keeps its checkpoints from every change', async () => {
    for (const sql of [
      'UPDATE audit_checkpoints SET seq = seq',
      'DELETE FROM audit_checkpoints',
      'TRUNCATE audit_checkpoints',
    ])
      await expect(core.database.query(sql)).rejects.toMatchObject({ code: '42501' });
  });
});
