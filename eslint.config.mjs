import nx from '@nx/eslint-plugin';
import reactHooks from 'eslint-plugin-react-hooks';
import regexp from 'eslint-plugin-regexp';
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';
import { CLOCK_PLACES } from './infra/lint/clocks-read-alone.ts';
import { house } from './infra/lint/house.plugin.ts';

/** What a package may depend on, by the tags in its package.json ("nx": { "tags": [...] }). */
const depConstraints = [
  {
    sourceTag: 'type:contract',
    onlyDependOnLibsWithTags: ['type:contract'],
    bannedExternalImports: ['@nestjs/*', 'typeorm', 'kafkajs'],
  },
  // What others install brings nothing of ours along, and what runs in a browser has nothing else of ours.
  { sourceTag: 'type:published', onlyDependOnLibsWithTags: [] },
  { sourceTag: 'type:browser', onlyDependOnLibsWithTags: ['type:published'] },
  { sourceTag: 'type:platform', onlyDependOnLibsWithTags: ['type:contract', 'type:platform'] },
  {
    sourceTag: 'type:app',
    onlyDependOnLibsWithTags: ['type:contract', 'type:platform'],
    bannedExternalImports: ['kafkajs'],
  },
  {
    sourceTag: 'type:infra',
    onlyDependOnLibsWithTags: ['type:contract', 'type:platform', 'type:published', 'type:infra'],
    bannedExternalImports: ['kafkajs'],
  },
];

const boundaries = (constraints) => [
  'error',
  {
    allow: [],
    banTransitiveDependencies: true,
    // The testing library starts the platform libraries; their specs start with the testing library.
    ignoredCircularDependencies: [['@customer-platform/testing', 'tag:type:platform']],
    depConstraints: constraints,
  },
];

/** Syntax that the conventions ban everywhere; each message says what to write instead. */
const bannedSyntax = [
  {
    selector: 'ExportDefaultDeclaration',
    message: 'No default exports: a named export keeps one name everywhere.',
  },
  {
    selector: 'TSEnumDeclaration',
    message: 'No enums: wire values are string literals; write a const tuple and its union type.',
  },
  {
    selector: 'TSModuleDeclaration[declare!=true][kind="namespace"]',
    message: 'No namespaces: a module is a file.',
  },
];

/** Environment variables are read once, at boot, by libs/config, which refuses a bad one in a sentence. */
const environmentOnlyInConfig = {
  selector: 'MemberExpression[object.name="process"][property.name="env"]',
  message: 'Read the environment through @customer-platform/config.',
};

const MAY_BE_ABSENT = 'PropertyDefinition:has(> Decorator[expression.callee.name="MayBeAbsent"])';
const MAY_BE_NULL = 'PropertyDefinition:has(> Decorator[expression.callee.name="MayBeNull"])';
const SAID =
  'Decorator[expression.callee.name=/^ApiProperty/] > CallExpression > ObjectExpression > Property';

/**
 * A body's field says once what it takes: by its validators, from which its description is made. Bounds that are written
 * twice fail the making of the OpenAPI documents (`describeDtos`), which also sees those that a constant holds.
 */
const describedTwice = [
  {
    selector: `${MAY_BE_ABSENT} > Decorator[expression.callee.name="ApiPropertyOptional"]`,
    message: '@MayBeAbsent says already that the field may be absent: write @ApiProperty.',
  },
  {
    selector: `${MAY_BE_ABSENT} > ${SAID}[key.name=/^(required|selfRequired)$/]`,
    message: '@MayBeAbsent says already that the field may be absent.',
  },
  {
    selector: `${MAY_BE_NULL} > ${SAID}[key.name="nullable"]`,
    message: '@MayBeNull says already that the field may be null.',
  },
];

/** Infra runs its TypeScript natively: Node erases types, and runs no syntax that would need code for them. */
const notErasable = [
  { selector: 'TSParameterProperty', message: 'Node runs this file by erasing types: assign the property.' },
  { selector: 'Decorator', message: 'Node runs this file by erasing types: no decorators.' },
  { selector: 'TSImportEqualsDeclaration', message: 'Node runs this file by erasing types: use import.' },
];

/** A page takes its words from the files of its languages, and never reads text as markup. */
const unsafeInPages = [
  { selector: 'JSXText[value=/\\p{L}{2}/u]', message: 'Words stand in messages.<language>.json.' },
  {
    selector: 'JSXAttribute[name.name="dangerouslySetInnerHTML"]',
    message: 'What comes from customers is text, never HTML.',
  },
  {
    selector: 'MemberExpression[property.name=/^(innerHTML|outerHTML|insertAdjacentHTML|srcdoc)$/]',
    message: 'What comes from customers is text, never HTML.',
  },
];

export const SPECS = [
  '**/*.spec.ts',
  '**/*.e2e-spec.ts',
  '**/*.release-spec.ts',
  '**/test/**/*.ts',
  '**/*.fixture.ts',
];

/** What is read from the sources as they stand. The rules that need types are in .oxlintrc.json. */
export default defineConfig(
  globalIgnores([
    '**/dist/',
    '**/out-tsc/',
    '**/node_modules/',
    '.nx/',
    '.data/',
    'coverage/',
    'infra/boundaries/fixtures/',
    'infra/lint/fixtures/',
    'infra/load/**/*.js',
    'libs/client/src/api.ts', // generated
  ]),
  {
    linterOptions: { reportUnusedDisableDirectives: 'error' },
  },
  {
    name: 'house/typescript',
    files: ['**/*.ts', '**/*.tsx'],
    extends: [tseslint.configs.recommended],
    plugins: { house, '@nx': nx },
    rules: {
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'max-lines': ['error', { max: 400 }],
      'no-console': 'error',
      'no-empty': ['error', { allowEmptyCatch: false }],
      'no-restricted-imports': [
        'error',
        {
          paths: [
            { name: 'kafkajs', message: 'Kafka is reached through @customer-platform/event-bus only.' },
            { name: 'mailparser', message: 'Mail is parsed with postal-mime.' },
            {
              name: '@nestjs/common',
              importNames: ['forwardRef'],
              message: 'Two modules that need each other are one, or need a third below them.',
            },
            {
              name: '@nestjs/core',
              importNames: ['ModuleRef'],
              message: 'A service says in its constructor what it needs, and its module imports it.',
            },
            {
              name: 'class-validator',
              importNames: ['IsUUID', 'IsISO8601', 'IsDateString', 'IsTimeZone', 'IsLocale'],
              message:
                'Ids, times, zones and locales have readers in @customer-platform/http that all share.',
            },
          ],
        },
      ],
      'no-restricted-syntax': ['error', ...bannedSyntax, environmentOnlyInConfig],
      'prefer-const': 'error',
      '@nx/enforce-module-boundaries': boundaries(depConstraints),
      '@typescript-eslint/ban-ts-comment': ['error', { minimumDescriptionLength: 10 }],
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_$', ignoreRestSiblings: true },
      ],
      'house/banned-name': 'error',
      'house/explained-disable': 'error',
      'house/file-name': 'error',
      'house/function-size': ['error', { max: 80 }],
      'house/no-barrel': 'error',
      'house/no-computed-permission': 'error',
      'house/no-rescanned-lock': 'error',
      'house/no-swallowed-error': 'error',
    },
  },
  {
    name: 'house/browser',
    files: ['apps/console/src/**/*.{ts,tsx}'],
    plugins: { 'react-hooks': reactHooks },
    rules: {
      ...reactHooks.configs.recommended.rules,
      'react-hooks/incompatible-library': 'off', // no compiler memoizes our components
      // What runs in a browser has nothing of ours but what anybody can install.
      '@nx/enforce-module-boundaries': boundaries([
        { sourceTag: '*', onlyDependOnLibsWithTags: ['type:published'] },
      ]),
      'no-restricted-syntax': ['error', ...bannedSyntax, ...unsafeInPages],
    },
  },
  {
    name: 'house/what-serves',
    files: ['apps/**/*.ts', 'libs/**/*.ts'],
    ignores: SPECS,
    plugins: { regexp },
    rules: {
      // A stream of a request whose error nobody hears ends the process of all.
      'house/heard-stream': 'error',
      // A pattern reads what a tenant sent, on a loop that all tenants share: its time grows with the text, not with
      // the square of it. `potential` reports also where the attacked text depends on what surrounds the pattern.
      'regexp/no-super-linear-backtracking': ['error', { report: 'potential' }],
      'regexp/no-super-linear-move': ['error', { report: 'potential', ignoreSticky: false }],
    },
  },
  {
    name: 'house/answers-requests',
    // Of what goes on beside requests, the loops of the event bus, a failure that nobody foresaw does end the process.
    files: ['apps/*/{src,server}/**/*.ts', 'libs/{authorization,http}/src/**/*.ts'],
    ignores: [...SPECS, 'apps/console/src/**'],
    rules: { 'house/heard-promise': 'error' },
  },
  {
    name: 'house/ends',
    files: ['apps/**/*.ts', 'libs/**/*.ts'],
    ignores: [...SPECS, 'libs/testing/**'],
    rules: { 'house/no-endless-turns': 'error' },
  },
  {
    name: 'house/background-work',
    files: ['apps/*/{src,server}/**/*.ts', 'libs/*/src/**/*.ts'],
    // What runs in a page or at a customer's is no process of ours.
    ignores: [...SPECS, 'apps/console/src/**', 'libs/{client,testing,track}/**'],
    rules: { 'house/registered-work': 'error' },
  },
  {
    name: 'house/clocks',
    files: ['apps/*/src/**/*.ts', 'libs/*/src/**/*.ts'],
    ignores: [...SPECS, ...CLOCK_PLACES.keys(), 'apps/console/src/**', 'libs/{client,testing,track}/**'],
    rules: { 'house/time-after-locks': 'error' },
  },
  {
    name: 'house/public-interface',
    files: ['libs/*/src/index.ts', 'apps/*/src/**/*.service.ts'],
    rules: { 'house/documented-export': 'error' },
  },
  {
    name: 'house/kafka-transport',
    files: ['libs/event-bus/**/*.ts'],
    rules: { 'no-restricted-imports': 'off' },
  },
  {
    name: 'house/permission-registry',
    files: ['libs/permissions/src/**/*.ts'],
    rules: { 'house/no-computed-permission': 'off' },
  },
  {
    name: 'house/environment-readers',
    files: ['libs/config/src/**/*.ts', 'libs/testing/src/**/*.ts', ...SPECS],
    rules: { 'no-restricted-syntax': ['error', ...bannedSyntax] },
  },
  {
    name: 'house/described-once',
    files: ['apps/**/*.dto.ts', 'libs/**/*.dto.ts'],
    ignores: SPECS,
    rules: {
      'no-restricted-syntax': ['error', ...bannedSyntax, environmentOnlyInConfig, ...describedTwice],
    },
  },
  {
    name: 'house/specs',
    files: SPECS,
    rules: {
      'house/no-asserted-time': 'error',
    },
  },
  {
    name: 'house/release-specs',
    files: ['**/*.release-spec.ts'],
    // What only a clock can tell is looked at before a release, on a quiet machine.
    rules: { 'house/no-asserted-time': 'off' },
  },
  {
    name: 'house/specs-of-published',
    files: [...SPECS.map((specs) => `libs/{client,track}/${specs}`), 'apps/gateway/test/**/*.ts'],
    // They start what they are held against, or what is held against them.
    rules: { '@nx/enforce-module-boundaries': boundaries([]) },
  },
  {
    name: 'house/infra',
    files: ['infra/**/*.ts'],
    rules: {
      // Infra programs talk to a person on a terminal and read their own options from the environment.
      'no-console': 'off',
      'no-restricted-syntax': ['error', ...bannedSyntax, ...notErasable],
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
    },
  },
  {
    name: 'house/infra-programs',
    files: ['infra/{docs,fuzz,lint,test}/**/*.ts'],
    // Programs around the packages, no package themselves: they read what the packages are made of.
    rules: { '@nx/enforce-module-boundaries': 'off' },
  },
  {
    name: 'house/benchmarks',
    files: ['infra/load/**/*.bench.ts', 'infra/load/built-core.ts'],
    // A benchmark runs one app, or one library, inside its own process.
    rules: { '@nx/enforce-module-boundaries': 'off' },
  },
  {
    name: 'house/jest-global',
    files: ['infra/test/global-*.ts'],
    rules: {
      // Jest takes the default export of globalSetup and globalTeardown.
      'no-restricted-syntax': [
        'error',
        ...bannedSyntax.filter((ban) => ban.selector !== 'ExportDefaultDeclaration'),
      ],
    },
  },
  {
    name: 'house/plain-javascript',
    files: ['**/*.mjs', '**/*.cjs', '**/*.js'],
    rules: { 'max-lines': ['error', { max: 400 }], 'no-empty': ['error', { allowEmptyCatch: false }] },
  },
);
