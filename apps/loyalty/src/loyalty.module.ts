import { Module } from '@nestjs/common';
import { AuditModule } from '@customer-platform/audit';
import { AuthorizationModule } from '@customer-platform/authorization';
import { ledgerConfig, readConfig } from '@customer-platform/config';
import { DatabaseModule, ReferencesModule } from '@customer-platform/database';
import { ErasureModule } from '@customer-platform/erasure';
import { EventBusModule } from '@customer-platform/event-bus';
import { ContactLookup } from './contacts/contact-lookup.js';
import { ContactRefs } from './contacts/contact-refs.js';
import { CoreEventsConsumer } from './core-events.consumer.js';
import { EarningService } from './earning/earning.service.js';
import { RuleBooks } from './earning/rule-book.js';
import { LEDGER_KEY } from './ledger-key.js';
import { LedgerController } from './ledger/ledger.controller.js';
import { LedgerService } from './ledger/ledger.service.js';
import { TRANSACTIONS_OF_CONTACTS } from './ledger/subjects.js';
import { migrations } from './migrations/index.js';
import { Rule } from './rules/rule.entity.js';
import { RulesModule } from './rules/rules.module.js';

/** Rules and the append-only point ledger. */
@Module({
  imports: [
    DatabaseModule.forRoot({ module: 'loyalty', entities: [Rule], migrations }),
    EventBusModule.forRoot({ module: 'loyalty' }),
    AuditModule.forRoot({ module: 'loyalty' }),
    AuthorizationModule.forRoot({ module: 'loyalty', calls: ['core'] }),
    ReferencesModule.forRoot({ module: 'loyalty', references: [TRANSACTIONS_OF_CONTACTS] }),
    ErasureModule.forRoot({ module: 'loyalty' }),
    RulesModule,
  ],
  controllers: [CoreEventsConsumer, LedgerController],
  providers: [
    { provide: LEDGER_KEY, useFactory: () => readConfig(ledgerConfig).LEDGER_KEY },
    ContactLookup,
    ContactRefs,
    EarningService,
    LedgerService,
    RuleBooks,
  ],
})
export class LoyaltyModule {}
