import { markOf } from './marked.kafka.js';
import type { ModuleAccess } from './module-access.js';

/** What the brokers can allow, as Kafka's own tool and Strimzi spell it. */
type Operation = 'AlterConfigs' | 'Create' | 'Delete' | 'Describe' | 'DescribeConfigs' | 'Read' | 'Write';

/** What a module is allowed on one topic, group or on the cluster. */
export interface Acl {
  readonly type: 'topic' | 'group' | 'cluster';
  /** As the brokers know it; none of the cluster. */
  readonly name?: string;
  /** Whether it is what the names begin with. */
  readonly isPrefix: boolean;
  readonly operations: readonly Operation[];
}

const OWNED: readonly Operation[] = ['Create', 'Describe', 'DescribeConfigs', 'AlterConfigs'];

/**
 * All that a module needs on brokers that allow nothing else: its topics to make, set and write, those of others to read,
 * its groups, and to see how brokers make topics, which it refuses where they would lose records.
 * @param prefix KAFKA_TOPIC_PREFIX
 */
export function aclsOf(access: ModuleAccess, prefix: string): Acl[] {
  const { module, owns, reads, writes } = access;
  const allowed = (topic: string): Operation[] => [
    ...new Set<Operation>([
      ...(owns.includes(topic) ? OWNED : []),
      ...(reads.includes(topic) ? (['Describe', 'Read'] as const) : []),
      ...(writes.includes(topic) ? (['Describe', 'Write'] as const) : []),
    ]),
  ];
  const group = (name: string, isPrefix: boolean, operations: readonly Operation[]): Acl => ({
    type: 'group',
    name: `${prefix}${name}`,
    isPrefix,
    operations,
  });
  return [
    ...[...new Set([...owns, ...writes, ...reads])].map((topic): Acl => ({
      type: 'topic',
      name: `${prefix}${topic}`,
      isPrefix: false,
      operations: allowed(topic),
    })),
    // It makes the topic that marks its installation, and an operator's command takes another's mark away.
    {
      type: 'topic',
      name: `${prefix}${markOf(module)}`,
      isPrefix: true,
      operations: ['Create', 'Delete', 'Describe'],
    },
    ...access.groups.map((name) => group(name, false, ['Describe', 'Read'])),
    ...access.passingGroups.map((name) => group(name, true, ['Delete', 'Describe', 'Read'])),
    { type: 'cluster', isPrefix: false, operations: ['DescribeConfigs'] },
  ];
}
