import { NestFactory } from '@nestjs/core';
import type { INestApplicationContext } from '@nestjs/common';
import { Clock, Database, KeySeal, SigningKeys } from '@customer-platform/database';
import type { TestDatabase } from '@customer-platform/testing';
import { DatabaseAuthorizationSource } from '../authorization/database-authorization.source.js';
import { RegistryPool } from '../authorization/registry.pool.js';
import { Operator } from './operator.js';
import { OperatorModule } from './operator.module.js';

/** The operator, and the registry that sees what the operator does. */
export interface OperatorBench {
  operator: Operator;
  registry: DatabaseAuthorizationSource;
  context: INestApplicationContext;
  close(): Promise<void>;
}

/** The operator at a test's database, as the commands have it. */
export async function anOperator(database: TestDatabase): Promise<OperatorBench> {
  const former = process.env['DATABASE_URL'];
  process.env['DATABASE_URL'] = database.url;
  try {
    const context = await NestFactory.createApplicationContext(OperatorModule, {
      logger: false,
      abortOnError: false,
    });
    const pool = new RegistryPool();
    const close = async () => {
      await pool.onApplicationShutdown();
      await context.close();
    };
    return {
      operator: context.get(Operator),
      registry: new DatabaseAuthorizationSource(pool, signingKeys(context)),
      context,
      close,
    };
  } finally {
    if (former === undefined) delete process.env['DATABASE_URL'];
    else process.env['DATABASE_URL'] = former;
  }
}

/** The keys of access tokens, at the same database. */
function signingKeys(context: INestApplicationContext): SigningKeys {
  return new SigningKeys(
    context.get(Database),
    new Clock(),
    new KeySeal(Buffer.alloc(32, 7), 'identity signing keys at rest'),
  );
}

/** A root to found; a slug of one's own lets tests of one database stay apart. */
export const ROOT = { name: 'Platform', slug: 'platform', locale: 'en', timezone: 'UTC' } as const;
