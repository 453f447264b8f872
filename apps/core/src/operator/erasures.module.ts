import { Module } from '@nestjs/common';
import { DatabaseModule } from '@customer-platform/database';
import { Outbox, OutboxSignal } from '@customer-platform/event-bus';
import { ContactLookup } from '../people/contacts/contact-lookup.js';
import { CORE_MIGRATIONS } from '../migrations/core.migrations.js';
import { ErasuresAgain } from './erasures-again.js';

/** What the commands on erasures need: the database, and nothing that listens or consumes. */
@Module({
  imports: [DatabaseModule.forRoot({ module: 'core', entities: [], migrations: CORE_MIGRATIONS })],
  providers: [Outbox, OutboxSignal, ContactLookup, ErasuresAgain],
})
export class ErasuresModule {}
