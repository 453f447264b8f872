import kafkajs, { type Admin, type AclEntry } from 'kafkajs';
import type { Acl } from '../src/kafka/acls.js';
import { OwnBroker } from './own-broker.js';

const { AclOperationTypes, AclPermissionTypes, AclResourceTypes, Kafka, logLevel, ResourcePatternTypes } =
  kafkajs;
const LISTENER = 'listener.name.sasl_plaintext.scram-sha-512.sasl.jaas.config';
const OPERATIONS: Readonly<Record<Acl['operations'][number], number>> = {
  AlterConfigs: AclOperationTypes.ALTER_CONFIGS,
  Create: AclOperationTypes.CREATE,
  Delete: AclOperationTypes.DELETE,
  Describe: AclOperationTypes.DESCRIBE,
  DescribeConfigs: AclOperationTypes.DESCRIBE_CONFIGS,
  Read: AclOperationTypes.READ,
  Write: AclOperationTypes.WRITE,
};
const TYPES = {
  topic: AclResourceTypes.TOPIC,
  group: AclResourceTypes.GROUP,
  cluster: AclResourceTypes.CLUSTER,
};

const passwordOf = (user: string): string => `the password of ${user}`;

/** A broker that knows these users by SCRAM and allows them nothing, until an operator does. */
export class GuardedBroker {
  private constructor(private readonly broker: OwnBroker) {}

  static async start(users: readonly string[]): Promise<GuardedBroker> {
    const broker = await OwnBroker.prepare({
      format: users.flatMap((user) => [
        '--add-scram',
        `SCRAM-SHA-512=[name=${user},password=${passwordOf(user)}]`,
      ]),
      settings: ({ port, controllerPort, secondPort }) => ({
        listeners: `PLAINTEXT://127.0.0.1:${String(port)},SASL_PLAINTEXT://127.0.0.1:${String(secondPort)},CONTROLLER://127.0.0.1:${String(controllerPort)}`,
        'advertised.listeners': `PLAINTEXT://127.0.0.1:${String(port)},SASL_PLAINTEXT://127.0.0.1:${String(secondPort)}`,
        'listener.security.protocol.map':
          'PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT',
        'sasl.enabled.mechanisms': 'SCRAM-SHA-512',
        [LISTENER]: 'org.apache.kafka.common.security.scram.ScramLoginModule required;',
        'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
        // Who speaks to the plain listener: the broker itself, and the operator.
        'super.users': 'User:ANONYMOUS',
      }),
    });
    await broker.start();
    return new GuardedBroker(broker);
  }

  /** The variables by which a module speaks to it. */
  environmentOf(user: string): Record<string, string> {
    return {
      KAFKA_BROKERS: `127.0.0.1:${String(this.broker.secondPort)}`,
      KAFKA_SASL_MECHANISM: 'scram-sha-512',
      KAFKA_SASL_USERNAME: user,
      KAFKA_SASL_PASSWORD: passwordOf(user),
    };
  }

  /** As the operator does with what `platform kafka acls` prints. */
  async allow(user: string, acls: readonly Acl[]): Promise<void> {
    const acl = acls.flatMap(({ type, name = 'kafka-cluster', isPrefix, operations }) =>
      operations.map((operation): AclEntry => ({
        principal: `User:${user}`,
        host: '*',
        operation: OPERATIONS[operation],
        permissionType: AclPermissionTypes.ALLOW,
        resourceType: TYPES[type],
        resourceName: name,
        resourcePatternType: isPrefix ? ResourcePatternTypes.PREFIXED : ResourcePatternTypes.LITERAL,
      })),
    );
    await this.with(
      new Kafka({ brokers: [this.broker.address], logLevel: logLevel.NOTHING }).admin(),
      (admin) => admin.createAcls({ acl }),
    );
  }

  /** What becomes of a record that somebody with these credentials writes. */
  async write(user: string, topic: string, value: string): Promise<void> {
    const producer = this.as(user).producer({ allowAutoTopicCreation: false, retry: { retries: 0 } });
    await this.with(producer, () => producer.send({ topic, messages: [{ value }] }));
  }

  /** What an administration client with these credentials may do. */
  administrate<T>(user: string, work: (admin: Admin) => Promise<T>): Promise<T> {
    return this.with(this.as(user).admin({ retry: { retries: 0 } }), work);
  }

  remove(): Promise<void> {
    return this.broker.remove();
  }

  private as(username: string): InstanceType<typeof Kafka> {
    const sasl = { mechanism: 'scram-sha-512', username, password: passwordOf(username) } as const;
    const brokers = [`127.0.0.1:${String(this.broker.secondPort)}`];
    return new Kafka({ brokers, sasl, logLevel: logLevel.NOTHING });
  }

  private async with<C extends { connect(): Promise<void>; disconnect(): Promise<void> }, T>(
    client: C,
    work: (client: C) => Promise<T>,
  ): Promise<T> {
    await client.connect();
    try {
      return await work(client);
    } finally {
      await client.disconnect();
    }
  }
}
