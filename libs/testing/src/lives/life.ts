import { newId } from '@customer-platform/database';
import type { Answer, Caller } from '../caller.js';
import { expectStatus } from '../soft-deletable-resource.js';
import type { Act, Pick } from './acts.js';
import {
  aPurchase,
  at,
  CONTACTS,
  importFile,
  memberToken,
  MERGE,
  REQUESTS,
  taken,
  VERIFICATION,
} from './calls.js';
import { ConsentModel } from './consent-model.js';
import type { CarriedMerge, TakenEvent } from './life-record.js';
import { addLetter } from './letter.js';
import { LifeEnd } from './life-end.js';
import type { LifeOrganization, LifeWorld } from './life-world.js';
import { People, PEOPLE, type Person } from './people.js';
import { ConsentActs } from './consent-acts.js';

/** One life: the service and what it should come to, side by side. Nothing is waited for between two acts. */
export class Life {
  private readonly people = new People();
  private readonly consents = new ConsentModel();
  private readonly merges: CarriedMerge[] = [];
  private readonly erasures: string[] = [];
  private readonly archives: { id: string; person: number }[] = [];
  private readonly events: TakenEvent[] = [];
  private readonly imports: string[] = [];
  private readonly notes: { id: string; person: number }[] = [];
  private readonly declined = new Set<number>();
  private readonly stopped: string[] = [];
  private segment = '';
  /** The one number as it is written in its own country. */
  private national = '';
  private readonly said: string[] = [];
  private readonly words: ConsentActs;

  constructor(
    private readonly world: LifeWorld,
    private readonly organization: LifeOrganization,
    private readonly pick: Pick,
  ) {
    this.words = new ConsentActs(world, this.people, this.consents, () => this.caller, pick);
  }

  /** What was done, for whoever looks for what went wrong. */
  get story(): string {
    return this.said.join('; ');
  }

  /** That of one of the instances that run. */
  private get caller(): Caller {
    const callers = this.organization.callers();
    return callers[this.pick(callers.length)] ?? callers[0];
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
    const created = await this.caller.post<{ id: string }>(CONTACTS, {
      // Each has an attribute of their own, which merges pass on, too.
      ...{ first_name: 'Ana', country: 'AR', attributes: { [`of_${String(person)}`]: own.email } },
      ...own,
      ...phone,
      ...passport,
    });
    expectStatus(created, 201);
    const { external_id: externalId, email } = own;
    const body = aPurchase(externalId, email);
    const letterId = await addLetter(this.world.query, this.organization.id, body, externalId);
    const token = await memberToken(this.caller, externalId);
    return { id: created.body.id, externalId, email, letterId, token, ...phone };
  }

  async take(act: Act): Promise<void> {
    const person = this.pick(PEOPLE);
    const answer = await this.carryOut(act, person);
    this.said.push(`${act} ${String(person)}: ${String(answer?.status ?? '-')}`);
    const mayBeAway = answer?.status === 503 && this.stopped.length > 0;
    if (answer && answer.status >= 500 && !mayBeAway)
      throw new Error(`${this.story} ${JSON.stringify(answer.body)}`);
  }

  /** Waits until nothing is to be done, then holds what is there against what should be. */
  async check(): Promise<void> {
    await this.startAll();
    await this.end().check();
  }

  /** Starts again what this life has stopped. */
  async startAll(): Promise<void> {
    while (this.stopped.length > 0) await this.start();
  }

  private end(): LifeEnd {
    return new LifeEnd(this.world, this.organization, {
      people: this.people,
      consents: this.consents,
      merges: this.merges,
      erasures: this.erasures,
      archives: this.archives,
      imports: this.imports,
      events: this.events,
      notes: this.notes,
      declined: this.declined,
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
        return this.words.grantShortly(person);
      case 'refuse all':
        return this.words.refuseAll(person);
      case 'pass on':
        return this.passOn(person);
      case 'disagree':
        return this.disagree(person);
      case 'archive of two':
        return this.archiveOfTwo(person);
      case 'withdraw meanwhile':
        return this.withdrawMeanwhile(person);
      case 'note':
        return this.note(person);
      case 'decline':
        return this.decline(person);
      case 'stop':
        return this.stop();
      case 'start':
        return this.start();
      default:
        return this.words.say(person, act);
    }
  }

  private async merge(survivor: number, merged: number): Promise<Answer<unknown>> {
    return this.noteMerge(survivor, merged, await this.askToMerge(survivor, merged));
  }

  private askToMerge(survivor: number, merged: number): Promise<Answer<{ merge_id: string }>> {
    const body = { survivor_id: this.people.of(survivor).id, merged_id: this.people.of(merged).id };
    return this.caller.post<{ merge_id: string }>(MERGE, body);
  }

  private noteMerge(
    survivor: number,
    merged: number,
    answer: Answer<{ merge_id: string }>,
  ): Answer<{ merge_id: string }> {
    const repeated = this.merges.some(({ id, standing }) => standing && id === answer.body.merge_id);
    if (answer.status === 200 && !repeated) {
      this.people.merge(survivor, merged);
      this.merges.push({ id: answer.body.merge_id, survivor, merged, standing: true });
      this.consents.merge(answer.body.merge_id, survivor, merged);
      if (this.declined.has(merged)) this.declined.add(survivor);
    }
    return answer;
  }

  /** Withdraws as another is about to be merged into the contact: said before, it is recorded since the merge. */
  private async withdrawMeanwhile(person: number): Promise<Answer<unknown>> {
    const merged = (person + 1 + this.pick(PEOPLE - 1)) % PEOPLE;
    const { id } = this.people.of(person);
    const isGone = [person, merged].some((one) => this.people.of(one).gone !== undefined);
    if (isGone) return this.merge(person, merged);
    // Nothing else is to wait for the contact then.
    await this.end().imported();
    const [merge, said] = await this.world.oneAfterTheOther(
      id,
      () => this.askToMerge(person, merged),
      () => this.words.askToSay(person, 'withdrawn'),
    );
    this.noteMerge(person, merged, merge);
    return this.words.noteSaid(person, 'withdrawn', false, said);
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

  /** One has refused, the other agrees: together the refusal holds, and after they parted each one's own word. */
  private async disagree(person: number): Promise<Answer<unknown> | undefined> {
    const other = (person + 1) % PEOPLE;
    await this.words.say(other, 'withdraw');
    const kind = this.pick(3);
    if (kind === 0) await this.words.grantShortly(person);
    else await this.words.say(person, kind === 1 ? 'grant late' : 'grant');
    await this.merge(person, other);
    if (kind === 0) await this.words.untilOver();
    const answer = await this.undo();
    if (answer && answer.status >= 500) return answer;
    return this.pick(2) === 0 ? this.words.say(person, 'withdraw late') : answer;
  }

  /** Passes what one has to the last of a chain, and back; some want all of it erased then. */
  private async passOn(person: number): Promise<Answer<unknown> | undefined> {
    const [next, last] = [(person + 1) % PEOPLE, (person + 2) % PEOPLE];
    await this.merge(next, person);
    await this.merge(last, next);
    await this.undo();
    const answer = await this.undo();
    return this.pick(2) === 0 ? this.erase(person) : answer;
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
    const answer = await importFile(this.caller, `id,name,country,phone\n${rows.join('')}`, mapping);
    if (answer.status === 202) {
      this.imports.push(answer.body.id);
      this.people.of(person).imported = true;
    }
    return answer;
  }

  private async archive(person: number, isAwaited = this.pick(2) === 0): Promise<Answer<unknown>> {
    const body = { type: 'access', contact_id: this.people.of(person).id, verification: VERIFICATION };
    const answer = await this.caller.post<{ id: string; contact_id: string }>(REQUESTS, body);
    if (answer.status !== 202) return answer;
    // Of who is merged it is asked for the one in whom they are.
    this.archives.push({ id: answer.body.id, person: this.people.withId(answer.body.contact_id) });
    // Some of them are there before anything else happens.
    if (isAwaited && this.stopped.length === 0) await this.end().made(answer.body.id);
    return answer;
  }

  /** Made while another is in them, who parts then. */
  private async archiveOfTwo(person: number): Promise<Answer<unknown> | undefined> {
    await this.merge(person, (person + 1) % PEOPLE);
    await this.archive(person, true);
    return this.undo();
  }

  /** Replaces the platform's keys: what is sealed opens to the same, and is another text. */
  private async sealAnew(): Promise<undefined> {
    await this.world.sealAnew(this.organization.id);
    return undefined;
  }

  private async event(person: number): Promise<undefined> {
    const { externalId, email } = this.people.of(person);
    const body = aPurchase(externalId, email);
    const id = await taken(this.caller, body);
    const event = { id, person, key: body.idempotency_key, isStored: false };
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
    const { externalId } = this.people.of(person);
    const body = aPurchase(externalId, 'something else', first.key);
    expect(await taken(this.caller, body)).toBe(first.id);
    return undefined;
  }

  /** About whoever the person is in now. */
  private async note(person: number): Promise<Answer<unknown>> {
    const about = this.people.rootOf(person);
    const { id: contact_id, email } = this.people.of(about);
    const [frontDoor] = this.organization.callers();
    const body = { contact_id, body: `Asked ${email}` };
    const answer = await frontDoor.post<{ id: string }>('/v1/crm/notes', body);
    if (answer.status === 201) this.notes.push({ id: answer.body.id, person: about });
    return answer;
  }

  /** Wants no marketing by mail, as a member: nor does whoever they are merged into from now on. */
  private async decline(person: number): Promise<Answer<unknown>> {
    const member = this.world.member(this.people.of(person).token);
    const body = { channels: { email: { marketing: false } } };
    const answer = await member.patch('/v1/messaging/members/me/preferences', body);
    if (answer.status === 200) this.declined.add(this.people.rootOf(person));
    return answer;
  }

  private async stop(): Promise<undefined> {
    const running = this.world.stoppable.filter((name) => !this.stopped.includes(name));
    const name = running[this.pick(Math.max(1, running.length))];
    if (name === undefined) return;
    this.said.push(`${name} is stopped`);
    this.stopped.push(name);
    await this.world.stop(name);
  }

  /** The one that is stopped for longest. */
  private async start(): Promise<undefined> {
    const name = this.stopped.shift();
    if (name === undefined) return;
    this.said.push(`${name} is started`);
    await this.world.start(name);
  }
}
