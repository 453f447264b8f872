import { strFromU8, unzipSync } from 'fflate';
import { eventually } from '../eventually.js';
import type { Caller } from '../caller.js';
import { aPurchase, at, CONTACTS, MERGE, REQUESTS, taken } from './calls.js';
import type { LifeRecord } from './life-record.js';
import type { LifeOrganization, LifeWorld } from './life-world.js';
import { hasTwin, PEOPLE } from './people.js';

const SETTLED = { within: 60_000 };
const ZIP = 'application/zip, */*;q=0.1';

/** The end of a life: waits until nothing is to be done, then holds what is there against what should be. */
export class LifeEnd {
  private readonly caller: Caller;

  constructor(
    private readonly world: LifeWorld,
    private readonly organization: LifeOrganization,
    private readonly deeds: LifeRecord,
  ) {
    [this.caller] = organization.callers();
  }

  async check(): Promise<void> {
    for (const id of this.deeds.erasures) await this.world.completed(this.organization, id);
    await this.imported();
    await this.sendAgain();
    await eventually(() => this.checkEvents(), SETTLED);
    await this.checkConsents();
    for (const archive of this.deeds.archives) await this.checkArchive(archive);
    await this.checkUndone();
    await eventually(() => this.checkErased(), SETTLED);
    await eventually(() => this.checkSegment(), SETTLED);
    await eventually(() => this.world.checkModules(this.organization, this.deeds), SETTLED);
  }

  /** Waits until no file and no event is left to process. */
  async imported(): Promise<void> {
    for (const id of this.deeds.imports)
      await eventually(async () => {
        const { body } = await this.caller.get<{ state: string }>(`/v1/core/imports/${id}`);
        expect(body.state).toBe('completed');
      }, SETTLED);
    await this.processed();
  }

  /** Waits until nothing that was taken is left to process. */
  processed(): Promise<void> {
    return eventually(async () => {
      const { body } = await this.caller.get<{ totals: { events: Record<string, number> } }>(
        '/v1/core/usage',
      );
      expect(body.totals.events['pending']).toBe(0);
    }, SETTLED);
  }

  /** The ids of the events that stand, each with that of its contact. */
  async storedEvents(): Promise<Map<string, string>> {
    const rows = await this.world.query('SELECT id, contact_id FROM events WHERE organization_id = $1', [
      this.organization.id,
    ]);
    return new Map(rows.map(({ id, contact_id: contact }) => [id as string, contact as string]));
  }

  /** Waits until an archive is there, or will never be. */
  made(id: string): Promise<void> {
    return eventually(async () => {
      const { body } = await this.caller.get<{ state: string }>(`${REQUESTS}/${id}`);
      expect(['completed', 'rejected']).toContain(body.state);
    }, SETTLED);
  }

  /** Somebody else uses the keys of events that are erased: they stay used. */
  private async sendAgain(): Promise<void> {
    const { people, events } = this.deeds;
    const other = people.list().find(({ gone, deleted }) => gone === undefined && deleted !== true);
    if (!other) return;
    for (const { person, key, isStored } of events)
      if (isStored && people.of(person).gone === 'erased')
        await taken(this.caller, aPurchase(other.externalId, 'something else', key));
    await this.processed();
  }

  private async checkConsents(): Promise<void> {
    for (const [person, { word, fuzzy }] of this.deeds.consents.held(PEOPLE).entries()) {
      const one = this.deeds.people.of(person);
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
    const { people, events } = this.deeds;
    const seen = await this.storedEvents();
    for (const { id, person } of events) {
      const { gone } = people.of(person);
      if (hasTwin(people.of(person))) continue;
      if (gone === undefined) expect([id, seen.get(id)]).toEqual([id, people.of(people.rootOf(person)).id]);
      else if (gone === 'erased') expect(seen.has(id)).toBe(false);
    }
  }

  /** An archive that is given out holds its own person, the letters among it, and nobody who is another. */
  private async checkArchive({ id, person }: { id: string; person: number }): Promise<void> {
    const { people } = this.deeds;
    await this.made(id);
    const { status, bytes } = await this.caller.download(`${REQUESTS}/${id}`, ZIP);
    if (status !== 200) return;
    const own = people.of(person);
    expect([person, own.gone]).toEqual([person, undefined]);
    const text = Object.values(unzipSync(bytes)).map((file) => strFromU8(file));
    const family = people.familyOf(person);
    const others = people.list().filter((other, each) => !family.includes(each) && !hasTwin(other));
    const found = others
      .flatMap(({ externalId, email }) => [externalId, email])
      .filter((mark) => text.some((file) => file.includes(mark)));
    expect([`archive of ${String(person)}`, found]).toEqual([`archive of ${String(person)}`, []]);
    if (!hasTwin(own)) expect(text.join('\n')).toContain(own.letterId);
  }

  /** An undone merge that is asked for again tells nothing of who is erased. */
  private async checkUndone(): Promise<void> {
    for (const { id, standing } of this.deeds.merges) {
      if (standing) continue;
      const { status, body } = await this.caller.post(MERGE, { undo_merge_id: id });
      expect(status).toBeLessThan(500);
      const told = JSON.stringify(body).toLowerCase();
      expect(this.deeds.people.erasedTexts().filter((text) => told.includes(text))).toEqual([]);
    }
  }

  private async checkErased(): Promise<void> {
    const sought = this.deeds.people.erasedTexts();
    if (sought.length === 0) return;
    expect(await this.world.search(this.organization.id, sought)).toEqual([]);
  }

  private async checkSegment(): Promise<void> {
    const ids = async (path: string): Promise<string[]> => {
      const { body } = await this.caller.get<{ data: { id?: string; contact_id?: string }[] }>(path);
      return body.data.map(({ id, contact_id: contact }) => contact ?? id ?? '').sort();
    };
    const there = await ids(`${CONTACTS}?email[is_null]=false&limit=200`);
    expect(await ids(`/v1/core/segments/${this.deeds.segment}/members?limit=200`)).toEqual(there);
    for (const { id, gone } of this.deeds.people.list()) if (gone) expect(there).not.toContain(id);
  }
}
