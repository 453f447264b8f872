import { Injectable } from '@nestjs/common';
import { Problem } from '@customer-platform/problem-json';
import type { ProviderCall } from './provider-signature.strategy.js';
import { ProviderReports } from './provider-reports.service.js';

/** In one call; providers pack a few dozen. */
const MOST_REPORTS = 1_000;

/** Reports of providers (messaging.md §7), once their signature has been verified: read → take. */
@Injectable()
export class WebhooksService {
  constructor(private readonly reports: ProviderReports) {}

  /**
   * @returns how many reports the call brought
   * @throws Problem `malformed_json`, `validation_failed`
   */
  async take(
    { provider, webhook, reporter, call, tools }: ProviderCall,
    correlationId: string,
  ): Promise<number> {
    const { organizationId, channel, account } = reporter;
    await webhook.confirm?.(call, account, tools);
    const reports = webhook.read(call, account);
    if (reports.length > MOST_REPORTS) throw tooMany();
    await this.reports.take(reports, { organizationId, channel, provider, correlationId });
    return reports.length;
  }

  /**
   * The answer to a provider that asks whether this is the address it is to report to.
   * @throws Problem `not_found` for a provider that does not ask, `invalid_signature`
   */
  answerChallenge({ webhook, reporter, call }: ProviderCall): string {
    if (!webhook.challenge) throw new Problem('not_found');
    return webhook.challenge(new URL(call.url).searchParams, reporter.account);
  }
}

function tooMany(): Problem {
  return Problem.validation([
    { pointer: '', code: 'too_long', detail: `At most ${MOST_REPORTS} reports in a call.` },
  ]);
}
