import { inService, type LintCase } from './lint-case.ts';

const TAKEN =
  "SELECT id FROM sends WHERE state = 'held' ORDER BY id LIMIT ${String(10)} FOR UPDATE SKIP LOCKED";
/** What is locked is not looked for again. */
export const lockCases: LintCase[] = [
  inService(
    'house/no-rescanned-lock',
    'limited rows that a subselect of IN locks',
    `export const release = \`UPDATE sends SET state = 'due' WHERE id IN (${TAKEN})\`;\n`,
    `export const release = \`WITH piece AS (${TAKEN}) UPDATE sends SET state = 'due' FROM piece WHERE sends.id = piece.id\`;\n`,
  ),
  inService(
    'house/no-rescanned-lock',
    'limited rows that a subselect of FROM locks',
    `export const release = \`UPDATE sends SET state = 'due' FROM (${TAKEN}) AS piece WHERE sends.id = piece.id\`;\n`,
    `export const held = \`${TAKEN}\`;\n`,
  ),
];

const ASKING = 'export const asked = async (ask: () => Promise<boolean>): Promise<void> => {\n';
const endless = (name: string, illegal: string, legal: string): LintCase =>
  inService('house/no-endless-turns', name, `${ASKING}${illegal}\n};\n`, `${ASKING}${legal}\n};\n`);

/** What begins again has an end. */
export const endCases: LintCase[] = [
  endless(
    'a loop without a bound',
    'for (;;) await ask();',
    'for (let left = 3; left > 0; left -= 1) await ask();',
  ),
  endless(
    'a loop that counts without a bound',
    'for (let wait = 1; ; wait *= 2) if (await ask()) return;',
    'for await (const { isLast } of turns({ most: 3 })) if ((await ask()) || isLast) return;',
  ),
  endless(
    'a loop that only asks whether it is to stop',
    'while (!stopping && (await ask()));',
    'for (let left = 3; left > 0 && !stopping; left -= 1) await ask();',
  ),
  endless(
    'a loop that asks at its end',
    'do await ask(); while (true);',
    'do await ask(); while (count < 3);',
  ),
  inService(
    'house/no-endless-turns',
    'a function that begins again by calling itself',
    'export async function take(id: string): Promise<string> {\n  return (await ask(id)) ?? take(id);\n}\n',
    'export async function walk(id: string): Promise<string> {\n  return walk((await ask(id)).next);\n}\n',
  ),
  inService(
    'house/no-endless-turns',
    'a method that begins again by calling itself',
    'export class Taker {\n  async take(id: string): Promise<void> {\n    if (!(await ask(id))) await this.take(id);\n  }\n}\n',
    'export class Taker {\n  async take(id: string): Promise<void> {\n    if (!(await ask(id))) await take(id);\n  }\n}\n',
  ),
];

const asJob = (name: string, illegal: string, legal: string): LintCase =>
  inService('house/registered-work', name, illegal, legal);
const inTaker = (body: string): string => `export class Taker {\n${body}\n}\n`;
/** What goes on beside requests is known by its name. */
export const workCases: LintCase[] = [
  asJob(
    'an interval',
    'export const begin = (look: () => void): unknown => setInterval(look, 1_000);\n',
    'export const begin = (look: () => void): unknown => setTimeout(look, 1_000);\n',
  ),
  asJob(
    'a timer that sets itself again, by way of another method',
    inTaker(
      '  private look(): void {\n    this.rest();\n  }\n\n  private rest(): void {\n    setTimeout(() => this.look(), 1_000);\n  }',
    ),
    inTaker(
      '  private look(): void {\n    setTimeout(() => this.end(), 1_000);\n  }\n\n  private end(): void {}',
    ),
  ),
  asJob(
    'a function that sets itself again',
    'export function look(): void {\n  setTimeout(look, 1_000);\n}\n',
    'export function look(end: () => void): void {\n  setTimeout(end, 1_000);\n}\n',
  ),
  asJob(
    'a loop that ends with its process',
    inTaker('  async run(): Promise<void> {\n    while (!this.stopping) await take();\n  }'),
    inTaker(
      '  async run(): Promise<void> {\n    for (let left = 3; left > 0 && !this.stopping; left -= 1) await take();\n  }',
    ),
  ),
  asJob(
    'a consumer of Kafka’s own',
    'export const begin = (consumer: Consumer) => consumer.run({ eachMessage: take });\n',
    'export const begin = (consumers: RecordConsumers) => consumers.consume({ eachChunk: take });\n',
  ),
];

const SETTLED = 'apps/loyalty/src/expiry/settled.ts';
const inUnit = (name: string, illegal: string, legal: string): LintCase => ({
  name,
  rule: 'house/time-after-locks',
  illegal: { path: SETTLED, code: illegal },
  legal: { path: SETTLED, code: legal },
});
/** A transaction knows the time once it has its locks. */
export const clockCases: LintCase[] = [
  inUnit(
    'a clock read in a transaction',
    'export const end = (database: Database) => database.inOrganization(own, (tx) => take(tx, clock.now()));\n',
    'export const end = (database: Database) => database.inOrganization(own, (tx) => afterLocks(clock, take(tx)));\n',
  ),
  inUnit(
    'a date made by a function that takes a transaction',
    'export const end = (tx: Transaction) => take(tx, new Date());\n',
    'export const end = (tx: Transaction, at: number) => take(tx, new Date(at));\n',
  ),
  inUnit(
    'the milliseconds of a function within one that takes a transaction',
    'export const end = (rows: Row[], tx: WorkerTransaction) => rows.map((row) => take(tx, row, Date.now()));\n',
    'export const end = (rows: Row[], began: number) => rows.map((row) => take(row, Date.now() - began));\n',
  ),
];

const LISTENING = "{ constructor() { super(); this.on('error', () => this.destroy()); } }";
/** What fails is heard. */
export const streamCases: LintCase[] = [
  inService(
    'house/heard-stream',
    'a class of streams that does not hear itself fail',
    "import { Readable } from 'node:stream';\n\nexport class Body extends Readable {}\n",
    `import { Readable } from 'node:stream';\n\nexport class Body extends Readable ${LISTENING}\n`,
  ),
  inService(
    'house/heard-stream',
    'a stream in a variable that nobody hears fail',
    "import { createGunzip } from 'node:zlib';\n\nexport function open(): void {\n  const gunzip = createGunzip();\n  gunzip.end();\n}\n",
    "import { createGunzip } from 'node:zlib';\n\nexport function open(): void {\n  const gunzip = createGunzip();\n  gunzip.once('error', () => gunzip.destroy()).end();\n}\n",
  ),
];

const WORKER = (body: string): string =>
  `export class Worker {\n  begin(): void {\n    void this.work();\n  }\n\n  private async work(): Promise<void> {\n    ${body}\n  }\n}\n`;
/** What is set aside is heard where it fails. */
export const promiseCases: LintCase[] = [
  inService(
    'house/heard-promise',
    'a promise set aside that nobody hears fail',
    'export function begin(work: () => Promise<void>): void {\n  void work();\n}\n',
    'export function begin(work: () => Promise<void>): void {\n  work().catch((error: unknown) => tell(error));\n}\n\nfunction tell(error: unknown): void {\n  process.stderr.write(String(error));\n}\n',
  ),
  inService(
    'house/heard-promise',
    'a function set aside that waits outside of its own try',
    WORKER('await Promise.resolve();'),
    WORKER(
      'try {\n      await Promise.resolve();\n    } catch (error) {\n      process.stderr.write(String(error));\n    }',
    ),
  ),
];

const SPEC = 'apps/core/src/people/contacts/contacts.spec.ts';
const inSpec = (name: string, illegal: string, legal: string): LintCase => ({
  name,
  rule: 'house/no-asserted-time',
  illegal: { path: SPEC, code: illegal },
  legal: { path: SPEC, code: legal },
});
/** No clock decides a test. */
export const timeCases: LintCase[] = [
  inSpec(
    'a bound of an elapsed time',
    'const began = performance.now();\nexpect(performance.now() - began).toBeLessThan(100);\n',
    'const before = count();\nexpect(count() - before).toBeLessThan(100);\nfunction count(): number {\n  return 1;\n}\n',
  ),
  inSpec(
    'an elapsed time that was kept, in seconds',
    'const began = Date.now();\nconst took = (Date.now() - began) / 1_000;\nexpect(took).not.toBeGreaterThan(2);\n',
    'const began = Date.now();\nexpect(began).toBeGreaterThan(2);\n',
  ),
  inSpec(
    'a moment by which it must be done',
    'const end = Date.now() + 5_000;\nexpect(Date.now()).toBeLessThan(end);\n',
    "const end = Date.parse('2026-01-01');\nexpect(Date.now()).toBeGreaterThan(end);\n",
  ),
  inSpec(
    'a wait that ends sooner than others',
    'const SOON = { within: 1_000 };\nawait eventually(() => true, SOON);\n',
    'await eventually(() => true, { within: 30_000, every: 1 });\n',
  ),
];
