import { newId } from '@customer-platform/database';
import {
  behindLock,
  eventually,
  LIFE_ACTS,
  searchEverything,
  startTestApp,
  type Act,
  type Caller,
  type LifeOrganization,
  type LifeWorld,
  type TestApp,
} from '@customer-platform/testing';
import { coreApp } from '../core.app.js';
import { CORE_PERMISSIONS } from '../core.fixture.js';
import { NationalIdVault } from '../people/national-ids/national-id.vault.js';
import { ErasureWorld, OTHERS } from '../subject-requests/subject-request.fixture.js';

/** Acts of other modules, none of which is here. */
const OF_OTHERS: readonly Act[] = ['note', 'decline'];
const BESIDE = 'core beside';

const SEALED = `
  SELECT id, national_id_sealed AS sealed FROM contacts WHERE organization_id = $1 AND national_id_type = 'PASSPORT'`;
const SEAL = 'UPDATE contacts SET national_id_sealed = $3 WHERE id = $1 AND national_id_sealed = $2';

const WAITING = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;

/** Two instances of core on one database and one broker, between modules that may be silent. */
export class CoreLives implements LifeWorld {
  readonly acts = LIFE_ACTS.filter((act) => !OF_OTHERS.includes(act));
  readonly stoppable = [BESIDE, ...OTHERS];
  private beside: TestApp | undefined;

  private constructor(private readonly world: ErasureWorld) {}

  static async start(): Promise<CoreLives> {
    const lives = new CoreLives(await ErasureWorld.start());
    await lives.start(BESIDE);
    return lives;
  }

  async stop(name: string): Promise<void> {
    if (name !== BESIDE) return this.silence(name, true);
    await this.beside?.close();
    this.beside = undefined;
  }

  async start(name: string): Promise<void> {
    if (name !== BESIDE) return this.silence(name, false);
    const { core, peers } = this.world.contacts;
    const env = Object.fromEntries(
      OTHERS.map((module) => [`${module.toUpperCase()}_INTERNAL_URL`, peers[module].url]),
    );
    const { registry } = core.app;
    this.beside = await startTestApp({ ...coreApp(), database: core.database, registry, env });
  }

  anOrganization(): Promise<LifeOrganization> {
    const { app } = this.world.contacts.core;
    const id = newId();
    const key = app.registry.key({ organizationId: id, permissions: CORE_PERMISSIONS });
    const callers = (): [Caller, ...Caller[]] => [
      app.with(key),
      ...(this.beside ? [this.beside.with(key)] : []),
    ];
    return Promise.resolve({ id, callers });
  }

  member(token: string): Caller {
    return this.world.contacts.core.app.with(token);
  }

  readonly query: LifeWorld['query'] = (sql, values) => this.world.contacts.query(sql, values);

  async sealAnew(organizationId: string): Promise<void> {
    const vault = this.world.contacts.core.app.app.get(NationalIdVault);
    for (const { id, sealed } of await this.query(SEALED, [organizationId])) {
      const value = vault.open(organizationId, 'PASSPORT', sealed as string);
      await this.query(SEAL, [id, sealed, vault.seal(organizationId, 'PASSPORT', value).sealed]);
    }
  }

  async oneAfterTheOther<T, U>(
    contactId: string,
    first: () => Promise<T>,
    second: () => Promise<U>,
  ): Promise<[T, U]> {
    const { database } = this.world.contacts.core;
    const held = { sql: 'SELECT FROM contacts WHERE id = $1 FOR UPDATE', values: [contactId] };
    let called: Promise<U> | undefined;
    const one = behindLock(database, held, first, async () => {
      called = second();
      const waiting = eventually(async () => expect(await database.query(WAITING)).toHaveLength(2));
      await Promise.race([called, Promise.allSettled([waiting])]);
    });
    return [await one, await (called ?? second())];
  }

  async completed({ id: organizationId, callers }: LifeOrganization, id: string): Promise<void> {
    const [caller] = callers();
    await this.world.doneByCore(caller, { id });
    await this.world.answerAll(organizationId, id);
    await this.world.inState(caller, { id }, 'completed');
  }

  async search(organizationId: string, sought: readonly string[]): Promise<readonly string[]> {
    return (await searchEverything(this.world.contacts.core.database, organizationId, sought)).found;
  }

  /** They are not here. */
  checkModules(): Promise<void> {
    return Promise.resolve();
  }

  async close(): Promise<void> {
    await this.beside?.close();
    await this.world.close();
  }

  private silence(name: string, away: boolean): void {
    const module = OTHERS.find((other) => other === name);
    if (module) this.world.contacts.peers[module].outage(away);
  }
}
