import { Injectable } from '@nestjs/common';
import { ReferenceHolds, type Transaction } from '@customer-platform/database';
import { Problem, type FieldCode } from '@customer-platform/problem-json';
import { templateFor } from '../sends/acceptance-decision.js';
import { AcceptanceReader } from '../sends/acceptance-facts.js';
import type { TemplateHead } from '../../content/templates/template-versions.js';
import type { KnownAudience } from './audiences.js';
import type { CampaignEntity } from './campaign.entity.js';
import { AUDIENCE_RESOURCES } from './campaign.js';

const DATA_BYTES = 64 * 1024;

/** What a campaign says and to whom. */
export type CampaignContent = Pick<
  CampaignEntity,
  'channel' | 'templateId' | 'topic' | 'data' | 'audienceType' | 'audienceId'
>;

/** Looks at what a campaign points to, in the transaction that writes it. */
@Injectable()
export class CampaignContentCheck {
  constructor(
    private readonly reader: AcceptanceReader,
    private readonly holds: ReferenceHolds,
  ) {}

  /**
   * The version of its template that is published; neither template nor audience can go before the transaction ends.
   * @throws Problem `validation_failed`, `reference_not_found`, `reference_deleted`, `channel_not_configured`,
   * `sender_domain_unverified`, `template_invalid`
   */
  async version(
    tx: Transaction,
    content: CampaignContent,
    audience: KnownAudience | undefined,
  ): Promise<TemplateHead> {
    const { audienceType, audienceId, channel, templateId, topic, data } = content;
    if (Buffer.byteLength(JSON.stringify(data)) > DATA_BYTES)
      throw refusal('/data', 'too_long', '`data` is larger than 64 KiB.');
    if (!audience) throw refusal('/audience/id', 'reference_not_found', `There is no such ${audienceType}.`);
    const held = await this.holds.held(tx, AUDIENCE_RESOURCES[audienceType], [audienceId]);
    if (audience.deleted || held.has(audienceId))
      throw refusal('/audience/id', 'reference_deleted', `The ${audienceType} is deleted.`);
    const message = { channel, templateId, topic, data, sender: null };
    const version = templateFor(message, await this.reader.content(tx, [message]));
    if (!version) throw new TypeError('A campaign has a template');
    return version;
  }
}

function refusal(pointer: string, code: FieldCode, detail: string): Problem {
  return Problem.validation([{ pointer, code, detail }]);
}
