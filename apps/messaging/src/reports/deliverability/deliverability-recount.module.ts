import { Module } from '@nestjs/common';
import { DatabaseModule } from '@customer-platform/database';
import { MESSAGING_CONFIG } from '../../vocabulary/config/messaging.config.js';
import { migrations } from '../../migrations/index.js';
import { DeliverabilityCounter } from './deliverability-counter.js';
import { DeliverabilityRecount } from './deliverability-recount.js';

/** What the command that recounts needs: nothing that listens or consumes. */
@Module({
  imports: [DatabaseModule.forRoot({ module: 'messaging', entities: [], migrations })],
  providers: [
    DeliverabilityCounter,
    DeliverabilityRecount,
    // Adds what is noted when the command asks for it, and not in the background.
    { provide: MESSAGING_CONFIG, useValue: { worker: false } },
  ],
})
export class DeliverabilityRecountModule {}
