import { Module } from '@nestjs/common';
import { TenantTallies } from '@customer-platform/database';
import { MinuteCalls } from '../../background/call-bounds/minute-calls.js';
import { MESSAGING_CONFIG, type MessagingConfig } from '../../vocabulary/config/messaging.config.js';
import { DkimKeyMaker } from './dkim-key-maker.js';
import { DnsPatience } from './dns/dns-answers.js';
import { DomainChecker } from './dns/domain-checker.js';
import { DnsRecords } from './dns-records.js';
import { DomainChecks } from './domain-checks.js';
import { DomainRecheck } from './domain-recheck.js';
import { MailSigner } from './mail-signer.js';
import { ReturnPaths } from './return-paths.js';
import { SenderDomainsController } from './sender-domains.controller.js';
import { SenderDomainsService } from './sender-domains.service.js';
import { VerificationService } from './verification.service.js';
import { VerifiedSenders } from './verified-senders.js';

/** From which domains organizations send, and whether they are theirs. */
@Module({
  controllers: [SenderDomainsController],
  providers: [
    DkimKeyMaker,
    DnsPatience,
    DomainChecker,
    DomainChecks,
    DomainRecheck,
    MailSigner,
    MinuteCalls,
    ReturnPaths,
    TenantTallies,
    SenderDomainsService,
    VerificationService,
    VerifiedSenders,
    {
      provide: DnsRecords,
      inject: [MESSAGING_CONFIG],
      useFactory: ({ keyring, spfInclude, returnHost }: MessagingConfig) =>
        new DnsRecords(keyring, spfInclude, returnHost),
    },
  ],
  exports: [MailSigner, ReturnPaths, VerifiedSenders],
})
export class SenderDomainsModule {}
