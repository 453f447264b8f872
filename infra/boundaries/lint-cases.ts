import { inService, SERVICE, type LintCase } from './lint-case.ts';
import {
  clockCases,
  endCases,
  lockCases,
  promiseCases,
  streamCases,
  timeCases,
  workCases,
} from './running-cases.ts';

const lines = (count: number): string =>
  'export const one = 1;\n'.repeat(count).replaceAll(/one/g, () => `n${next()}`);
let counter = 0;
const next = (): number => ++counter;
const functionOf = (count: number): string =>
  `export function long(): void {\n${'  work();\n'.repeat(count - 2)}}\nexport function work(): void {\n  long();\n}\n`;

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
    legal: { path: 'apps/messaging/src/requests/sends/sends.service.ts', code: "import 'nodemailer';\n" },
  },
  ...['apps/core/src/ingestion/queue.service.ts', 'libs/testing/src/probe.ts', 'infra/local/kafka.ts'].map(
    (path) => ({
      name: `kafkajs in ${path}`,
      rule: 'no-restricted-imports',
      illegal: { path, code: "import 'kafkajs';\n" },
      legal: { path: 'libs/event-bus/src/client.ts', code: "import 'kafkajs';\n" },
    }),
  ),
  ...[
    ['forwardRef', '@nestjs/common', 'Inject'],
    ['ModuleRef', '@nestjs/core', 'NestFactory'],
  ].map(([around = '', from = '', plain = '']) => ({
    name: `${around}, which goes around the doors of modules`,
    rule: 'no-restricted-imports',
    illegal: { path: SERVICE, code: `export { ${around} } from '${from}';\n` },
    legal: { path: SERVICE, code: `export { ${plain} } from '${from}';\n` },
  })),
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
  named(
    'house/no-barrel',
    'index in an app',
    'apps/core/src/people/contacts/index.ts',
    'libs/http/src/index.ts',
  ),
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

const shapeCases: LintCase[] = [
  inService('house/function-size', 'a function of 81 lines', functionOf(81), functionOf(80)),
  inService('max-lines', 'a file of 401 lines', lines(401), lines(400)),
  named('house/file-name', 'camelCase', 'libs/http/src/problemFilter.ts', 'libs/http/src/problem.filter.ts'),
  {
    name: 'a controller in a file that does not say so',
    rule: 'house/file-name',
    illegal: { path: 'apps/core/src/people/contacts/contacts.ts', code: CONTROLLER },
    legal: { path: 'apps/core/src/people/contacts/contacts.controller.ts', code: CONTROLLER },
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
  ...workCases,
  ...clockCases,
  ...promiseCases,
  ...streamCases,
  ...timeCases,
  ...shapeCases,
  ...describedCases,
];
