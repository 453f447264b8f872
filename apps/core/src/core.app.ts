import type { INestApplication } from '@nestjs/common';
import { connectEventBus, RecordProducer } from '@customer-platform/event-bus';
import { log, type BootOptions } from '@customer-platform/http';
import { CoreModule } from './core.module.js';
import { HotRoute } from './ingestion/hot-route.js';
import { INGESTION_TOPIC } from './ingestion/ingestion-queue.js';

/** How core is started, as a process and by tests: the ingestion routes stand before Express. */
export function coreApp(): Pick<BootOptions, 'module' | 'root' | 'beforeExpress' | 'connect'> & {
  module: 'core';
} {
  let hot: HotRoute | undefined;
  return {
    module: 'core',
    root: CoreModule,
    beforeExpress: (request, response) => hot?.take(request, response) ?? false,
    connect: async (app) => {
      hot = app.get(HotRoute, { strict: false });
      await Promise.all([connectEventBus(app), prepareQueue(app)]);
    },
  };
}

/** The first event should not pay for the connection. Without a broker the start goes on: it answers 503. */
async function prepareQueue(app: INestApplication): Promise<void> {
  try {
    await app.get(RecordProducer, { strict: false }).prepare([INGESTION_TOPIC]);
  } catch (error) {
    log.warn({ err: error }, 'The queue does not answer yet');
  }
}
