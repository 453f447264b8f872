/**
 * `npm run fuzz -- [--data DIR] [--examples N] [--phases examples,coverage,fuzzing,stateful] [--seed N]
 *   [--only REGEX]`
 *
 * Schemathesis reads the description of the whole from the running platform and tries every route with what is right
 * and with what is wrong by it: no answer may be a 5xx, undocumented, of another shape or media type than described,
 * or ignore authorization; what the schema refuses is refused, what it takes is taken (schemathesis.toml).
 *
 * It starts a platform of its own, or uses the one whose data are in DIR, there in an organization of its own. With
 * `--only` routes whose `METHOD /path` matches.
 */
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { startOwnPlatform } from '@customer-platform/kit/own-platform.ts';
import { runningPlatform } from '@customer-platform/kit/platform.ts';
import { equipOrganization } from '../local/platform/operator.ts';
import { ensureSchemathesis, runSchemathesis } from './schemathesis.ts';
import { seedOf, summarize, type Report } from './summary.ts';

const root = resolve(import.meta.dirname, '../..');
const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    examples: { type: 'string', default: '20' },
    phases: { type: 'string', default: 'examples,coverage,fuzzing,stateful' },
    seed: { type: 'string' },
    only: { type: 'string' },
  },
});
const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** The key of an organization that the run may change and delete things in, and what must outlive it. */
async function ownOrganization(data: string): Promise<{ key: string; spared: string[] }> {
  const { base_url: baseUrl, database_urls: urls } = await runningPlatform(data);
  if (urls?.['identity'] === undefined)
    throw new Error('demo.json names no database of identity; start the platform anew.');
  const fuzzed = await equipOrganization(urls['identity'], { name: 'Fuzz', slug: 'fuzz' }, ['administrator']);
  const { id, key } = fuzzed.keys.administrator;
  const answer = await asked(baseUrl, '/v1/identity/api-keys?limit=200', key);
  const { data: keys } = (await answer.json()) as { data: { role_id: string }[] };
  return { key, spared: [fuzzed.organization_id, id, ...keys.map(({ role_id: role }) => role)] };
}

async function fuzz(data: string): Promise<number> {
  const { base_url: baseUrl } = await runningPlatform(data);
  const program = await ensureSchemathesis(say);
  const { key, spared } = await ownOrganization(data);
  await defineObject(baseUrl, key);
  const reportFolder = mkdtempSync(join(tmpdir(), 'fuzz-report-'));
  const { phases, examples, seed, only } = values;
  const description = `${baseUrl}/v1/openapi.json`;
  const target = { description, key, spared, phases, examples, seed, only, reportFolder };
  const code = await runSchemathesis(program, target);
  const [file] = readdirSync(reportFolder).filter((name) => name.endsWith('.json'));
  if (file === undefined) throw new Error(`Schemathesis ended with ${code} and left no report.`);
  const text = readFileSync(join(reportFolder, file), 'utf8');
  for (const line of summarize(JSON.parse(text) as Report, seedOf(text))) say(line);
  say(`Report: ${join(reportFolder, file)}`);
  // A key that ended during the run would have had the rest of it answered 401: that proves nothing.
  const { status } = await asked(baseUrl, '/v1/core/events?limit=1', key);
  if (status !== 200) throw new Error(`The key of the run is answered ${status} at its end: run it again.`);
  return code;
}

/** An object with a field of every type, under the slug that the description shows: values meet each of them. */
async function defineObject(baseUrl: string, key: string): Promise<void> {
  const types = ['string', 'integer', 'number', 'boolean', 'date', 'datetime', 'enum', 'reference'];
  const more: Record<string, object> = {
    enum: { options: [{ value: 'a' }, { value: 'b' }] },
    reference: { target: 'contact' },
  };
  const fields = [
    { key: 'plate', type: 'string', unique: true },
    { key: 'year', type: 'integer', indexed: true },
    ...types.map((type) => ({ key: `a_${type}`, type, indexed: true, ...more[type] })),
  ];
  const answer = await fetch(`${baseUrl}/v1/crm/object-definitions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ slug: 'vehicle', name: 'Vehicle', fields }),
  });
  if (answer.status !== 201)
    throw new Error(`The object is answered ${answer.status}: ${await answer.text()}`);
}

function asked(baseUrl: string, path: string, key: string): Promise<Response> {
  return fetch(baseUrl + path, { headers: { authorization: `Bearer ${key}` } });
}

async function main(): Promise<void> {
  if (values.data !== undefined) {
    process.exitCode = await fuzz(resolve(values.data));
    return;
  }
  const platform = await startOwnPlatform(root, 'fuzz', say);
  try {
    process.exitCode = await fuzz(platform.data);
  } finally {
    await platform.stop();
  }
}

await main().catch((error: Error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
