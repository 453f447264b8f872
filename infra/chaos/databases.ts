import { adminUrl, connected } from '@customer-platform/kit/databases.ts';
import type { Platform } from '@customer-platform/kit/platform.ts';
import type pg from 'pg';

/** The modules that hold something of persons. */
const MODULES = ['core', 'crm', 'loyalty', 'messaging'] as const;
type Module = (typeof MODULES)[number];

const OWN_TABLES = `
  SELECT format('%I', t.relname) AS name
    FROM pg_class t JOIN pg_namespace n ON n.oid = t.relnamespace
   WHERE n.nspname = 'public' AND t.relkind IN ('r', 'p') AND NOT t.relispartition ORDER BY 1`;

/** The databases of a platform, asked as their server's administrator, whom no policy of rows keeps out. */
export class Databases {
  private readonly clients: ReadonlyMap<Module, pg.Client>;

  private constructor(clients: ReadonlyMap<Module, pg.Client>) {
    this.clients = clients;
  }

  /** @throws Error with the remedy where the platform was started by an older checkout */
  static async open(platform: Platform): Promise<Databases> {
    const clients = new Map<Module, pg.Client>();
    for (const module of MODULES) clients.set(module, await connected(adminUrl(platform, module)));
    return new Databases(clients);
  }

  async core<Row extends pg.QueryResultRow>(sql: string, values: unknown[]): Promise<Row[]> {
    return (await (this.clients.get('core') as pg.Client).query<Row>(sql, values)).rows;
  }

  /** The tables in which a text stands, plainly or as bytes. It must have letters, digits and hyphens alone. */
  async placesOf(text: string): Promise<string[]> {
    const places: string[] = [];
    const written = [text, Buffer.from(text).toString('hex')];
    for (const [module, client] of this.clients) {
      const { rows: tables } = await client.query<{ name: string }>(OWN_TABLES);
      for (const { name } of tables) {
        const { rows } = await client.query(
          `SELECT FROM ${name} AS t WHERE t::text ILIKE ANY ($1::text[]) LIMIT 1`,
          [written.map((each) => `%${each}%`)],
        );
        if (rows.length > 0) places.push(`${module}.${name}`);
      }
    }
    return places;
  }

  async close(): Promise<void> {
    await Promise.all([...this.clients.values()].map((client) => client.end()));
  }
}
