/** A piece of source that a lint rule must refuse, beside a twin that it must let pass. */
export interface LintCase {
  /** The rule and, where it has several parts, the part. */
  name: string;
  rule: string;
  illegal: { path: string; code: string };
  legal: { path: string; code: string };
  /** Needs types: both paths are then files that exist, linted with this text in their place. */
  typed?: true;
}

const lines = (count: number): string =>
  'export const one = 1;\n'.repeat(count).replaceAll(/one/g, () => `n${next()}`);
let counter = 0;
const next = (): number => ++counter;
const functionOf = (count: number): string =>
  `export function long(): void {\n${'  work();\n'.repeat(count - 2)}}\nexport function work(): void {\n  long();\n}\n`;

const SERVICE = 'apps/core/src/contacts/contacts.service.ts';
const inService = (rule: string, name: string, illegal: string, legal: string): LintCase => ({
  name,
  rule,
  illegal: { path: SERVICE, code: illegal },
  legal: { path: SERVICE, code: legal },
});
const named = (rule: string, name: string, illegal: string, legal: string): LintCase => ({
  name,
  rule,
  illegal: { path: illegal, code: 'export const contact = 1;\n' },
  legal: { path: legal, code: 'export const contact = 1;\n' },
});

const CONTROLLER =
  "import { Controller } from '@nestjs/common';\n\n@Controller()\nexport class Contacts {}\n";

const NX = '@nx/enforce-module-boundaries';

const packageCases: LintCase[] = [
  {
    name: 'an app imports an app',
    rule: NX,
    illegal: {
      path: 'apps/crm/src/timeline/timeline.service.ts',
      code: "import '@customer-platform/core';\n",
    },
    legal: {
      path: 'apps/crm/src/timeline/timeline.service.ts',
      code: "import '@customer-platform/events';\n",
    },
  },
  {
    name: 'an app imports an app by path',
    rule: NX,
    illegal: {
      path: 'apps/crm/src/timeline/timeline.service.ts',
      code: "import '../../../core/package.json';\n",
    },
    legal: { path: 'apps/crm/src/timeline/timeline.service.ts', code: "import '../../package.json';\n" },
  },
  {
    name: 'a contract library imports a platform library',
    rule: NX,
    illegal: { path: 'libs/events/src/core.events.ts', code: "import '@customer-platform/http';\n" },
    legal: { path: 'libs/events/src/core.events.ts', code: "import '@customer-platform/permissions';\n" },
  },
  ...['@nestjs/common', 'typeorm', 'kafkajs'].map((banned) => ({
    name: `a contract library imports ${banned}`,
    rule: NX,
    illegal: { path: 'libs/events/src/core.events.ts', code: `import '${banned}';\n` },
    legal: { path: 'libs/events/src/core.events.ts', code: "import 'zod';\n" },
  })),
  {
    name: 'a published library imports one of ours',
    rule: NX,
    illegal: {
      path: 'libs/client/src/problem-error.ts',
      code: "import '@customer-platform/problem-json';\n",
    },
    legal: { path: 'libs/client/src/problem-error.ts', code: "import 'openapi-fetch';\n" },
  },
  {
    name: 'a platform library imports an app',
    rule: NX,
    illegal: { path: 'libs/database/src/database.ts', code: "import '@customer-platform/core';\n" },
    legal: { path: 'libs/database/src/database.ts', code: "import '@customer-platform/config';\n" },
  },
  {
    name: 'an app imports a package it does not declare',
    rule: NX,
    illegal: { path: 'apps/loyalty/src/ledger/ledger.service.ts', code: "import 'nodemailer';\n" },
    legal: { path: 'apps/messaging/src/sends/sends.service.ts', code: "import 'nodemailer';\n" },
  },
  ...['apps/core/src/ingestion/queue.service.ts', 'libs/testing/src/probe.ts', 'infra/local/kafka.ts'].map(
    (path) => ({
      name: `kafkajs in ${path}`,
      rule: 'no-restricted-imports',
      illegal: { path, code: "import 'kafkajs';\n" },
      legal: { path: 'libs/event-bus/src/client.ts', code: "import 'kafkajs';\n" },
    }),
  ),
];

const syntaxCases: LintCase[] = [
  inService(
    '@typescript-eslint/no-explicit-any',
    'any',
    'export const row = (value: any): void => void value;\n',
    'export const row = (value: unknown): void => void value;\n',
  ),
  inService(
    '@typescript-eslint/no-non-null-assertion',
    'non-null assertion',
    'export const first = (rows: string[]): string => rows[0]!;\n',
    "export const first = (rows: string[]): string => rows[0] ?? '';\n",
  ),
  inService('no-restricted-syntax', 'default export', 'export default 1;\n', 'export const one = 1;\n'),
  inService(
    'no-restricted-syntax',
    'enum',
    "export enum State {\n  Active = 'active',\n}\n",
    "export const STATES = ['active'] as const;\n",
  ),
  {
    name: 'environment outside libs/config',
    rule: 'no-restricted-syntax',
    illegal: { path: SERVICE, code: 'export const port = process.env.PORT;\n' },
    legal: { path: 'libs/config/src/environment.ts', code: 'export const port = process.env.PORT;\n' },
  },
  {
    name: 'syntax that Node cannot erase, in infra',
    rule: 'no-restricted-syntax',
    illegal: {
      path: 'infra/local/ports.ts',
      code: 'export class Port {\n  constructor(readonly port: number) {}\n}\n',
    },
    legal: {
      path: 'libs/http/src/port.ts',
      code: 'export class Port {\n  constructor(readonly port: number) {}\n}\n',
    },
  },
  inService(
    'regexp/no-super-linear-backtracking',
    'a pattern that tries a text in many ways',
    'export const wrapped = /^\\s*a?\\s*$/;\n',
    'export const wrapped = /^\\s*a\\s*$/;\n',
  ),
  inService(
    'regexp/no-super-linear-move',
    'a pattern that looks for the end anew from each character',
    'export const trailing = /=+$/;\n',
    'export const leading = /^=+/;\n',
  ),
  inService('no-console', 'console', "console.log('hello');\n", "process.stdout.write('hello');\n"),
  inService(
    'house/explained-disable',
    'a rule switched off without a reason',
    '// eslint-disable-next-line no-console\nconsole.log(1);\n',
    '// eslint-disable-next-line no-console -- printed by the command a person calls\nconsole.log(1);\n',
  ),
  inService(
    'house/banned-name',
    'a name that fits anything',
    'export class ContactManager {}\n',
    'export class ContactMerge {}\n',
  ),
  inService(
    'house/no-barrel',
    're-export in an app',
    "export * from './contact.dto.js';\n",
    "import './contact.dto.js';\n",
  ),
  {
    name: 're-export in a library, but for its index',
    rule: 'house/no-barrel',
    illegal: { path: 'libs/http/src/lists/lists.ts', code: "export { page } from './page.js';\n" },
    legal: { path: 'libs/http/src/index.ts', code: "export { page } from './lists/page.js';\n" },
  },
  named('house/no-barrel', 'index in an app', 'apps/core/src/contacts/index.ts', 'libs/http/src/index.ts'),
];

const errorCases: LintCase[] = [
  ['an empty catch', '} catch {}', '} catch (error) {\n  report(error);\n}'],
  ['a catch with a comment only', '} catch {\n  // never mind\n}', "} catch {\n  throw new Error('no');\n}"],
  ['a catch that only returns', '} catch {\n  return;\n}', '} catch {\n  return undefined;\n}'],
].map(([name = '', illegal = '', legal = '']) =>
  inService(
    'house/no-swallowed-error',
    name,
    `export function run(report: (e: unknown) => void): unknown {\n  try {\n    report(1);\n  ${illegal}\n}\n`,
    `export function run(report: (e: unknown) => void): unknown {\n  try {\n    report(1);\n  ${legal}\n}\n`,
  ),
);

const promiseCase = inService(
  'house/no-swallowed-error',
  'a promise whose error disappears',
  'export const close = (run: () => Promise<void>): Promise<void> => run().catch(() => undefined);\n',
  'export const close = (run: () => Promise<void>, on: () => void): Promise<void> => run().catch(on);\n',
);

const permissionCases: LintCase[] = [
  inService(
    'house/no-computed-permission',
    'a permission put together',
    'export const route = (action: string) => ({ permission: `core.contacts.${action}` });\n',
    "export const route = () => ({ permission: 'core.contacts.read' });\n",
  ),
  inService(
    'house/no-computed-permission',
    'a permission put together where it is asked',
    "export const may = (c: { can(p: string): boolean }, a: string) => c.can('core.contacts.' + a);\n",
    "export const may = (c: { can(p: string): boolean }) => c.can('core.contacts.read');\n",
  ),
  inService(
    'house/no-computed-permission',
    'a permission forced by a cast',
    'export const of = (text: string): Permission => text as Permission;\ntype Permission = string;\n',
    'export const of = (text: string): Permission => text;\ntype Permission = string;\n',
  ),
];

const TAKEN =
  "SELECT id FROM sends WHERE state = 'held' ORDER BY id LIMIT ${String(10)} FOR UPDATE SKIP LOCKED";
const lockCases: LintCase[] = [
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

const endCases: LintCase[] = [
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

const LISTENING = "{ constructor() { super(); this.on('error', () => this.destroy()); } }";
const streamCases: LintCase[] = [
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

const SPEC = 'apps/core/src/contacts/contacts.spec.ts';
const inSpec = (name: string, illegal: string, legal: string): LintCase => ({
  name,
  rule: 'house/no-asserted-time',
  illegal: { path: SPEC, code: illegal },
  legal: { path: SPEC, code: legal },
});
const timeCases: LintCase[] = [
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

const shapeCases: LintCase[] = [
  inService('house/function-size', 'a function of 81 lines', functionOf(81), functionOf(80)),
  inService('max-lines', 'a file of 401 lines', lines(401), lines(400)),
  named('house/file-name', 'camelCase', 'libs/http/src/problemFilter.ts', 'libs/http/src/problem.filter.ts'),
  {
    name: 'a controller in a file that does not say so',
    rule: 'house/file-name',
    illegal: { path: 'apps/core/src/contacts/contacts.ts', code: CONTROLLER },
    legal: { path: 'apps/core/src/contacts/contacts.controller.ts', code: CONTROLLER },
  },
  named('house/file-name', 'a catch-all file', 'libs/http/src/utils.ts', 'libs/http/src/cursors.ts'),
  ...['common', 'shared', 'utils'].map((folder) =>
    named(
      'house/file-name',
      `a folder ${folder}`,
      `libs/http/src/${folder}/cursors.ts`,
      'libs/http/src/lists/cursors.ts',
    ),
  ),
  named(
    'house/file-name',
    'a migration without its time',
    'apps/core/src/migrations/20261121-contacts.ts',
    'apps/core/src/migrations/1763715600000-create-contacts.ts',
  ),
  {
    name: 'a published symbol without a doc comment',
    rule: 'house/documented-export',
    typed: true,
    illegal: { path: 'libs/http/src/index.ts', code: 'export const limit = 200;\n' },
    legal: {
      path: 'libs/http/src/index.ts',
      code: '/** Rows on a page, at most. */\nexport const limit = 200;\n',
    },
  },
];

const described = (name: string, illegal: string, legal: string): LintCase => {
  const field = (decorators: string): string =>
    `export class SizeDto {\n  ${decorators}\n  size?: string | null;\n}\n`;
  const path = 'apps/crm/src/notes/note.dto.ts';
  return {
    name,
    rule: 'no-restricted-syntax',
    illegal: { path, code: field(illegal) },
    legal: { path, code: field(legal) },
  };
};

const describedCases: LintCase[] = [
  described(
    'a description says again that a field may be absent',
    '@ApiProperty({ required: false }) @MayBeAbsent() @IsString()',
    "@ApiProperty({ example: 'M' }) @MayBeAbsent() @IsString()",
  ),
  described(
    'an optional property that may be absent',
    "@ApiPropertyOptional({ example: 'M' }) @MayBeAbsent() @IsString()",
    "@ApiPropertyOptional({ example: 'M' })",
  ),
  described(
    'a description says again that a field may be null',
    '@ApiProperty({ nullable: true }) @MayBeNull() @IsString()',
    '@ApiProperty({ nullable: true })',
  ),
];

/** Every convention that lint enforces, with what it must refuse and what it must let pass. */
export const lintCases: LintCase[] = [
  ...packageCases,
  ...syntaxCases,
  ...errorCases,
  promiseCase,
  ...permissionCases,
  ...lockCases,
  ...endCases,
  ...streamCases,
  ...timeCases,
  ...shapeCases,
  ...describedCases,
];
