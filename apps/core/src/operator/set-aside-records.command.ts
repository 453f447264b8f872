import {
  CommandRefusal,
  EXIT,
  InvalidArgumentError,
  Option,
  withContext,
  type CommandGroup,
  type ExitCode,
  type Given,
} from '@customer-platform/cli';
import { contentOf, SET_ASIDE_OF, SetAsideRecords, type SetAsideRecord } from './set-aside-records.js';
import { SetAsideRecordsModule } from './set-aside-records.module.js';

/** Which records are meant. */
interface Chosen {
  topic?: (typeof SET_ASIDE_OF)[number];
  id?: string[];
  all?: boolean;
  unproven?: boolean;
}

const ENVIRONMENT = {
  DATABASE_URL: 'the database of core, as core_app',
  KAFKA_BROKERS: 'and the other variables of Kafka, as core has them',
  SERVICE_PRIVATE_KEY: 'of core',
  SERVICE_PUBLIC_KEYS: 'of all modules: the keys that a proof is held against',
};

/** `platform unreadable-records list|redeliver|discard`. */
export const unreadableRecords = (): CommandGroup => ({
  name: 'unreadable-records',
  summary: 'records of core.ingestion and audit.entries that were set aside: unreadable, or not proven',
  commands: [
    {
      name: 'list',
      summary: 'shows them and why each was set aside, in the order of their topics',
      options: [ofTopic()],
      environment: ENVIRONMENT,
      run: (given: Given<Chosen>) => withRecords((records) => list(records, given)),
    },
    {
      name: 'redeliver',
      summary: 'gives each its effect, once the cause is removed',
      details:
        'Events are written to core.ingestion again, signed by core, and processed as any others: a worker must run.\n' +
        'Audit rows are appended to their log. What is still not proven, or cannot be read, stays and is told. It can be\n' +
        'run again, and beside the running service; events that were there already are duplicates.',
      options: [
        new Option('--all', 'all of them, or all of the topic').conflicts('id'),
        ofTopic(),
        new Option('--id <id>', 'this one; may be repeated').argParser(collectIds),
        new Option(
          '--unproven',
          'also what carries no proof of the module that wrote it: you answer for it; only with --id',
        ).conflicts('all'),
      ],
      environment: ENVIRONMENT,
      found: 'some are left',
      run: async (given: Given<Chosen>) => {
        const { all = false, id } = given.values;
        if (!all && id === undefined) throw new CommandRefusal('Give --all, or each --id (see --help)');
        return withRecords((records) => redeliver(records, given));
      },
    },
    {
      name: 'discard',
      summary: 'gives one up for good: what somebody else wrote, or what was made good otherwise',
      options: [
        new Option('--id <id>', 'this one; may be repeated').argParser(collectIds).makeOptionMandatory(),
      ],
      environment: ENVIRONMENT,
      run: (given: Given<Chosen>) => withRecords((records) => discard(records, given)),
    },
  ],
});

function ofTopic(): Option {
  return new Option('--topic <topic>', 'those of this topic only').choices(SET_ASIDE_OF);
}

function collectIds(text: string, former: string[] = []): string[] {
  if (SET_ASIDE_OF.some((topic) => text.startsWith(`${topic}/`)) && /\/\d{1,10}@\d{1,19}$/.test(text))
    return [...former, text];
  throw new InvalidArgumentError('It takes the id of a record, as list shows it: core.ingestion/3@1042.');
}

function withRecords(work: (records: SetAsideRecords) => Promise<ExitCode>): Promise<ExitCode> {
  return withContext(SetAsideRecordsModule, (context) => work(context.get(SetAsideRecords)));
}

async function list(records: SetAsideRecords, { values, print }: Given<Chosen>): Promise<ExitCode> {
  let count = 0;
  for await (const record of records.all(values)) {
    print(shown(record), textOf(record));
    count += 1;
  }
  print(undefined, `${String(count)} records`);
  return EXIT.done;
}

async function redeliver(records: SetAsideRecords, { values, print }: Given<Chosen>): Promise<ExitCode> {
  const { topic, id: ids, unproven = false } = values;
  const counts = { delivered: 0, left: 0 };
  for await (const { record, error } of records.redeliver({ topic, ids }, { unproven })) {
    const { id } = record;
    if (error === undefined) {
      counts.delivered += 1;
      print({ id, delivered: true }, `delivered  ${id}`);
    } else {
      counts.left += 1;
      const failure = error instanceof Error ? `${error.name}: ${error.message}` : JSON.stringify(error);
      print({ id, delivered: false, error: failure }, `left       ${id}\n  ${failure}`);
    }
  }
  print(undefined, `${String(counts.delivered)} delivered, ${String(counts.left)} left`);
  return counts.left > 0 ? EXIT.found : EXIT.done;
}

async function discard(records: SetAsideRecords, { values, print }: Given<Chosen>): Promise<ExitCode> {
  let count = 0;
  for await (const record of records.all({ ids: values.id })) {
    if (!(await records.discard(record))) continue;
    count += 1;
    print({ ...shown(record), discarded: true }, `discarded  ${record.id}`);
  }
  print(undefined, `${String(count)} discarded`);
  return EXIT.done;
}

/** A record without key and value, which may hold personal data. */
function shown(record: SetAsideRecord): object {
  const { id, topic, partition, offset, writtenAt, value, error, proof } = record;
  const place = { id, topic, partition, offset, written_at: writtenAt, bytes: value.length };
  return { ...place, error, has_proof: proof !== undefined, ...readable(record) };
}

function readable(record: SetAsideRecord): { organizations: string[]; holds: string | null } {
  try {
    return contentOf(record);
  } catch {
    return { organizations: [], holds: null };
  }
}

function textOf(record: SetAsideRecord): string {
  const { id, writtenAt, value, error, proof } = record;
  const { organizations, holds } = readable(record);
  const whose = organizations.length > 0 ? ` of organization ${organizations.join(', ')}` : '';
  return (
    `${id}  ${writtenAt.toISOString()}  ${String(value.length)} bytes, ${proof ? 'with' : 'without'} a proof\n` +
    `  ${holds ?? 'what cannot be read'}${whose}\n  ${error}`
  );
}
