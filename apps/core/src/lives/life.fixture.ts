import { newId } from '@customer-platform/database';
import { expectStatus, type Answer, type Caller } from '@customer-platform/testing';
import { accepted, aTrack } from '../core.fixture.js';
import { at } from '../people/contacts/contact.fixture.js';
import { MERGE } from '../people/merges/merge.fixture.js';
import { NationalIdVault } from '../people/national-ids/national-id.vault.js';
import { send } from '../imports/import.fixture.js';
import { byExternalId, EXCHANGE, ME, type Exchanged } from '../members/member.fixture.js';
import { REQUESTS, VERIFICATION, type ErasureWorld } from '../subject-requests/subject-request.fixture.js';
import { ConsentModel, type Word } from './consent-model.js';
import { LifeEnd, type CarriedMerge, type TakenEvent } from './life-end.fixture.js';
import { People, PEOPLE, type Person } from './people.fixture.js';

/** What happens in a life. Each acts on a family of three. */
export const ACTS = [
  ...(['merge', 'undo', 'erase', 'delete', 'restore', 'purge', 'import', 'archive', 'seal anew'] as const),
  ...(['grant', 'withdraw', 'grant late', 'withdraw late', 'grant ahead', 'short grant'] as const),
  ...(['refuse all', 'event', 'event again', 'replay'] as const),
];
/** One of {@link ACTS}. */
export type Act = (typeof ACTS)[number];

const DAY_MS = 86_400_000;
/** A clock may go before ours by so much. */
const AHEAD_MS = 30_000;
/** A grant that is over before its life is held against the model, most likely before its next merge is undone. */
const SHORT_MS = 200;
/** The refusals of a member's call: each is dated a millisecond after the one before. */
const REFUSED_AT_ONCE = 20;

/** A number below another, as the seed has it. */
export type Pick = (below: number) => number;

/** One life: the service and what it should come to, side by side. Nothing is waited for between two acts. */
export class Life {
  private readonly people = new People();
  private readonly consents = new ConsentModel();
  private readonly merges: CarriedMerge[] = [];
  private readonly erasures: string[] = [];
  private readonly archives: { id: string; person: number }[] = [];
  private readonly events: TakenEvent[] = [];
  private readonly imports: string[] = [];
  private segment = '';
  /** The one number as it is written in its own country. */
  private national = '';
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
    this.national = `9${String(10_000_000 + this.pick(90_000_000))}`;
    for (let n = 0; n < PEOPLE; n += 1) this.people.add(await this.born(n));
  }

  /** The second has a number, the third a national id: merges pass on either. */
  private async born(person: number): Promise<Person> {
    const mark = newId().slice(-12);
    const own = { external_id: `ext-${mark}`, email: `mail-${mark}@example.com` };
    const phone = person === 1 ? { phone: `+56${this.national}` } : {};
    const passport = person === 2 ? { national_id: { type: 'PASSPORT', value: mark.toUpperCase() } } : {};
    const { id } = await this.world.contacts.created(this.caller, {
      ...own,
      ...phone,
      ...passport,
      country: 'AR',
    });
    const body = aTrack({ external_id: own.external_id, properties: { of: own.email } });
    const letterId = await this.world.letter(this.organizationId, body, own.external_id);
    const { body: exchanged } = await this.caller.post<Exchanged>(EXCHANGE, byExternalId(own.external_id));
    const { external_id: externalId, email } = own;
    return { id, externalId, email, letterId, token: exchanged.access_token, ...phone };
  }

  async take(act: Act): Promise<void> {
    const person = this.pick(PEOPLE);
    const answer = await this.carryOut(act, person);
    this.said.push(`${act} ${String(person)}: ${String(answer?.status ?? '-')}`);
    if (answer && answer.status >= 500) throw new Error(`${this.story} ${JSON.stringify(answer.body)}`);
  }

  /** Waits until nothing is to be done, then holds what is there against what should be. */
  check(): Promise<void> {
    return this.end().check();
  }

  private end(): LifeEnd {
    return new LifeEnd(this.world, this.organizationId, this.caller, {
      people: this.people,
      consents: this.consents,
      merges: this.merges,
      erasures: this.erasures,
      archives: this.archives,
      imports: this.imports,
      events: this.events,
      segment: this.segment,
    });
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
        return this.caller.post(at(this.people.of(person), '/restore'));
      case 'purge':
        return this.purge(person);
      case 'import':
        return this.import(person);
      case 'archive':
        return this.archive(person);
      case 'seal anew':
        return this.sealAnew();
      case 'event':
        return this.event(person);
      case 'event again':
        return this.eventAgain(person);
      case 'replay':
        return this.caller.post(`/v1/core/dead-letters/${this.people.of(person).letterId}/replay`);
      case 'short grant':
        return this.grantShortly(person);
      case 'refuse all':
        return this.refuseAll(person);
      default:
        return this.say(person, act);
    }
  }

  private async merge(survivor: number, merged: number): Promise<Answer<unknown>> {
    const body = { survivor_id: this.people.of(survivor).id, merged_id: this.people.of(merged).id };
    const answer = await this.caller.post<{ merge_id: string }>(MERGE, body);
    const repeated = this.merges.some(({ id, standing }) => standing && id === answer.body.merge_id);
    if (answer.status === 200 && !repeated) {
      this.people.merge(survivor, merged);
      this.merges.push({ id: answer.body.merge_id, survivor, merged, standing: true });
      this.consents.merge(answer.body.merge_id, survivor, merged);
    }
    return answer;
  }

  /** The last that stands, or one that was undone already: asked again, it is answered and does nothing. */
  private async undo(): Promise<Answer<unknown> | undefined> {
    const merge = this.merges.findLast(({ standing }) => standing) ?? this.merges.at(-1);
    if (!merge) return undefined;
    const both = [merge.survivor, merge.merged].flatMap((one) => this.people.familyOf(one));
    const isHindered = both.some((one) => {
      const { gone, deleted } = this.people.of(one);
      return gone !== undefined || deleted === true;
    });
    const answer = await this.caller.post(MERGE, { undo_merge_id: merge.id });
    if (!isHindered) expectStatus(answer, 200);
    if (answer.status === 200 && merge.standing) {
      merge.standing = false;
      this.people.part(merge.merged);
      this.consents.undo(merge.id);
    }
    return answer;
  }

  /** Of one's own, and of all that are in it: an erasure takes the family. */
  private async erase(person: number): Promise<Answer<unknown>> {
    const body = { type: 'erasure', contact_id: this.people.of(person).id, verification: VERIFICATION };
    const answer = await this.caller.post<{ id: string }>(REQUESTS, body);
    if (answer.status === 202) {
      this.erasures.push(answer.body.id);
      for (const one of this.people.familyOf(person)) this.people.of(one).gone = 'erased';
    }
    return answer;
  }

  private async delete(person: number): Promise<Answer<unknown>> {
    const answer = await this.caller.delete(at(this.people.of(person)));
    if (answer.status === 204)
      for (const one of this.people.familyOf(person)) this.people.of(one).deleted = true;
    return answer;
  }

  private async purge(person: number): Promise<Answer<unknown>> {
    const answer = await this.caller.delete(at(this.people.of(person), '/purge'));
    if (answer.status === 204)
      for (const one of this.people.familyOf(person)) this.people.of(one).gone ??= 'purged';
    return answer;
  }

  /** The number is one of the country that the row before has said; the last row says the first country again. */
  private async import(person: number): Promise<Answer<unknown>> {
    const { externalId } = this.people.of(person);
    const rows = ['Eva,CL,', `,,${this.national}`, ',AR,'].map((row) => `${externalId},${row}\n`);
    const mapping = { id: 'external_id', name: 'first_name', country: 'country', phone: 'phone' };
    const answer = await send(this.caller, `id,name,country,phone\n${rows.join('')}`, { mapping });
    if (answer.status === 202) {
      this.imports.push(answer.body.id);
      this.people.of(person).imported = true;
    }
    return answer;
  }

  private async archive(person: number): Promise<Answer<unknown>> {
    const body = { type: 'access', contact_id: this.people.of(person).id, verification: VERIFICATION };
    const answer = await this.caller.post<{ id: string; contact_id: string }>(REQUESTS, body);
    if (answer.status !== 202) return answer;
    // Of who is merged it is asked for the one in whom they are.
    this.archives.push({ id: answer.body.id, person: this.people.withId(answer.body.contact_id) });
    // Some of them are there before anything else happens.
    if (this.pick(2) === 0) await this.end().made(answer.body.id);
    return answer;
  }

  /** Replaces the platform's keys: what is sealed opens to the same, and is another text. */
  private async sealAnew(): Promise<undefined> {
    const vault = this.world.contacts.core.app.app.get(NationalIdVault);
    const rows = await this.world.contacts.query(
      `SELECT id, national_id_sealed AS sealed FROM contacts
        WHERE organization_id = $1 AND national_id_type = 'PASSPORT'`,
      [this.organizationId],
    );
    for (const { id, sealed } of rows) {
      const value = vault.open(this.organizationId, 'PASSPORT', sealed as string);
      await this.world.contacts.query(
        'UPDATE contacts SET national_id_sealed = $3 WHERE id = $1 AND national_id_sealed = $2',
        [id, sealed, vault.seal(this.organizationId, 'PASSPORT', value).sealed],
      );
    }
    return undefined;
  }

  private async event(person: number): Promise<undefined> {
    const { externalId, email } = this.people.of(person);
    const body = aTrack({ external_id: externalId, properties: { of: email } });
    const { event_id: id } = await accepted(this.caller, body);
    const event = { id, person, key: String(body['idempotency_key']), isStored: false };
    this.events.push(event);
    // Some of them are known to be stored before anything else happens.
    if (this.pick(2) === 0) {
      await this.end().processed();
      event.isStored = (await this.end().storedEvents()).has(id);
    }
    return undefined;
  }

  /** Another body under the key of an event that was stored, of whomever: the first stands, also once it is erased. */
  private async eventAgain(person: number): Promise<undefined> {
    const stored = this.events.filter(({ isStored }) => isStored);
    const first = stored[this.pick(Math.max(1, stored.length))];
    if (!first) return undefined;
    const body = aTrack({ external_id: this.people.of(person).externalId, idempotency_key: first.key });
    expect((await accepted(this.caller, body)).event_id).toBe(first.id);
    return undefined;
  }

  private async say(
    person: number,
    act: 'grant' | 'withdraw' | 'grant late' | 'withdraw late' | 'grant ahead',
  ): Promise<Answer<unknown>> {
    const status: Word = act.startsWith('grant') ? 'granted' : 'withdrawn';
    this.days += 1;
    const late = act.endsWith('late');
    const shift = late ? -(1 + this.pick(300)) * DAY_MS - this.days * 1_000 : AHEAD_MS;
    const isDated = late || act.endsWith('ahead');
    const answer = await this.caller.post<{ occurred_at: string }>(at(this.people.of(person), '/consents'), {
      ...{ purpose: 'marketing', status, notice_version: '1', method: 'form' },
      ...(isDated ? { occurred_at: new Date(Date.now() + shift).toISOString() } : {}),
    });
    if (answer.status === 201) this.consents.say(person, status, Date.parse(answer.body.occurred_at), late);
    return answer;
  }

  /** Refuses as a member, who may for as long as the contact is there: marketing first, and much else. */
  private async refuseAll(person: number): Promise<Answer<unknown>> {
    const others = Array.from({ length: REFUSED_AT_ONCE - 1 }, (_, at) => `custom.of_${String(at)}`);
    const consents = ['marketing', ...others].map((purpose) => ({ purpose, status: 'withdrawn' }));
    const member = this.world.contacts.core.app.with(this.people.of(person).token);
    const answer = await member.patch(`${ME}/consents`, { consents });
    if (answer.status === 200) this.consents.say(this.people.rootOf(person), 'withdrawn', Date.now(), false);
    return answer;
  }

  private async grantShortly(person: number): Promise<Answer<unknown>> {
    const answer = await this.caller.post(at(this.people.of(person), '/consents'), {
      ...{ purpose: 'marketing', status: 'granted', notice_version: '1', method: 'form' },
      expires_at: new Date(Date.now() + SHORT_MS).toISOString(),
    });
    if (answer.status === 201) this.consents.leaveOpen(person);
    return answer;
  }
}
