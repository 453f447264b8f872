import fc from 'fast-check';
import { Database, newId, type Transaction } from '@customer-platform/database';
import { draws, expectStatus, type Caller } from '@customer-platform/testing';
import { CLOCK_TOLERANCE_MS } from './evaluating/segment-clock.js';
import { SegmentFollower, type ContactChange } from '../following/segment-follower.js';
import { History, histories, type Happening, type Histories, type Round } from './history.fixture.js';
import { evaluate } from '../vocabulary/rules/evaluate.js';
import { parseRule } from '../vocabulary/rules/parse-rule.js';
import type { RuleNode } from '../vocabulary/rules/rule.js';
import { SEGMENTS, SegmentWorld, type Given } from './segment.fixture.js';

/** Of a draw, each with a history of its own. */
const CONTACTS = 1_000;
const ROUNDS = 5;
const RULES = 8;

let world: SegmentWorld;
beforeAll(async () => {
  world = await SegmentWorld.start();
}, 60_000);
afterAll(() => world.close());

const iso = (at: number): string => new Date(at).toISOString();

const SET_STATES = `
  UPDATE contacts AS contact SET deleted_at = state.deleted_at, merged_into = state.merged_into
    FROM unnest($2::uuid[], $3::timestamptz[], $4::uuid[]) AS state (id, deleted_at, merged_into)
   WHERE contact.organization_id = $1 AND contact.id = state.id`;

const SAY = `
  INSERT INTO consent_events (organization_id, id, contact_id, purpose, channel, status, notice_version, method,
    legal_basis, expires_at, occurred_at, controller, actor_type, actor_id, correlation_id, recorded_at)
  SELECT $1, gen_random_uuid(), contact_id, 'marketing', channel, status, '1', 'form', 'consent', expires_at,
         occurred_at, $1, 'system', 'spec', gen_random_uuid(), now()
    FROM unnest($2::uuid[], $3::text[], $4::text[], $5::timestamptz[], $6::timestamptz[])
      AS said (contact_id, channel, status, expires_at, occurred_at)`;

interface Word {
  contactId: string;
  channel: string | null;
  status: string;
  expiresAt: string | null;
  occurredAt: string;
}

/** An organization in which histories happen, and what is to be true of it. */
class Stage {
  readonly histories = Array.from({ length: CONTACTS }, (_, at) => new History(`person-${at}`));
  readonly segments: { id: string; rule: object; node: RuleNode }[] = [];
  private readonly ids = new Map<string, string>();
  private readonly id: string;
  private readonly caller: Caller;
  private now = Date.parse('2026-06-15T12:00:00.000Z');
  /** The instant that membership is of. */
  private evaluatedAt = this.now;
  private changes: ContactChange[] = [];
  private words: Word[] = [];

  constructor() {
    ({ id: this.id, caller: this.caller } = world.anOrganization());
    world.stopClock(this.now);
  }

  async create(rules: readonly object[]): Promise<void> {
    for (const rule of rules) {
      const answer = await this.caller.post<{ id: string }>(SEGMENTS, { name: newId(), rule });
      expectStatus(answer, 201);
      this.segments.push({ id: answer.body.id, rule, node: parseRule(rule) });
    }
  }

  /** Events in one transaction, everything else in another; then the clock goes on. */
  async run({ happenings, pass, change }: Round): Promise<void> {
    const each = (act: (history: History, one: Happening) => void): void =>
      this.histories.forEach((history, at) => happenings[at]?.forEach((one) => act(history, one)));
    const events: Given[] = [];
    each((history, one) => events.push(...this.send(history, one)));
    await world.store(this.id, events);
    await this.learnIds();
    each((history, one) => this.administer(history, one));
    await this.write();
    if (change) await this.changeRule(change);
    this.now += pass;
    world.stopClock(this.now);
    // A clock that is set back by little stands still; by more, all is as it would be then.
    const back = this.evaluatedAt - this.now;
    if (back <= 0 || back > CLOCK_TOLERANCE_MS) this.evaluatedAt = this.now;
  }

  /** What a contact sends; one that is merged sends nothing, for its identity stays with it here. */
  private send(history: History, one: Happening): Given[] {
    if (history.mergedInto || !['track', 'repeat', 'identify'].includes(one.kind)) return [];
    this.note(history, one);
    const { externalId } = history;
    if (one.kind === 'track') {
      history.events.push({ key: newId(), event: one.event, x: one.x, at: this.now + one.offset });
    }
    const last = history.events.at(-1);
    history.exists ||= one.kind !== 'repeat';
    if (one.kind !== 'identify') {
      if (!last) return [];
      const { key, event, x, at } = last;
      return [{ externalId, key, event, properties: { x }, at: iso(at) }];
    }
    const ago = one.traits['at'];
    const traits = typeof ago === 'number' ? { at: iso(this.now + ago) } : one.traits;
    history.identify(traits, this.now + one.offset);
    return [{ externalId, at: iso(this.now + one.offset), traits }];
  }

  private administer(history: History, one: Happening): void {
    if (!history.exists) return;
    const contactId = this.idOf(history);
    const changed = (cause: ContactChange['cause'], ...others: History[]): void => {
      this.note(history, one);
      const ids = new Set([contactId, ...others.map((other) => this.idOf(other))]);
      for (const id of ids) this.changes.push({ contactId: id, cause, correlationId: newId() });
    };
    const partner = this.histories[(this.histories.indexOf(history) + 1) % CONTACTS];
    if (one.kind === 'part' && history.mergedInto) {
      const survivor = history.mergedInto;
      survivor.merged.delete(history);
      history.mergedInto = undefined;
      changed('merge', survivor, survivor.holder);
    } else if (one.kind === 'restore' && history.deleted) {
      history.deleted = false;
      changed('restore');
    } else if (!history.active) return;
    else if (one.kind === 'delete') {
      history.deleted = true;
      changed('attribute');
    } else if (one.kind === 'merge' && partner?.active && partner.holder !== history) {
      history.mergedInto = partner;
      partner.merged.add(history);
      changed('merge', partner);
    } else if (one.kind === 'consent') this.say(history, one);
  }

  private say(history: History, one: Extract<Happening, { kind: 'consent' }>): void {
    this.note(history, one);
    const contactId = this.idOf(history);
    const occurredAt = this.now + one.offset;
    const expiresAt = one.status === 'granted' && one.lasts !== null ? occurredAt + one.lasts : null;
    history.said.push({ channel: one.channel, status: one.status, occurredAt, expiresAt });
    const { channel, status } = one;
    const expires = expiresAt === null ? null : iso(expiresAt);
    this.words.push({ contactId, channel, status, expiresAt: expires, occurredAt: iso(occurredAt) });
    this.changes.push({ contactId, cause: 'consent', purposes: ['marketing'], correlationId: newId() });
  }

  /** As the features of contacts and consents do: the change and the note of it in one transaction. */
  private async write(): Promise<void> {
    const { app } = world.core.app;
    const known = this.histories.filter(({ exists }) => exists);
    await app.get(Database, { strict: false }).inOrganization({ organizationId: this.id }, async (tx) => {
      await tx.query(SET_STATES, [
        this.id,
        known.map((history) => this.idOf(history)),
        known.map(({ deleted }) => (deleted ? iso(this.now) : null)),
        known.map(({ mergedInto }) => (mergedInto ? this.idOf(mergedInto) : null)),
      ]);
      await this.writeWords(tx);
      await app.get(SegmentFollower, { strict: false }).contactsChanged(tx, this.changes);
    });
    this.changes = [];
    this.words = [];
  }

  private async writeWords(tx: Transaction): Promise<void> {
    const of = <T>(read: (word: Word) => T): T[] => this.words.map(read);
    await tx.query(SAY, [
      this.id,
      of(({ contactId }) => contactId),
      of(({ channel }) => channel),
      of(({ status }) => status),
      of(({ expiresAt }) => expiresAt),
      of(({ occurredAt }) => occurredAt),
    ]);
  }

  private async changeRule({ segment: at, rule }: { segment: number; rule: object }): Promise<void> {
    const segment = this.segments[at];
    if (!segment) return;
    expectStatus(await this.caller.patch(`${SEGMENTS}/${segment.id}`, { rule }), 200);
    Object.assign(segment, { rule, node: parseRule(rule) });
  }

  private async learnIds(): Promise<void> {
    const rows = await world.core.database.query<{ id: string; external_id: string }>(
      'SELECT id, external_id FROM contacts WHERE organization_id = $1',
      [this.id],
    );
    for (const { id, external_id: externalId } of rows) this.ids.set(externalId, id);
  }

  private idOf({ externalId }: History): string {
    return this.ids.get(externalId) ?? externalId;
  }

  private note(history: History, one: Happening): void {
    history.log.push(`${iso(this.now)} ${JSON.stringify(one)}`);
  }

  /** Every membership is what all that happened makes it; else the history, the rule and the instant. */
  async expectFullRecompute(): Promise<void> {
    const rows = await world.core.database.query<{ pair: string }>(
      `SELECT segment_id || ' ' || contact_id AS pair FROM segment_members
        WHERE organization_id = $1 AND left_at IS NULL`,
      [this.id],
    );
    const inside = new Set(rows.map(({ pair }) => pair));
    let members = 0;
    for (const history of this.histories.filter(({ exists }) => exists)) {
      const facts = history.factsAt(this.evaluatedAt);
      for (const { id, rule, node } of this.segments) {
        const expected = history.active && evaluate(node, facts, this.evaluatedAt).holds;
        members += expected ? 1 : 0;
        if (expected === inside.has(`${id} ${this.idOf(history)}`)) continue;
        const log = [...history.family, history.holder].flatMap(({ log: lines }) => lines).sort();
        throw new Error(
          [
            `${iso(this.evaluatedAt)}: ${history.externalId} should ${expected ? '' : 'not '}be in`,
            JSON.stringify(rule),
          ]
            .concat(log)
            .join('\n'),
        );
      }
    }
    expect(inside.size).toBe(members);
  }

  /** Everybody is told of as entering and leaving by turns, the last of it as it is; and segments count their members. */
  async expectWhatIsTold(): Promise<void> {
    const last = new Map<string, string>();
    for (const { type, data } of await world.envelopes(this.id)) {
      const pair = `${data.segment_id} ${data.contact_id}`;
      expect(last.get(pair) ?? 'core.segment.left.v1').not.toBe(type);
      last.set(pair, type);
    }
    const told = [...last.values()].filter((type) => type === 'core.segment.entered.v1').length;
    const [row] = await world.core.database.query<{ counted: number; members: number; unready: number }>(
      `SELECT sum(member_count)::int AS counted, count(*) FILTER (WHERE state <> 'ready')::int AS unready,
              (SELECT count(*)::int FROM segment_members WHERE organization_id = $1 AND left_at IS NULL) AS members
         FROM segments WHERE organization_id = $1`,
      [this.id],
    );
    expect(row).toEqual({ counted: told, members: told, unready: 0 });
  }
}

async function play({ rules, rounds }: Histories): Promise<void> {
  const stage = new Stage();
  const other = world.anotherEvaluator();
  // Some segments are there before anything happens, some come to be in the middle of it.
  await stage.create(rules.slice(0, RULES / 2));
  for (const [at, round] of rounds.entries()) {
    await stage.run(round);
    if (at === 1) await stage.create(rules.slice(RULES / 2));
    await Promise.all([world.evaluate(), other.runAll()]);
    await world.evaluate();
    await stage.expectFullRecompute();
  }
  await stage.expectWhatIsTold();
}

describe('membership', () => {
  it('equals a full recompute after any mix of events, late ones, repeats, deletes, restores, merges, consents, new rules, passing time and clocks that are set back', async () => {
    await fc.assert(fc.asyncProperty(histories(CONTACTS, ROUNDS, RULES), play), draws(2, 10));
  }, 600_000);
});
