import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Everything that a start and `npm run demo` leave in their folder; `--reset` removes these names and nothing else. */
const CONTENTS = [
  'postgres',
  'kafka',
  'mail',
  'logs',
  'demo',
  'demo.json',
  'migrated.json',
  'ports.json',
  'processes.json',
  'secrets.json',
];

/** The folder in which one platform keeps its data, secrets and logs. */
export class DataFolder {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
    // Others may pass (Postgres runs as another user than root) and cannot look around; each secret file is closed.
    mkdirSync(path, { recursive: true, mode: 0o711 });
  }

  file(...names: string[]): string {
    return join(this.path, ...names);
  }

  log(process: string): string {
    return this.file('logs', `${process}.log`);
  }

  readJson<T>(name: string): T | undefined {
    const file = this.file(name);
    if (!existsSync(file)) return undefined;
    try {
      return JSON.parse(readFileSync(file, 'utf8')) as T;
    } catch (cause) {
      throw new Error(`${file} is no JSON: put it right, or start anew with --reset.`, { cause });
    }
  }

  /** Readable by its owner only; the former file stands until the new one is whole. */
  writeJson(name: string, value: unknown): void {
    const file = this.file(name);
    writeFileSync(`${file}.new`, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
    renameSync(`${file}.new`, file);
  }

  /** Removes all data. */
  reset(): void {
    for (const name of CONTENTS) rmSync(this.file(name), { recursive: true, force: true });
  }
}
