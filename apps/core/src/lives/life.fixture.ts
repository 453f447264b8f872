import { newId } from '@customer-platform/database';
import {
  eventually,
  expectStatus,
  searchEverything,
  type Answer,
  type Caller,
} from '@customer-platform/testing';
import { accepted, aTrack } from '../core.fixture.js';
import { at, CONTACTS } from '../contacts/contact.fixture.js';
import { MERGE } from '../contacts/merge/merge.fixture.js';
import { REQUESTS, VERIFICATION, type ErasureWorld } from '../subject-requests/subject-request.fixture.js';
import { ConsentModel, type Word } from './consent-model.js';

/** What happens in a life. Each acts on a family of three. */
export const ACTS = [
  ...(['merge', 'undo', 'erase', 'delete', 'restore', 'purge', 'import'] as const),
  ...(['grant', 'withdraw', 'grant late', 'withdraw late', 'short grant'] as const),
  ...(['event', 'event again', 'replay'] as const),
];
/** One of {@link ACTS}. */
export type Act = (typeof ACTS)[number];

/** People of one life, who may be the same. */
const PEOPLE = 3;
const DAY_MS = 86_400_000;
/** A grant that is over before its life is held against the model, most likely before its next merge is undone. */
const SHORT_MS = 200;
const SETTLED = { within: 60_000 };

interface Person {
  readonly id: string;
  readonly externalId: string;
  readonly email: string;
  /** A number that one of them has: merges pass it on, undos give it back. */
  readonly phone?: string;
  into?: number;
  gone?: 'erased' | 'purged';
  /** Whether a file named the person, and whether the contact was deleted: an import makes another of such. */
  imported?: boolean;
  deleted?: boolean;
}

/** A number below another, as the seed has it. */
export type Pick = (below: number) => number;

/** One life: the service and what it should come to, side by side. Nothing is waited for between two acts. */
export class Life {
  private readonly people: Person[] = [];
  private readonly consents = new ConsentModel();
  private readonly merges: { id: string; survivor: number; merged: number; standing: boolean }[] = [];
  private readonly requests: string[] = [];
  /** Events that were taken, each with whose it is. */
  private readonly events: { id: string; person: number; key: string; isStored: boolean }[] = [];
  private readonly letters: { id: string; person: number }[] = [];
  private readonly imports: string[] = [];
  private segment = '';
  private readonly organizationId: string;
  private readonly caller: Caller;
  private readonly said: string[] = [];
  private days = 0;

  constructor(
    private readonly world: ErasureWorld,
    private readonly pick: Pick,
  ) {
    ({ id: this.organizationId, caller: this.caller } = world.contacts.anOrganization());
  }

  /** What was done, for whoever looks for what went wrong. */
  get story(): string {
    return this.said.join('; ');
  }

  async begin(): Promise<void> {
    const rule = { attribute: 'email', op: 'exists', value: true };
    const segment = await this.caller.post<{ id: string }>('/v1/core/segments', { name: 'All', rule });
    expectStatus(segment, 201);
    this.segment = segment.body.id;
    for (let n = 0; n < PEOPLE; n += 1) {
      const mark = newId().slice(-12);
      const own = { external_id: `ext-${mark}`, email: `mail-${mark}@example.com` };
      const phone = n === 1 ? { phone: `+569${String(10_000_000 + this.pick(90_000_000))}` } : {};
      const { id } = await this.world.contacts.created(this.caller, { ...own, ...phone });
      this.people.push({ id, externalId: own.external_id, email: own.email, ...phone });
      await this.letterOf(n);
    }
  }

  async take(act: Act): Promise<void> {
    const person = this.pick(PEOPLE);
    const answer = await this.carryOut(act, person);
    this.said.push(`${act} ${String(person)}: ${String(answer?.status ?? '-')}`);
    if (answer && answer.status >= 500) throw new Error(`${this.story} ${JSON.stringify(answer.body)}`);
  }

  private carryOut(act: Act, person: number): Promise<Answer<unknown> | undefined> {
    switch (act) {
      case 'merge':
        return this.merge(person, (person + 1 + this.pick(PEOPLE - 1)) % PEOPLE);
      case 'undo':
        return this.undo();
      case 'erase':
        return this.erase(person);
      case 'delete':
        return this.delete(person);
      case 'restore':
        return this.caller.post(at(this.of(person), '/restore'));
      case 'purge':
        return this.purge(person);
      case 'import':
        return this.import(person);
      case 'event':
        return this.event(person);
      case 'event again':
        return this.eventAgain(person);
      case 'replay':
        return this.replay();
      case 'short grant':
        return this.grantShortly(person);
      default:
        return this.say(person, act.startsWith('grant') ? 'granted' : 'withdrawn', act.endsWith('late'));
    }
  }

  private async merge(survivor: number, merged: number): Promise<Answer<unknown>> {
    const body = { survivor_id: this.of(survivor).id, merged_id: this.of(merged).id };
    const answer = await this.caller.post<{ merge_id: string }>(MERGE, body);
    const repeated = this.merges.some(({ id, standing }) => standing && id === answer.body.merge_id);
    if (answer.status === 200 && !repeated) {
      this.of(merged).into = survivor;
      this.merges.push({ id: answer.body.merge_id, survivor, merged, standing: true });
      this.consents.merge(answer.body.merge_id, survivor, merged);
    }
    return answer;
  }

  /** The last that stands, or one that was undone already: asked again, it is answered and does nothing. */
  private async undo(): Promise<Answer<unknown> | undefined> {
    const merge = this.merges.findLast(({ standing }) => standing) ?? this.merges.at(-1);
    if (!merge) return undefined;
    const answer = await this.caller.post(MERGE, { undo_merge_id: merge.id });
    if (answer.status === 200 && merge.standing) {
      merge.standing = false;
      delete this.of(merge.merged).into;
      this.consents.undo(merge.id);
    }
    return answer;
  }

  /** Of one's own, and of all that are in it: an erasure takes the family. */
  private async erase(person: number): Promise<Answer<unknown>> {
    const body = { type: 'erasure', contact_id: this.of(person).id, verification: VERIFICATION };
    const answer = await this.caller.post<{ id: string }>(REQUESTS, body);
    if (answer.status === 202) {
      this.requests.push(answer.body.id);
      for (const one of this.familyOf(person)) one.gone = 'erased';
    }
    return answer;
  }

  private async delete(person: number): Promise<Answer<unknown>> {
    const answer = await this.caller.delete(at(this.of(person)));
    if (answer.status === 204) for (const one of this.familyOf(person)) one.deleted = true;
    return answer;
  }

  private async purge(person: number): Promise<Answer<unknown>> {
    const answer = await this.caller.delete(at(this.of(person), '/purge'));
    if (answer.status === 204) for (const one of this.familyOf(person)) one.gone ??= 'purged';
    return answer;
  }

  private async import(person: number): Promise<Answer<unknown>> {
    const form = new FormData();
    form.append('options', JSON.stringify({ mapping: { id: 'external_id', name: 'first_name' } }));
    form.append('file', new Blob([`id,name\n${this.of(person).externalId},Eva\n`]), 'people.csv');
    const sent = new Response(form);
    const bytes = new Uint8Array(await sent.arrayBuffer());
    const headers = { 'content-type': sent.headers.get('content-type') ?? '' };
    const answer = await this.caller.call<{ id: string }>('POST', '/v1/core/imports', { bytes, headers });
    if (answer.status === 202) {
      this.imports.push(answer.body.id);
      this.of(person).imported = true;
    }
    return answer;
  }

  private async event(person: number): Promise<undefined> {
    const body = aTrack({
      external_id: this.of(person).externalId,
      properties: { of: this.of(person).email },
    });
    const { event_id: id } = await accepted(this.caller, body);
    const event = { id, person, key: String(body['idempotency_key']), isStored: false };
    this.events.push(event);
    // Some of them are known to be stored before anything else happens.
    if (this.pick(2) === 0) {
      await this.processed();
      event.isStored = (await this.storedEvents()).has(id);
    }
    return undefined;
  }

  /** Another body under the key of an event that was stored, of whomever: the first stands, also once it is erased. */
  private async eventAgain(person: number): Promise<undefined> {
    const stored = this.events.filter(({ isStored }) => isStored);
    const first = stored[this.pick(Math.max(1, stored.length))];
    if (!first) return undefined;
    const body = aTrack({ external_id: this.of(person).externalId, idempotency_key: first.key });
    expect((await accepted(this.caller, body)).event_id).toBe(first.id);
    return undefined;
  }

  private async replay(): Promise<Answer<unknown> | undefined> {
    const letter = this.letters[this.pick(this.letters.length)];
    return letter && this.caller.post(`/v1/core/dead-letters/${letter.id}/replay`);
  }

  private async say(person: number, status: Word, late: boolean): Promise<Answer<unknown>> {
    this.days += 1;
    const when = Date.now() - (late ? (1 + this.pick(300)) * DAY_MS + this.days * 1_000 : 0);
    const answer = await this.caller.post<{ occurred_at: string }>(at(this.of(person), '/consents'), {
      ...{ purpose: 'marketing', status, notice_version: '1', method: 'form' },
      ...(late ? { occurred_at: new Date(when).toISOString() } : {}),
    });
    if (answer.status === 201) this.consents.say(person, status, Date.parse(answer.body.occurred_at), late);
    return answer;
  }

  private async grantShortly(person: number): Promise<Answer<unknown>> {
    const answer = await this.caller.post(at(this.of(person), '/consents'), {
      ...{ purpose: 'marketing', status: 'granted', notice_version: '1', method: 'form' },
      expires_at: new Date(Date.now() + SHORT_MS).toISOString(),
    });
    if (answer.status === 201) this.consents.leaveOpen(person);
    return answer;
  }

  private async letterOf(person: number): Promise<void> {
    const { externalId, email } = this.of(person);
    const body = aTrack({ external_id: externalId, properties: { of: email } });
    this.letters.push({ id: await this.world.letter(this.organizationId, body, externalId), person });
  }

  /** Waits until nothing is to be done, then holds what is there against what should be. */
  async check(): Promise<void> {
    for (const id of this.requests) {
      await this.world.doneByCore(this.caller, { id });
      await this.world.answerAll(this.organizationId, id);
      await this.world.inState(this.caller, { id }, 'completed');
    }
    for (const id of this.imports) await this.imported(id);
    await this.processed();
    await eventually(() => this.checkEvents(), SETTLED);
    await this.checkConsents();
    await eventually(() => this.checkErased(), SETTLED);
    await eventually(() => this.checkSegment(), SETTLED);
  }

  /** Waits until nothing that was taken is left to process. */
  private processed(): Promise<void> {
    return eventually(async () => {
      const { body } = await this.caller.get<{ totals: { events: Record<string, number> } }>(
        '/v1/core/usage',
      );
      expect(body.totals.events['pending']).toBe(0);
    }, SETTLED);
  }

  private async storedEvents(): Promise<Map<string, string>> {
    const rows = await this.world.contacts.query(
      'SELECT id, contact_id FROM events WHERE organization_id = $1',
      [this.organizationId],
    );
    return new Map(rows.map(({ id, contact_id: contact }) => [id as string, contact as string]));
  }

  private imported(id: string): Promise<void> {
    return eventually(async () => {
      const { body } = await this.caller.get<{ state: string }>(`/v1/core/imports/${id}`);
      expect(body.state).toBe('completed');
    }, SETTLED);
  }

  private async checkConsents(): Promise<void> {
    for (const [person, { word, fuzzy }] of this.consents.held(PEOPLE).entries()) {
      const one = this.of(person);
      if (one.into !== undefined || one.gone !== undefined) continue;
      const answer = await this.caller.get<{ data: { channel: string | null; status: string }[] }>(
        at(one, '/consents?purpose=marketing'),
      );
      if (answer.status !== 200) continue;
      const status = answer.body.data.find(({ channel }) => channel === null)?.status;
      const may = fuzzy ? ['granted', 'withdrawn', 'expired'] : [word];
      expect([person, may]).toEqual([person, expect.arrayContaining([status])]);
    }
  }

  /** Each that was taken of somebody who is still there stands once, with whom it belongs to. */
  private async checkEvents(): Promise<void> {
    const seen = await this.storedEvents();
    for (const { id, person } of this.events) {
      if (hasTwin(this.of(person))) continue;
      if (this.of(person).gone === undefined)
        expect([id, seen.get(id)]).toEqual([id, this.rootOf(person).id]);
      else if (this.of(person).gone === 'erased') expect(seen.has(id)).toBe(false);
    }
  }

  private async checkErased(): Promise<void> {
    const sought = this.people
      .filter(({ gone }) => gone === 'erased')
      .flatMap(({ phone, ...one }) => [
        ...(phone ? [phone] : []),
        ...(hasTwin(one) ? [] : [one.externalId, one.email]),
      ]);
    if (sought.length === 0) return;
    const { database } = this.world.contacts.core;
    expect((await searchEverything(database, this.organizationId, sought)).found).toEqual([]);
  }

  private async checkSegment(): Promise<void> {
    const ids = async (path: string): Promise<string[]> => {
      const { body } = await this.caller.get<{ data: { id?: string; contact_id?: string }[] }>(path);
      return body.data.map(({ id, contact_id: contact }) => contact ?? id ?? '').sort();
    };
    const there = await ids(`${CONTACTS}?email[is_null]=false&limit=200`);
    expect(await ids(`/v1/core/segments/${this.segment}/members?limit=200`)).toEqual(there);
    for (const { id, gone } of this.people) if (gone) expect(there).not.toContain(id);
  }

  private familyOf(person: number): Person[] {
    const root = this.rootOf(person);
    return this.people.filter((_, each) => this.rootOf(each) === root);
  }

  private rootOf(person: number): Person {
    const { into } = this.of(person);
    return into === undefined ? this.of(person) : this.rootOf(into);
  }

  private of(person: number): Person {
    const found = this.people[person];
    if (!found) throw new Error('there is no such person');
    return found;
  }
}

/**
 * Whether another contact may have the external id by now: it is theirs then, with the events that name it, and is not
 * erased.
 */
function hasTwin({ imported, deleted }: Person): boolean {
  return imported === true && deleted === true;
}
