import { setTimeout as pause } from 'node:timers/promises';
import fc from 'fast-check';
import { isTransient, newId, WriteConflict } from '@customer-platform/database';
import { draws, expectStatus, type Answer, type Caller } from '@customer-platform/testing';
import { explainRule } from './explaining/explain-rule.js';
import { histories, type Happening, type Histories, type Round } from './history.fixture.js';
import { evaluate } from '../vocabulary/rules/evaluate.js';
import { parseRule } from '../vocabulary/rules/parse-rule.js';
import { SEGMENTS, SegmentWorld, type Given } from './segment.fixture.js';
import { StoredHistories } from './stored-history.fixture.js';

const CONTACTS = 24;
const ROUNDS = 5;
const RULES = 5;
const SEES_ALL = { can: () => true };
const PEOPLE = '/v1/core/contacts';

let world: SegmentWorld;
beforeAll(async () => {
  world = await SegmentWorld.start();
}, 60_000);
afterAll(() => world.close());

const iso = (at: number): string => new Date(at).toISOString();

/** An organization in which everything comes through the API and the worker's processing, all at once. */
class Office {
  private readonly id: string;
  private readonly caller: Caller;
  private readonly segments: { id: string; rule: object }[] = [];
  private readonly contacts: string[] = [];
  private readonly merges: string[] = [];
  private now = Date.parse('2026-06-15T12:00:00.000Z');

  constructor() {
    ({ id: this.id, caller: this.caller } = world.anOrganization());
    world.stopClock(this.now);
  }

  async open(rules: readonly object[]): Promise<void> {
    for (let at = 0; at < CONTACTS; at += 1) {
      const answer = await this.caller.post<{ id: string }>(PEOPLE, { external_id: `person-${at}` });
      expectStatus(answer, 201);
      this.contacts.push(answer.body.id);
    }
    for (const rule of rules) {
      const answer = await this.caller.post<{ id: string }>(SEGMENTS, { name: newId(), rule });
      expectStatus(answer, 201);
      this.segments.push({ id: answer.body.id, rule });
    }
  }

  async run({ happenings, pass, change }: Round): Promise<void> {
    const evaluator = world.anotherEvaluator();
    const doing = happenings.flatMap((ofContact, at) => ofContact.map((one) => this.happen(at, one)));
    if (change) doing.push(this.changeRule(change));
    // Evaluation goes on while all of it happens.
    doing.push(
      retried(() => world.evaluate()),
      retried(() => evaluator.runAll()),
    );
    await Promise.all(doing);
    this.now += pass;
    world.stopClock(this.now);
    await Promise.all([world.evaluate(), evaluator.runAll()]);
    await world.evaluate();
  }

  private async happen(at: number, one: Happening): Promise<void> {
    const contactId = this.contacts[at] ?? '';
    const path = `${PEOPLE}/${contactId}`;
    const externalId = `person-${at}`;
    switch (one.kind) {
      case 'track':
        return this.send({
          externalId,
          event: one.event,
          properties: { x: one.x },
          at: iso(this.now + one.offset),
        });
      case 'identify':
        // Of two words at one instant the later one wins, and here nobody knows which that is.
        return this.tell(this.caller.patch(path, { attributes: one.traits }));
      case 'delete':
        return this.tell(this.caller.delete(path));
      case 'restore':
        return this.tell(this.caller.post(`${path}/restore`));
      case 'consent':
        return this.tell(this.caller.post(`${path}/consents`, this.consentOf(one)));
      case 'merge':
        return this.merge(contactId, this.contacts[(at + 1) % CONTACTS] ?? '');
      case 'part': {
        const last = this.merges.at(-1);
        if (last) await this.tell(this.caller.post(`${PEOPLE}/merge`, { undo_merge_id: last }));
        return undefined;
      }
      case 'repeat':
        return undefined;
    }
  }

  private consentOf({ status, channel, offset, lasts }: Extract<Happening, { kind: 'consent' }>): object {
    const occurredAt = Math.min(this.now + offset, this.now);
    const expires = lasts === null ? {} : { expires_at: iso(occurredAt + lasts) };
    const grant = status === 'granted' ? { notice_version: '1', method: 'form', ...expires } : {};
    return { purpose: 'marketing', channel, status, occurred_at: iso(occurredAt), ...grant };
  }

  private async merge(mergedId: string, survivorId: string): Promise<void> {
    const body = { survivor_id: survivorId, merged_id: mergedId };
    const answer = await this.caller.post<{ merge_id: string }>(`${PEOPLE}/merge`, body);
    if (answer.status === 200) this.merges.push(answer.body.merge_id);
    await this.tell(Promise.resolve(answer));
  }

  private send(given: Given): Promise<void> {
    const key = newId();
    return retried(() => world.store(this.id, [{ ...given, key }]));
  }

  /** What is refused is refused for a reason; nothing fails. */
  private async tell(answered: Promise<Answer<unknown>>): Promise<void> {
    const { status, body } = await answered;
    if (![200, 201, 204, 404, 409, 422].includes(status))
      throw new Error(`${status} ${JSON.stringify(body)}`);
  }

  private async changeRule({ segment: at, rule }: { segment: number; rule: object }): Promise<void> {
    const segment = this.segments[at];
    if (!segment) return;
    expectStatus(await this.caller.patch(`${SEGMENTS}/${segment.id}`, { rule }), 200);
    segment.rule = rule;
  }

  async expectFullRecompute(): Promise<void> {
    const { database } = world.core;
    const stored = await StoredHistories.read(database, this.id);
    const active = stored.activeAt(this.now);
    for (const { id, rule } of this.segments) {
      const node = parseRule(rule);
      const expected = active
        .filter(({ facts }) => evaluate(node, facts, this.now).holds)
        .map((one) => one.id);
      const rows = await database.query<{ contact_id: string }>(
        'SELECT contact_id FROM segment_members WHERE organization_id = $1 AND segment_id = $2 AND left_at IS NULL',
        [this.id, id],
      );
      expect([rule, rows.map((row) => row.contact_id).sort()]).toEqual([rule, expected.sort()]);
      expect((await world.read(this.caller, id)).member_count).toBe(expected.length);
    }
  }

  /**
   * A preview, which reads events, and an explanation, which reads what is kept of them, say of every contact what a full
   * recompute does.
   */
  async expectPreviewsAndExplanations(): Promise<void> {
    const stored = await StoredHistories.read(world.core.database, this.id);
    const active = stored.activeAt(this.now);
    for (const { id, rule } of this.segments) {
      const node = parseRule(rule);
      const expected = active
        .filter(({ facts }) => evaluate(node, facts, this.now).holds)
        .map((one) => one.id);
      const without = active.length - expected.length;
      expect(await this.preview(rule)).toMatchObject({ rule, count: expected.length, exact: true });
      expect(await this.preview({ not: rule })).toMatchObject({ count: without, exact: true });
      const { sample } = await this.preview(rule);
      expect(sample).toHaveLength(Math.min(10, expected.length));
      for (const { contact_id: one } of sample) expect(expected).toContain(one);
      for (const { id: one, facts } of active) {
        const answer = await this.caller.get<object>(`${SEGMENTS}/${id}/explain?contact_id=${one}`);
        expectStatus(answer, 200);
        const explained = explainRule(rule, node, facts, this.now, SEES_ALL);
        expect(answer.body).toEqual({ member: expected.includes(one), rule: explained });
      }
    }
  }

  private async preview(
    rule: object,
  ): Promise<{ rule: object; count: number; exact: boolean; sample: { contact_id: string }[] }> {
    const answer = await this.caller.post<{
      count: number;
      exact: boolean;
      sample: { contact_id: string }[];
    }>(`${SEGMENTS}/preview`, { rule });
    expectStatus(answer, 200);
    return { rule, ...answer.body };
  }
}

/** As the workers do with what another transaction got in the way of. */
async function retried(work: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (tries > 20 || !(error instanceof WriteConflict || isTransient(error))) throw error;
      await pause(5 * tries);
    }
  }
}

async function play({ rules, rounds }: Histories): Promise<void> {
  const office = new Office();
  await office.open(rules);
  for (const round of rounds) {
    await office.run(round);
    await office.expectFullRecompute();
  }
  await office.expectPreviewsAndExplanations();
}

describe('membership', () => {
  it('equals a full recompute of what is stored, whatever comes through the API, merges included, all at once', async () => {
    await fc.assert(fc.asyncProperty(histories(CONTACTS, ROUNDS, RULES), play), draws(2, 6));
  }, 300_000);
});
