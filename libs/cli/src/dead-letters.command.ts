import type { INestApplication, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { isUuid } from '@customer-platform/database';
import {
  KafkaTransport,
  ParkedEvents,
  Redelivery,
  type ParkedEvent,
  type ParkedFilter,
} from '@customer-platform/event-bus';
import { InvalidArgumentError, Option } from 'commander';
import { CommandRefusal, EXIT, type ExitCode } from './exit-codes.js';
import { organizationOption, type CommandOf, type Given } from './program.js';

/** Which dead letters are meant. */
interface Chosen {
  consumer?: string;
  organization?: string;
  id?: string[];
  all?: boolean;
  unproven?: boolean;
}

const PAGE = 500;
const ENVIRONMENT = {
  DATABASE_URL: 'the database of the module, as its service reaches it',
  KAFKA_BROKERS: 'the brokers',
  '…': 'and what else the service reads when it starts',
};

/** `platform events dead-letters list|redeliver|discard`: `root` is the app's module, whose consumers events are delivered to. */
export const deadLetters =
  (root: () => Promise<Type>): CommandOf =>
  (module) => ({
    name: 'events',
    summary: `the domain events that ${module} consumes`,
    commands: [
      {
        name: 'dead-letters',
        summary: `domain events that a consumer of ${module} could not process, and that wait to be delivered again`,
        commands: [
          {
            name: 'list',
            summary: 'shows them and why each failed, the oldest first',
            options: filters(),
            environment: ENVIRONMENT,
            run: (given: Given<Chosen>) => withApp(root, (app) => list(app, given)),
          },
          {
            name: 'redeliver',
            summary: 'hands each to the consumer it failed in, once the cause is removed',
            details:
              'What succeeds is a dead letter no more; what fails stays, with its new error. It can be run again, and beside\n' +
              'the running service: consumers recognise a repeat. Later events of the same contact have had their effect\n' +
              'meanwhile; consumers keep what is newer.',
            options: [
              new Option('--all', 'all of them, or all that the other options leave').conflicts('id'),
              ...filters(),
              new Option('--id <id>', 'this one; may be repeated').argParser(collectIds),
              new Option(
                '--unproven',
                'also what carries no proof of the module that wrote it: you answer for it; only with --id',
              ).conflicts('all'),
            ],
            environment: ENVIRONMENT,
            found: 'some failed again and are left',
            run: async (given: Given<Chosen>) => {
              const { all = false, id } = given.values;
              if (!all && id === undefined) throw new CommandRefusal('Give --all, or each --id (see --help)');
              return withApp(root, (app) => redeliver(app, given));
            },
          },
          {
            name: 'discard',
            summary: 'gives one up for good: what nobody should hear, or what was made good otherwise',
            options: [
              new Option('--id <id>', 'this one; may be repeated')
                .argParser(collectIds)
                .makeOptionMandatory(),
            ],
            environment: ENVIRONMENT,
            run: (given: Given<Chosen>) => withApp(root, (app) => discard(app, given)),
          },
        ],
      },
    ],
  });

function filters(): Option[] {
  return [
    new Option('--consumer <name>', 'those of this consumer only, as list shows it'),
    organizationOption('those of this organization only'),
  ];
}

function collectIds(text: string, former: string[] = []): string[] {
  if (isUuid(text.toLowerCase())) return [...former, text.toLowerCase()];
  throw new InvalidArgumentError('It takes the id of a dead letter, as list shows it.');
}

/** The app with its handlers and without its life: nothing that an app begins when it is initialized begins here. */
async function withApp<T>(
  root: () => Promise<Type>,
  work: (app: INestApplication) => Promise<T>,
): Promise<T> {
  const app = await NestFactory.create(await root(), { logger: false, abortOnError: false });
  try {
    app.connectMicroservice({ strategy: app.get(KafkaTransport) });
    return await work(app);
  } finally {
    await app.close();
  }
}

const filterOf = ({ consumer, organization, id }: Chosen): ParkedFilter => ({
  consumer,
  organizationId: organization,
  ids: id,
});

async function list(app: INestApplication, { values, print }: Given<Chosen>): Promise<ExitCode> {
  const letters = app.get(ParkedEvents);
  let count = 0;
  for (let page = await letters.page(filterOf(values), PAGE); page.length > 0;) {
    for (const event of page) print(shown(event), textOf(event));
    count += page.length;
    page = await letters.page(filterOf(values), PAGE, page.at(-1));
  }
  print(undefined, `${String(count)} dead letters`);
  return EXIT.done;
}

async function redeliver(app: INestApplication, { values, print }: Given<Chosen>): Promise<ExitCode> {
  const counts = { delivered: 0, left: 0 };
  for await (const { event, error } of app
    .get(Redelivery)
    .run(filterOf(values), { unproven: values.unproven === true })) {
    const { id, event_type: type, consumer } = event;
    if (error === undefined) {
      counts.delivered += 1;
      print({ id, delivered: true }, `delivered  ${id}  ${type}  ${consumer}`);
    } else {
      counts.left += 1;
      const failure = error instanceof Error ? `${error.name}: ${error.message}` : JSON.stringify(error);
      print({ id, delivered: false, error: failure }, `failed     ${id}  ${type}  ${consumer}\n  ${failure}`);
    }
  }
  print(undefined, `${String(counts.delivered)} delivered, ${String(counts.left)} left`);
  return counts.left > 0 ? EXIT.found : EXIT.done;
}

async function discard(app: INestApplication, { values, print }: Given<Chosen>): Promise<ExitCode> {
  const letters = app.get(ParkedEvents);
  let count = 0;
  for (let page = await letters.page(filterOf(values), PAGE); page.length > 0;) {
    for (const event of page) {
      await letters.remove(event);
      count += 1;
      print(
        { ...shown(event), discarded: true },
        `discarded  ${event.id}  ${event.event_type}  ${event.consumer}`,
      );
    }
    page = await letters.page(filterOf(values), PAGE, page.at(-1));
  }
  print(undefined, `${String(count)} discarded`);
  return EXIT.done;
}

/** A parked event without key and payload, which may hold personal data. */
function shown(letter: ParkedEvent): object {
  const { organization_id, id, consumer, topic, event_id, event_type, correlation_id, error } = letter;
  const { attempts, parked_at, payload } = letter;
  const event = { organization_id, id, consumer, topic, event_id, event_type, correlation_id };
  return { ...event, error, attempts, parked_at, subject: subjectOf(payload) };
}

/** What it is about, which is what stayed as it was; null where nothing can be read. */
function subjectOf(payload: string): string | null {
  try {
    const { subject } = JSON.parse(payload) as { subject?: unknown };
    return typeof subject === 'string' ? subject : null;
  } catch {
    return null;
  }
}

function textOf(event: ParkedEvent): string {
  const { id, organization_id: organization, event_type: type, consumer, attempts, error } = event;
  const at = event.parked_at.toISOString();
  return (
    `${id}  ${at}  ${type || 'no domain event'}  ${consumer}  organization ${organization}\n` +
    `  about ${subjectOf(event.payload) ?? 'what cannot be read'}\n  ${String(attempts)} tries: ${error}`
  );
}
