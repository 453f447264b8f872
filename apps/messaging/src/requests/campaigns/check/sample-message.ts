import { Injectable } from '@nestjs/common';
import type { RequestContext } from '@customer-platform/http';
import { withUnsubscribeLink } from '../../../vocabulary/mail/unsubscribe-footer.js';
import type { Forecast } from '../../../dispatch/gate/gate-forecast.js';
import { RenderFailure } from '../../../vocabulary/rendering/render-failure.js';
import { MessageRendering, type RenderedMessage } from '../../../content/templates/message-rendering.js';
import { smsSegments } from '../../../vocabulary/templates/sms-segments.js';
import { UnsubscribeLinks } from '../../../people/unsubscribe/unsubscribe-links.js';
import type { CampaignEntity } from '../campaign.entity.js';
import type { CheckedMessageDto, CheckedMessageProblemDto } from './campaign-check.dto.js';

const READS_CONTACTS = 'core.contacts.read';

/** A member who would get the message. */
export type Sampled = Extract<Forecast, { kind: 'reached' }>;

/** The message as it was rendered, or why there is none. */
type Sample =
  | { readonly message: CheckedMessageDto; readonly message_problem: null }
  | { readonly message: null; readonly message_problem: CheckedMessageProblemDto };

/** Renders the message of a campaign for one of its members, as it would leave. */
@Injectable()
export class SampleMessage {
  constructor(
    private readonly rendering: MessageRendering,
    private readonly links: UnsubscribeLinks,
  ) {}

  /** @throws Problem `rate_limited` */
  async of(
    context: RequestContext,
    campaign: CampaignEntity,
    { contact, template }: Sampled,
  ): Promise<Sample> {
    if (!context.can(READS_CONTACTS))
      return problem(
        'permission_denied',
        `The message is shown to who has the permission ${READS_CONTACTS}.`,
      );
    if (!contact || !template)
      return problem('template_invalid', 'The version of the template is there no more.');
    const { channel, data } = campaign;
    const unsubscribeUrl = this.links.previewUrl();
    try {
      const rendered = await this.rendering.render({
        organizationId: context.organizationId,
        template,
        channel,
        data,
        locale: null,
        contact: contact.profile,
        withholdsContact: false,
        event: null,
        unsubscribeUrl,
        purpose: 'preview',
      });
      const parts = { ...asItLeaves(campaign, rendered, unsubscribeUrl) };
      const sms_segments = channel === 'sms' ? smsSegments(parts['text'] ?? '') : null;
      return {
        message: { contact_id: contact.id, locale: rendered.locale, parts, sms_segments },
        message_problem: null,
      };
    } catch (error) {
      if (!(error instanceof RenderFailure)) throw error;
      const { code, detail, part } = error.reason;
      return problem(code, part ? `${part}: ${detail}` : detail);
    }
  }
}

function problem(code: string, detail: string): Sample {
  return { message: null, message_problem: { code, detail } };
}

function asItLeaves(
  { channel, category }: CampaignEntity,
  { parts, locale }: RenderedMessage,
  unsubscribeUrl: string,
): Readonly<Record<string, string>> {
  if (channel !== 'email' || category !== 'marketing') return parts;
  const { html, text = '' } = parts;
  const linked = withUnsubscribeLink({ html, text }, unsubscribeUrl, locale);
  return { ...parts, text: linked.text, ...(linked.html === undefined ? {} : { html: linked.html }) };
}
