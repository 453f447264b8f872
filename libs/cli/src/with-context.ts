import type { INestApplicationContext, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';

/** Work with a Nest module that neither listens nor consumes; what it holds is closed after it. */
export async function withContext<T>(
  module: Type,
  work: (context: INestApplicationContext) => Promise<T>,
): Promise<T> {
  const context = await NestFactory.createApplicationContext(module, { logger: false, abortOnError: false });
  try {
    return await work(context);
  } finally {
    await context.close();
  }
}
