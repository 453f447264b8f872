import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '@customer-platform/database';
import { MESSAGING_CONFIG, type MessagingConfig } from '../../../vocabulary/config/messaging.config.js';
import { DnsRecords, keyOf, type DomainOfRecords, type Finding, type Findings } from '../dns-records.js';
import { DnsAnswers, DnsPatience } from './dns-answers.js';
import { checkRecord } from './record-checks.js';

/** What DNS said when it was asked about a domain; a record about which it was silent is not among the findings. */
export interface DomainCheck {
  readonly askedAt: Date;
  readonly findings: Findings;
}

/** Asks DNS for the records of a domain, within five seconds and a bounded number of questions. Never throws. */
@Injectable()
export class DomainChecker {
  constructor(
    private readonly records: DnsRecords,
    private readonly patience: DnsPatience,
    private readonly clock: Clock,
    @Inject(MESSAGING_CONFIG) private readonly config: MessagingConfig,
  ) {}

  async check(domain: DomainOfRecords): Promise<DomainCheck> {
    const askedAt = this.clock.now();
    const at = askedAt.toISOString();
    const answers = new DnsAnswers(this.config.dnsServers, this.patience);
    try {
      const found = await Promise.all(
        this.records.of(domain).map(async (record): Promise<[string, Finding][]> => {
          const verdict = await checkRecord(answers, domain.domain, record, this.config.spfInclude);
          return verdict === 'silent' ? [] : [[keyOf(record), { ...verdict, at }]];
        }),
      );
      return { askedAt, findings: Object.fromEntries(found.flat()) };
    } finally {
      answers.close();
    }
  }
}
