import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PortChoice } from './ports.ts';

const PORTS = 800;
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'ports-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('gives no port twice, whichever process asks', async () => {
  // Four of two hundred ports each would meet about fourteen times if they did not know of each other.
  const choices = Array.from({ length: 4 }, () => new PortChoice(folder));
  const ports = await Promise.all(
    choices.flatMap((choice) => Array.from({ length: PORTS / choices.length }, () => choice.free())),
  );
  expect(new Set(ports).size).toBe(PORTS);
});

it('forgets what was given long ago', async () => {
  writeFileSync(join(folder, '1-15000'), '');
  await new PortChoice(folder).free();
  expect(readdirSync(folder)).not.toContain('1-15000');
});

it('gives ports where nothing can be written down', async () => {
  const file = join(folder, 'no-folder');
  writeFileSync(file, '');
  expect(await new PortChoice(file).free()).toBeGreaterThan(0);
});
