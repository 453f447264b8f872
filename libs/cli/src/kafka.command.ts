import type { Type } from '@nestjs/common';
import { kafkaConfig, readConfig } from '@customer-platform/config';
import { accessOf, aclsOf, type Acl } from '@customer-platform/event-bus';
import { Option } from 'commander';
import { EXIT } from './exit-codes.js';
import type { CommandOf, Given } from './program.js';

/** How they are printed. */
interface Asked {
  readonly format: 'kafka-acls' | 'strimzi';
  readonly user?: string;
  readonly cluster: string;
}

/** `platform kafka acls`: `root` is the app's module, whose code says what it reads. */
export const kafka =
  (root: () => Promise<Type>): CommandOf =>
  (module) => ({
    name: 'kafka',
    summary: 'the brokers',
    commands: [
      {
        name: 'acls',
        summary: `what the brokers must allow ${module}, and nothing else`,
        details:
          'Commands for a shell in which BROKERS and ADMIN_PROPERTIES name the brokers and the file by which their operator\n' +
          'speaks to them; or a KafkaUser of Strimzi, with a password by SCRAM. Derived from what the module consumes and\n' +
          'publishes: print them anew with each release, and allow what is new before it is deployed.',
        options: [
          new Option('--format <format>', 'for whom')
            .choices(['kafka-acls', 'strimzi'])
            .default('kafka-acls'),
          new Option('--user <name>', `as whom the brokers know ${module} (default: ${module})`),
          new Option('--cluster <name>', 'of Strimzi').default('kafka'),
        ],
        environment: { KAFKA_TOPIC_PREFIX: 'what stands before the names of topics and groups' },
        run: async ({ values, print }: Given<Asked>) => {
          const { KAFKA_TOPIC_PREFIX } = readConfig(kafkaConfig.pick({ KAFKA_TOPIC_PREFIX: true }));
          const { format, user = module, cluster } = values;
          const acls = aclsOf(accessOf(module, await root()), KAFKA_TOPIC_PREFIX);
          const text = format === 'strimzi' ? kafkaUser(user, cluster, acls) : commandsFor(user, acls);
          print({ module, user, acls }, text);
          return EXIT.done;
        },
      },
    ],
  });

/** One line for each, for `kafka-acls.sh`. */
function commandsFor(user: string, acls: readonly Acl[]): string {
  return acls
    .map(({ type, name, isPrefix, operations }) =>
      [
        'kafka-acls.sh --bootstrap-server "$BROKERS" --command-config "$ADMIN_PROPERTIES"',
        `--add --allow-principal ${quoted(`User:${user}`)}`,
        ...operations.map((operation) => `--operation ${operation}`),
        name === undefined ? `--${type}` : `--${type} ${quoted(name)}`,
        ...(isPrefix ? ['--resource-pattern-type prefixed'] : []),
      ].join(' '),
    )
    .join('\n');
}

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** The object of Strimzi's user operator; JSON's texts are YAML's. */
function kafkaUser(user: string, cluster: string, acls: readonly Acl[]): string {
  return [
    '---',
    'apiVersion: kafka.strimzi.io/v1beta2',
    'kind: KafkaUser',
    'metadata:',
    `  name: ${JSON.stringify(user)}`,
    `  labels: { strimzi.io/cluster: ${JSON.stringify(cluster)} }`,
    'spec:',
    '  authentication: { type: scram-sha-512 }',
    '  authorization:',
    '    type: simple',
    '    acls:',
    ...acls.map(({ type, name, isPrefix, operations }) => {
      const named =
        name === undefined
          ? ''
          : `, name: ${JSON.stringify(name)}, patternType: ${isPrefix ? 'prefix' : 'literal'}`;
      return `      - { resource: { type: ${type}${named} }, operations: [${operations.join(', ')}] }`;
    }),
  ].join('\n');
}
