import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Clock } from '@customer-platform/database';
import { metrics } from '@customer-platform/http';
import { Counter } from 'prom-client';
import type { ProviderReport } from '../../providers/report.js';
import { ProviderReports } from '../webhooks/provider-reports.service.js';
import { readReturnedMail, type ReturnedMail } from './read-returned-mail.js';
import { ReturnPaths, type ReturnedSend } from '../../settings/sender-domains/return-paths.js';

/** As whose reports those of returned mails are stored. */
const PROVIDER = 'return_path';

const returned = new Counter({
  name: 'returned_mails_total',
  help: 'Mails that came to return paths and to the address of feedback loops, by what they said',
  labelNames: ['kind'],
  registers: [metrics],
});

/** Where feedback loops of mailbox providers are pointed to; which send they are about their reports say. */
const FEEDBACK_LOCAL_PART = 'feedback';
/** Each host that takes mail has one (RFC 5321 §4.5.1). */
const POSTMASTER_LOCAL_PART = 'postmaster';

/**
 * Makes reports of what returns (messaging.md §10), by the way of webhooks: stored once, suppressing by the gate's own
 * writer before it is answered, in whatever order, for ever the same. The address alone says whose send it is: what a
 * mail claims is believed of that send only.
 */
@Injectable()
export class ReturnedMails {
  constructor(
    private readonly paths: ReturnPaths,
    private readonly reports: ProviderReports,
    private readonly clock: Clock,
  ) {}

  /** Whether something can return to a local part. */
  knows(localPart: string): boolean {
    const named = localPart.toLowerCase();
    if (named === FEEDBACK_LOCAL_PART || named === POSTMASTER_LOCAL_PART) return true;
    return this.paths.read(localPart) !== undefined;
  }

  /** When this returns, what the mail says is on record. */
  async take(localPart: string, raw: Buffer): Promise<void> {
    const said = await readReturnedMail(raw);
    const send = this.sendOf(said, localPart);
    const report = send && reportOf(said, send, this.clock.now());
    returned.inc({ kind: report ? said.kind : 'other' });
    if (!send || !report) return;
    await this.reports.take([report], {
      organizationId: send.organizationId,
      channel: 'email',
      provider: PROVIDER,
      correlationId: randomUUID(),
    });
  }

  private sendOf(said: ReturnedMail, localPart: string): ReturnedSend | undefined {
    const named = said.kind === 'complaint' ? said.returnPaths : [];
    const [send] = [localPart, ...named.map((path) => path.slice(0, path.lastIndexOf('@')))].flatMap(
      (part) => this.paths.read(part) ?? [],
    );
    return send;
  }
}

/** A mail that is repeated says nothing new: of each kind a send has one report. */
function reportOf(said: ReturnedMail, send: ReturnedSend, now: Date): ProviderReport | undefined {
  const common = { messageId: send.id, namedSend: send.id, occurredAt: now, stopOf: null, bounceType: null };
  switch (said.kind) {
    case 'bounced':
      return { ...common, event: 'bounced', eventId: `bounced-${said.type}`, bounceType: said.type };
    case 'delayed':
      return { ...common, event: 'deferred', eventId: null };
    case 'delivered':
      return { ...common, event: 'delivered', eventId: null };
    case 'complaint':
      return { ...common, event: 'complained', eventId: null };
    case 'other':
      return undefined;
  }
}
