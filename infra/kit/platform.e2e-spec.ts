import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { freePort } from './ports.ts';

const ROOT = resolve(import.meta.dirname, '../..');

let data: string;

beforeAll(async () => {
  data = mkdtempSync(join(tmpdir(), 'ended-'));
  const base = `http://127.0.0.1:${String(await freePort())}`;
  const demo = { base_url: base, core_url: base, mail_url: base, organization_id: '', admin_key: 'x' };
  writeFileSync(join(data, 'demo.json'), JSON.stringify({ ...demo, ingestion_key: 'x', kafka_brokers: '' }));
});
afterAll(() => rmSync(data, { recursive: true, force: true }));

/** Runs a command to its end. @returns its exit code and what it wrote as errors */
function run(script: string, ...args: string[]): Promise<{ code: unknown; said: string }> {
  return new Promise((settle) => {
    const options = { cwd: ROOT, env: { ...process.env, NODE_OPTIONS: '', BASE_URL: undefined } };
    execFile(process.execPath, [join('infra', script), ...args], options, (error, _out, said) =>
      settle({ code: error?.code ?? 0, said }),
    );
  });
}

describe('a command that needs a running platform', () => {
  it.each([
    ['race/run.ts'],
    ['revocation/run.ts'],
    ['fuzz/run.ts'],
    ['demo/run.ts'],
    ['replay/run.ts', 'package.json'],
    ['load/run.ts', 'track'],
    ['load/run.ts', 'seed'],
    ['load/run.ts', 'passwords'],
    ['load/run.ts', 'tenants'],
    ['load/run.ts', 'outbound-webhooks'],
    ['load/run.ts', 'sends'],
  ])('%s %s says that none runs and ends with 1', async (script, ...words) => {
    const { code, said } = await run(script, ...words.filter(Boolean), '--data', data);
    expect(said).toMatch(
      /^Nobody answers at http:\/\/127\.0\.0\.1:\d+, where the platform ran\. .*"npm start"\.\n$/,
    );
    expect(code).toBe(1);
  });
});
