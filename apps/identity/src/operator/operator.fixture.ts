import { NestFactory } from '@nestjs/core';
import type { INestApplicationContext } from '@nestjs/common';
import type { TestDatabase } from '@customer-platform/testing';
import { Operator } from './operator.js';
import { OperatorModule } from './operator.module.js';

/** The operator at a test's database, as the commands have it. */
export async function anOperator(
  database: TestDatabase,
): Promise<{ operator: Operator; context: INestApplicationContext; close(): Promise<void> }> {
  const former = process.env['DATABASE_URL'];
  process.env['DATABASE_URL'] = database.url;
  try {
    const context = await NestFactory.createApplicationContext(OperatorModule, {
      logger: false,
      abortOnError: false,
    });
    return { operator: context.get(Operator), context, close: () => context.close() };
  } finally {
    if (former === undefined) delete process.env['DATABASE_URL'];
    else process.env['DATABASE_URL'] = former;
  }
}

/** A root to found; a slug of one's own lets tests of one database stay apart. */
export const ROOT = { name: 'Platform', slug: 'platform', locale: 'en', timezone: 'UTC' } as const;
