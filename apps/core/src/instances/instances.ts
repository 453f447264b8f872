import type { Database } from '@customer-platform/database';

/** What instances of core do together: each kind knows its own. */
export type InstancePurpose = 'segments' | 'rate_limits';

/** Another instance, as it last told of itself. */
interface OtherInstance {
  readonly id: string;
  /** Organizations that it cannot do its work for. */
  readonly setAside: readonly string[];
}

/**
 * By the clock of the database alone: those of instances differ. What was told at a time to come is of before a failover
 * to a server whose clock is behind; who lives tells again.
 */
const TELL = `
  WITH told AS (
    INSERT INTO instances (purpose, id, seen_at, set_aside) VALUES ($1, $2, clock_timestamp(), $3::uuid[])
    ON CONFLICT (purpose, id) DO UPDATE SET seen_at = excluded.seen_at, set_aside = excluded.set_aside
  ), forgotten AS (
    DELETE FROM instances WHERE (purpose, id) IN (
      SELECT purpose, id FROM instances
       WHERE purpose = $1 AND seen_at < now() - interval '1 minute' AND id <> $2 FOR UPDATE SKIP LOCKED))
  SELECT id, set_aside AS "setAside" FROM instances
   WHERE purpose = $1 AND id <> $2 AND seen_at > clock_timestamp() - $4 * interval '1 millisecond'
     AND seen_at < clock_timestamp() + interval '1 second'`;

const LEAVE = 'DELETE FROM instances WHERE purpose = $1 AND id = $2';

/** How instances of core know of each other: by what each tells of itself, as often as it comes on with its work. */
export class Instances {
  /** @param countedForMs how long an instance counts that tells nothing more */
  constructor(
    private readonly database: Database,
    private readonly purpose: InstancePurpose,
    private readonly countedForMs: number,
  ) {}

  /** Tells that this one comes on. @returns the others that do */
  tell(id: string, setAside: readonly string[] = []): Promise<OtherInstance[]> {
    return this.database.acrossOrganizations((tx) =>
      tx.prepared<OtherInstance>(TELL, [this.purpose, id, setAside, this.countedForMs]),
    );
  }

  /** This one ends: the others need not wait until they miss it. */
  async leave(id: string): Promise<void> {
    await this.database.acrossOrganizations((tx) => tx.query(LEAVE, [this.purpose, id]));
  }
}
