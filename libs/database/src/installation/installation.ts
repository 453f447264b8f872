import { Injectable } from '@nestjs/common';
import { readConfig, serviceConfig } from '@customer-platform/config';
import { log } from '@customer-platform/http';
import { askedAtStart } from '../at-start.js';
import { Database } from '../database.js';
import { postgresFailure } from '../errors.js';
import type { WorkerTransaction } from '../transaction.js';
import { OtherInstallation } from './other-installation.js';

/** What two installations must not share, and which bears the mark of its own. */
export interface MarkedPlace {
  /** As a sentence begins with it. */
  readonly name: string;
  /** The variables that lead there. */
  readonly variables: string;
  /** Whether a mark lasts there, so that one which is gone means that the place is another. */
  readonly lasting: boolean;
  /** The ids of the installations that have marked it. */
  marks(): Promise<readonly string[]>;
  /** Marks it where nobody has; another's mark of the same moment stays. */
  mark(id: string): Promise<void>;
  /** Leaves this mark and no other. */
  replace(id: string): Promise<void>;
}

/** The row, and the PostgreSQL server that it was read from. */
interface Found {
  readonly id: string;
  /** The server that it was used on. */
  readonly postgres: string | null;
  /** Whether Kafka was marked. */
  readonly kafka: boolean;
  /** None where the module may not ask. */
  readonly server: string | null;
}

const UNDEFINED_TABLE = '42P01';
const FOUND = 'SELECT id, postgres, kafka FROM installation';
const MAY_ASK = `SELECT has_function_privilege('pg_control_system()', 'execute') AS may`;
/** Made by initdb: a server that stands in for another has the same, a dump is read into one with its own. */
const SERVER = 'SELECT system_identifier::text AS server FROM pg_control_system()';
const USED_ON = 'UPDATE installation SET postgres = $1 WHERE postgres IS NULL';
const KAFKA_MARKED = 'UPDATE installation SET kafka = true WHERE id = $1';
const ADOPTED = 'UPDATE installation SET postgres = $1, kafka = $3 WHERE id = $2';
const RENEWED = `UPDATE installation SET id = gen_random_uuid(), postgres = NULL, kafka = false RETURNING id`;

/**
 * Whose this database is: an id that its migrations made once, and that its backups have. What the module uses beside
 * the database is marked with it, and is used by nobody else.
 */
@Injectable()
export class Installation {
  private own: Promise<Found> | undefined;
  /** As the process was started. */
  private readonly isLocal = isLocal();

  constructor(private readonly database: Database) {}

  /**
   * Refuses the start of a database that is not where it was used. One that is not migrated is not ready, and is asked
   * when it is.
   * @throws OtherInstallation
   */
  async atStart(): Promise<void> {
    if (this.isLocal) return;
    try {
      await askedAtStart(() => this.id());
    } catch (error) {
      if (postgresFailure(error)?.code !== UNDEFINED_TABLE) throw error;
      log.debug({ err: error }, 'The database is not migrated yet');
    }
  }

  /** @throws OtherInstallation in production, on another PostgreSQL server than the one it was used on */
  async id(): Promise<string> {
    return (await this.demanded()).id;
  }

  /**
   * Marks the place as this installation's, unless it is already.
   * @throws OtherInstallation where it is another's, or has lost a mark that lasts
   */
  async claim(place: MarkedPlace): Promise<void> {
    const { id, kafka } = await this.demanded();
    let marks = await place.marks();
    if (marks.length === 0) {
      if (place.lasting && kafka)
        throw new OtherInstallation(
          `${place.name} is not the one that the installation ${id} has marked: this one (${place.variables}) bears no mark`,
        );
      await place.mark(id);
      marks = await place.marks();
    }
    const other = marks.find((mark) => mark !== id);
    if (other !== undefined)
      throw new OtherInstallation(
        `${place.name} (${place.variables}) is used by the installation ${other}, and this database is of the installation ${id}`,
      );
    if (place.lasting && !kafka && marks.length > 0)
      await this.database.acrossOrganizations((tx) => tx.query(KAFKA_MARKED, [id]));
  }

  /**
   * Takes the places, and the server that the database is on, from whoever had them.
   * @returns the installation, and which places let themselves not be marked: they are used all the same
   */
  async adopt(places: readonly MarkedPlace[]): Promise<{ id: string; unmarked: string[] }> {
    const { id, server } = await this.found();
    const unmarked: MarkedPlace[] = [];
    for (const place of places) {
      await place.replace(id);
      if ((await place.marks()).length === 0) unmarked.push(place);
    }
    const isMarked = !unmarked.some(({ lasting }) => lasting);
    await this.database.acrossOrganizations((tx) => tx.query(ADOPTED, [server, id, isMarked]));
    return { id, unmarked: unmarked.map(({ name }) => name) };
  }

  /** Makes the database one of a new installation, which has not been anywhere yet. */
  async renew(): Promise<{ former: string; id: string }> {
    return this.database.acrossOrganizations(async (tx) => {
      const [former] = await tx.query<{ id: string }>(FOUND);
      const [row] = await tx.query<{ id: string }>(RENEWED);
      if (!former || !row) throw new Error('The table of the installation has no row');
      return { former: former.id, id: row.id };
    });
  }

  private demanded(): Promise<Found> {
    const asked = (this.own ??= this.demand());
    asked.catch((error: unknown) => {
      log.debug({ err: error }, 'Whose the database is could not be read; it is asked again');
      if (this.own === asked) this.own = undefined;
    });
    return asked;
  }

  private async demand(): Promise<Found> {
    const found = await this.found();
    const { id, postgres, server } = found;
    if (this.isLocal || server === null) return found;
    if (postgres === null) {
      await this.database.acrossOrganizations((tx) => tx.query(USED_ON, [server]));
      return found;
    }
    if (postgres !== server)
      throw new OtherInstallation(
        `This database of the installation ${id} was used on the PostgreSQL server ${postgres}, and is on ${server} now`,
      );
    return found;
  }

  /** What the database says; also of one that is not where it was. */
  found(): Promise<Found> {
    return this.database.acrossOrganizations(async (tx: WorkerTransaction) => {
      const [row] = await tx.query<Omit<Found, 'server'>>(FOUND);
      if (!row) throw new Error('The table of the installation has no row');
      const [allowed] = await tx.query<{ may: boolean }>(MAY_ASK);
      const [asked] = allowed?.may ? await tx.query<{ server: string }>(SERVER) : [];
      return { ...row, server: asked?.server ?? null };
    });
  }
}

/** Local mode starts for its own machine alone; its servers are thrown away one by one. */
function isLocal(): boolean {
  return readConfig(serviceConfig.pick({ PLATFORM_MODE: true })).PLATFORM_MODE === 'local';
}
