import type { DynamicModule, Type } from '@nestjs/common';
import { MODULE_METADATA } from '@nestjs/common/constants.js';
import {
  isWriterOf,
  ownerOfTopic,
  RECORD_TOPICS,
  recordTopic,
  topicOf,
  topicOfModule,
  type EventType,
  type Publisher,
} from '@customer-platform/events';
import { typesHeardBy } from '../on-event.decorator.js';

/** What a module does with topics and groups: all that it needs to be allowed on the brokers. */
export interface ModuleAccess {
  readonly module: Publisher;
  /** It makes them, and sets them. */
  readonly owns: readonly string[];
  readonly writes: readonly string[];
  readonly reads: readonly string[];
  readonly groups: readonly string[];
  /** What the names begin with of groups that a command makes to read a topic once. */
  readonly passingGroups: readonly string[];
}

/**
 * Finds out what a module does by its code: the topics that are declared, and the methods under `@OnEvent` of the
 * controllers that `root` comes to. Nothing is started, and no variable is read.
 */
export function accessOf(module: Publisher, root: Type): ModuleAccess {
  const topics = [topicOfModule(module), ...Object.keys(RECORD_TOPICS)];
  const heard = [...new Set([...eventsHeardBy(root)].map((type) => topicOf(type)))];
  const owns = topics.filter((topic) => ownerOfTopic(topic) === module);
  const groupsOf = (topic: string): string[] => Object.values(recordTopic(topic)?.groups ?? {});
  const readWhole = owns.filter((topic) => recordTopic(topic)?.readWhole);
  return {
    module,
    owns,
    writes: topics.filter((topic) => isWriterOf(module, topic)),
    reads: [...heard, ...owns.filter((topic) => groupsOf(topic).length > 0), ...readWhole].sort(),
    groups: [...(heard.length > 0 ? [topicOfModule(module)] : []), ...owns.flatMap(groupsOf)],
    passingGroups: readWhole.length > 0 ? [passingGroupOf(module)] : [],
  };
}

/** How the groups begin by which a module's commands read a topic once. */
export function passingGroupOf(module: Publisher): string {
  return `${module}.reader-`;
}

/** The types of events that controllers below a module of Nest take. */
export function eventsHeardBy(root: Type): Set<EventType> {
  const seen = new Set<unknown>();
  const types = new Set<EventType>();
  const waiting: unknown[] = [root];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    const { module = next, imports = [], controllers = [] } = next as Partial<DynamicModule>;
    waiting.push(...imports, ...metadataOf(module, MODULE_METADATA.IMPORTS));
    for (const controller of [...controllers, ...metadataOf(module, MODULE_METADATA.CONTROLLERS)])
      for (const type of typesHeardBy(controller as Type)) types.add(type);
  }
  return types;
}

function metadataOf(module: unknown, name: string): unknown[] {
  return (Reflect.getMetadata(name, module as Type) as unknown[] | undefined) ?? [];
}
