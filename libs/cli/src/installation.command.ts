import { Installation, type MarkedPlace } from '@customer-platform/database';
import { KafkaClient, MarkedKafka } from '@customer-platform/event-bus';
import type { ModuleName } from '@customer-platform/http';
import { EXIT } from './exit-codes.js';
import { withOwnDatabase } from './module-database.js';
import type { CommandOf } from './program.js';

/** What a module marks beside Kafka, and how that is left when the command has ended. */
export interface FurtherPlaces {
  readonly places: readonly MarkedPlace[];
  close(): Promise<void>;
}

type PlacesOf = (installation: Installation) => Promise<FurtherPlaces>;

const NONE: PlacesOf = () => Promise.resolve({ places: [], close: () => Promise.resolve() });

/** `platform installation show|adopt|renew`. */
export const installation =
  (furtherOf: PlacesOf = NONE, furtherEnvironment: Readonly<Record<string, string>> = {}): CommandOf =>
  (module) => {
    const database = { DATABASE_URL: `the database of ${module}, as ${module}_app` };
    const environment = {
      ...database,
      KAFKA_BROKERS: 'and the other variables of Kafka, as the module has them',
      ...furtherEnvironment,
    };
    return {
      name: 'installation',
      summary: `whose the database of ${module} is, and what else it uses`,
      commands: [
        {
          name: 'show',
          summary: 'shows the id of the installation, and whose marks are where it would be used',
          environment,
          found: 'something is used by another installation',
          run: async ({ print }) => {
            const { id, used, marks } = await withInstallation(module, furtherOf, look);
            const foreign = used.postgres !== null && used.server !== null && used.postgres !== used.server;
            const lines = [
              `${module}: installation ${id}`,
              `PostgreSQL  used on ${used.postgres ?? 'none yet'}, now on ${used.server ?? 'one that does not say'}`,
              ...marks.map(({ place, ids }) => `${place}  ${ids.length > 0 ? ids.join(', ') : 'no mark'}`),
            ];
            print({ module, id, postgres: used.postgres, server: used.server, marks }, lines.join('\n'));
            return foreign || marks.some(({ ids }) => ids.some((other) => other !== id))
              ? EXIT.found
              : EXIT.done;
          },
        },
        {
          name: 'adopt',
          summary: 'takes what the variables lead to, and the PostgreSQL server, from whoever had them',
          details:
            'For a database that has taken the place of another, by a restore or a move: the other must not run any more.\n' +
            'Whoever is there then is refused its next start.',
          environment,
          found: 'something lets no mark be made, and is used without one',
          run: async ({ print }) => {
            const { id, unmarked } = await withInstallation(module, furtherOf, (own, places) =>
              own.adopt(places),
            );
            const lines = [
              `${module}: all is used by the installation ${id}`,
              ...unmarked.map((place) => `${place} lets no mark be made: it is used without one`),
            ];
            print({ module, id, unmarked }, lines.join('\n'));
            return unmarked.length > 0 ? EXIT.found : EXIT.done;
          },
        },
        {
          name: 'renew',
          summary: 'makes the database that of a new installation',
          details:
            'For a copy. Afterwards it starts only where nothing leads to what the original uses. What waits to be sent in it is\n' +
            'sent as soon as its worker starts.',
          environment: database,
          run: async ({ print }) => {
            const { former, id } = await withOwnDatabase(module, (held) => new Installation(held).renew());
            print({ module, former, id }, `${module}: installation ${id}, a copy of ${former}`);
            return EXIT.done;
          },
        },
      ],
    };
  };

async function look(own: Installation, places: readonly MarkedPlace[]) {
  const used = await own.found();
  const marks: { place: string; ids: readonly string[] }[] = [];
  for (const place of places) marks.push({ place: place.name, ids: await place.marks() });
  return { id: used.id, used, marks };
}

function withInstallation<T>(
  module: ModuleName,
  furtherOf: PlacesOf,
  work: (own: Installation, places: readonly MarkedPlace[]) => Promise<T>,
): Promise<T> {
  return withOwnDatabase(module, async (database) => {
    const own = new Installation(database);
    const further = await furtherOf(own);
    const client = new KafkaClient({ module });
    const admin = client.admin();
    try {
      await admin.connect();
      return await work(own, [new MarkedKafka(client, admin, module), ...further.places]);
    } finally {
      await Promise.all([admin.disconnect(), further.close()]);
    }
  });
}
