import { createHmac } from 'node:crypto';
import { Module } from '@nestjs/common';
import { AuditModule } from '@customer-platform/audit';
import { AuthorizationModule, timelineRoute } from '@customer-platform/authorization';
import { ledgerConfig, readConfig } from '@customer-platform/config';
import {
  ContactFollower,
  ContactReferences,
  ContactRefs,
  ContactRowsRegistry,
  CoreContacts,
} from '@customer-platform/contact-refs';
import {
  Clock,
  Database,
  DatabaseModule,
  IdempotentCalls,
  ReferencesModule,
  SubjectRowsModule,
} from '@customer-platform/database';
import { ErasureModule } from '@customer-platform/erasure';
import { EventBusModule } from '@customer-platform/event-bus';
import { LoyaltyContactRefs } from './contacts/loyalty-contact-refs.js';
import { CoreEventsConsumer } from './core-events.consumer.js';
import { EarningService } from './earning/earning.service.js';
import { RuleBooks } from './earning/rule-book.js';
import { ExpirySweep } from './expiry/expiry.sweep.js';
import { LotExpiry } from './expiry/lot-expiry.service.js';
import { LEDGER_KEY } from './ledger-key.js';
import { LedgerController } from './ledger/ledger.controller.js';
import { LedgerTimeline } from './ledger/ledger-timeline.js';
import { LedgerSummary } from './ledger/ledger-summary.js';
import { LedgerService } from './ledger/ledger.service.js';
import { TRANSACTIONS_OF_CONTACTS } from './ledger/subjects.js';
import { migrations } from './migrations/index.js';
import { ORGANIZATION_IN_LOYALTY } from './organization-references.js';
import { PostedAnswers } from './postings/posted-answers.js';
import { PostingsController } from './postings/postings.controller.js';
import { PostingsService } from './postings/postings.service.js';
import { Reversals } from './postings/reversal.js';
import { Rule } from './rules/rule.entity.js';
import { RulesModule } from './rules/rules.module.js';
import { SUBJECT_TABLES } from './subject-tables.js';

/** Postings are remembered for ever, and so is the one key that outlives them. */
function secretOfPostings(key: string): string {
  return createHmac('sha256', key).update('idempotency of postings').digest('hex');
}

/** Rules and the append-only point ledger. */
@Module({
  imports: [
    DatabaseModule.forRoot({ module: 'loyalty', entities: [Rule], migrations }),
    EventBusModule.forRoot({ module: 'loyalty' }),
    AuditModule.forRoot({ module: 'loyalty' }),
    AuthorizationModule.forRoot({ module: 'loyalty', calls: ['core'] }),
    ReferencesModule.forRoot({
      module: 'loyalty',
      references: [TRANSACTIONS_OF_CONTACTS, ...ORGANIZATION_IN_LOYALTY],
    }),
    ErasureModule.forRoot({ module: 'loyalty' }),
    SubjectRowsModule.forRoot({ tables: SUBJECT_TABLES }),
    RulesModule,
  ],
  controllers: [CoreEventsConsumer, LedgerController, PostingsController],
  providers: [
    { provide: LEDGER_KEY, useFactory: () => readConfig(ledgerConfig).LEDGER_KEY },
    {
      provide: IdempotentCalls,
      inject: [Database, Clock, LEDGER_KEY, PostedAnswers],
      useFactory: (database: Database, clock: Clock, key: string, answers: PostedAnswers) =>
        new IdempotentCalls(database, clock, secretOfPostings(key), answers),
    },
    { provide: ContactRefs, useExisting: LoyaltyContactRefs },
    ContactFollower,
    ContactReferences,
    ContactRowsRegistry,
    CoreContacts,
    EarningService,
    ExpirySweep,
    LedgerService,
    LedgerSummary,
    LedgerTimeline,
    timelineRoute(LedgerTimeline),
    LotExpiry,
    LoyaltyContactRefs,
    PostedAnswers,
    PostingsService,
    Reversals,
    RuleBooks,
  ],
})
export class LoyaltyModule {}
