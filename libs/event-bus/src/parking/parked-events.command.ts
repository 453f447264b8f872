import { parseArgs } from 'node:util';
import type { INestApplication, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { Publisher } from '@customer-platform/events';
import { log } from '@customer-platform/http';
import { KafkaTransport } from '../transport/kafka.transport.js';
import { ParkedEvents, type ParkedEvent, type ParkedFilter } from './parked-events.js';
import { Redelivery } from './redelivery.js';

/** What the command is run with. */
export interface ParkedEventsOptions {
  readonly module: Publisher;
  /** The app's root module: its consumers are what the events are delivered to. */
  readonly root: Type;
  /** Default: what follows the script's name on the command line. */
  readonly args?: readonly string[];
  /** Default: standard output. */
  readonly write?: (text: string) => void;
}

const PAGE = 500;

const helpOf = (module: string): string => `
Events that a consumer of ${module} could not process, and that wait to be delivered again once its cause is removed.

  node apps/${module}/dist/parked-events.js list [--consumer NAME] [--organization ID] [--json]
  node apps/${module}/dist/parked-events.js redeliver (--all | --id ID …) [--consumer NAME] [--organization ID] [--json]

redeliver hands each to the consumer it failed in, the longest parked first. What succeeds is parked no more; what fails
stays, with its new error. It can be run again, and beside the running service: consumers recognise a repeat. Later
events of the same contact have had their effect meanwhile; consumers keep what is newer.

Ends with 0 when nothing that was meant is parked any more (list: always), with 1 when something still is, with 2 when
it could not be done. The environment is that of the service.
`;

class UsageError extends Error {}

/**
 * The operator's command over a module's parked events; the whole of an app's `parked-events.ts`.
 * @returns the exit code
 */
export async function runParkedEvents(options: ParkedEventsOptions): Promise<number> {
  const { module, args = process.argv.slice(2), write = (text) => process.stdout.write(text) } = options;
  try {
    const request = read(args);
    if (request.verb === 'help') write(`${helpOf(module).trim()}\n`);
    if (request.verb === 'help') return 0;
    return await withApp(options.root, (app) =>
      request.verb === 'list' ? list(app, request, write) : redeliver(app, request, write),
    );
  } catch (error) {
    const usage = error instanceof UsageError ? '\n--help tells how it is used.' : '';
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}${usage}\n`);
    return 2;
  }
}

interface Request {
  readonly verb: 'help' | 'list' | 'redeliver';
  readonly filter: ParkedFilter;
  readonly json: boolean;
}

function read(args: readonly string[]): Request {
  const { values, positionals } = parse(args);
  const { consumer, organization, id: ids, all = false, json = false } = values;
  const filter = { consumer, organizationId: organization?.toLowerCase(), ids };
  if (values.help) return { verb: 'help', filter, json };
  const [verb = 'list', ...more] = positionals;
  if ((verb !== 'list' && verb !== 'redeliver') || more.length > 0)
    throw new UsageError(`${positionals.join(' ')} is neither list nor redeliver.`);
  if (verb === 'redeliver' && all === (ids !== undefined))
    throw new UsageError('redeliver needs --all, or each --id.');
  return { verb, filter, json };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        consumer: { type: 'string' },
        organization: { type: 'string' },
        id: { type: 'string', multiple: true },
        all: { type: 'boolean' },
        json: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    });
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error });
  }
}

/** The app with its handlers and without its life: nothing that an app begins when it is initialized begins here. */
async function withApp<T>(root: Type, work: (app: INestApplication) => Promise<T>): Promise<T> {
  log.level = 'silent'; // standard output is the command's answer
  const app = await NestFactory.create(root, { logger: false, abortOnError: false });
  try {
    app.connectMicroservice({ strategy: app.get(KafkaTransport) });
    return await work(app);
  } finally {
    await app.close();
  }
}

async function list(
  app: INestApplication,
  { filter, json }: Request,
  write: (text: string) => void,
): Promise<number> {
  const parked = app.get(ParkedEvents);
  let count = 0;
  for (let page = await parked.page(filter, PAGE); page.length > 0;) {
    for (const event of page) write(`${json ? JSON.stringify(shown(event)) : lineOf(event)}\n`);
    count += page.length;
    page = await parked.page(filter, PAGE, page.at(-1));
  }
  if (!json) write(`${String(count)} parked\n`);
  return 0;
}

async function redeliver(
  app: INestApplication,
  { filter, json }: Request,
  write: (text: string) => void,
): Promise<number> {
  const counts = { delivered: 0, parked: 0 };
  for await (const { event, error } of app.get(Redelivery).run(filter)) {
    counts[error === undefined ? 'delivered' : 'parked'] += 1;
    const outcome = error === undefined ? 'delivered' : 'failed   ';
    const failure = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    const { id, event_type: type, consumer } = event;
    if (json)
      write(
        `${JSON.stringify({ id, delivered: error === undefined, ...(error === undefined ? {} : { error: failure }) })}\n`,
      );
    else write(`${outcome}  ${id}  ${type}  ${consumer}${error === undefined ? '' : `\n  ${failure}`}\n`);
  }
  if (!json) write(`${String(counts.delivered)} delivered, ${String(counts.parked)} still parked\n`);
  return counts.parked > 0 ? 1 : 0;
}

/** Without the payload, which may hold personal data. */
function shown({ payload: _payload, ...event }: ParkedEvent): object {
  return event;
}

function lineOf(event: ParkedEvent): string {
  const { id, organization_id: organization, event_type: type, consumer, attempts, error } = event;
  const at = event.parked_at.toISOString();
  return (
    `${id}  ${at}  ${type || 'no domain event'}  ${consumer}  organization ${organization}\n` +
    `  ${String(attempts)} tries: ${error}`
  );
}
