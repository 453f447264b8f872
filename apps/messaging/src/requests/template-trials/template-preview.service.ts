import { Injectable } from '@nestjs/common';
import type { RequestContext } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import type { ContactProfile } from '../../vocabulary/contacts/contact.js';
import { ContactRefresh } from '../../people/contacts/contact-refresh.js';
import { Tenants } from '../../background/organizations/tenants.js';
import { RenderFailure } from '../../vocabulary/rendering/render-failure.js';
import type { MessageReview } from '../../vocabulary/rendering/render-job.js';
import { Renderer } from '../../content/rendering/renderer.js';
import { UnsubscribeLinks } from '../../people/unsubscribe/unsubscribe-links.js';
import { MessageRendering, type RenderedMessage } from '../../content/templates/message-rendering.js';
import { smsSegments } from '../../vocabulary/templates/sms-segments.js';
import { completeData } from '../../vocabulary/templates/template-data.js';
import type { PreviewDto, PreviewResultDto } from './template-trials.dto.js';
import { TemplatesService } from '../../content/templates/templates.service.js';
import { warningsOf } from './template-warnings.js';
import type { TemplateVersion } from '../../content/templates/template-versions.js';

/** Shows a message as it would be sent to somebody, without sending it. */
@Injectable()
export class TemplatePreview {
  constructor(
    private readonly templates: TemplatesService,
    private readonly contacts: ContactRefresh,
    private readonly rendering: MessageRendering,
    private readonly renderer: Renderer,
    private readonly links: UnsubscribeLinks,
    private readonly tenants: Tenants,
  ) {}

  /**
   * @throws Problem `validation_failed` (a required variable is missing), `permission_denied`, `reference_not_found`,
   * `render_failed`, `render_limit_exceeded`, `rate_limited`
   */
  async preview(context: RequestContext, id: string, dto: PreviewDto): Promise<PreviewResultDto> {
    this.tenants.learn(context.organization);
    const { version } = await this.templates.version(context, id, dto.version);
    const contact = dto.contact_id === undefined ? undefined : await this.contact(context, dto.contact_id);
    const { data, errors } = completeData(version.variables, dto.data ?? {});
    if (errors.length > 0) throw Problem.validation(errors);
    const unsubscribeUrl = this.links.previewUrl();
    const message = await this.render(context.organizationId, version, dto, contact, unsubscribeUrl);
    const segments = version.channel === 'sms' ? smsSegments(message.parts['text'] ?? '') : null;
    const review = await this.review(context.organizationId, message);
    const warnings = warningsOf({ version, data, contact, message, segments, unsubscribeUrl, review });
    return { parts: { ...message.parts }, sms_segments: segments, warnings };
  }

  /** Undefined where that takes more than it may: a preview is shown all the same. */
  private async review(
    organizationId: string,
    { sources, parts }: RenderedMessage,
  ): Promise<MessageReview | undefined> {
    try {
      return await this.renderer.review(organizationId, sources, parts['html'] ?? null);
    } catch (error) {
      if (!(error instanceof RenderFailure)) throw error;
      return undefined;
    }
  }

  private async render(
    organizationId: string,
    template: TemplateVersion,
    dto: PreviewDto,
    contact: ContactProfile | undefined,
    unsubscribeUrl: string,
  ): Promise<RenderedMessage> {
    try {
      const data = dto.data ?? {};
      return await this.rendering.render({
        organizationId,
        template,
        channel: template.channel,
        data,
        locale: dto.locale ?? null,
        contact,
        withholdsContact: false,
        event: null,
        unsubscribeUrl,
        purpose: 'preview',
      });
    } catch (error) {
      if (!(error instanceof RenderFailure)) throw error;
      const { code, detail, part } = error.reason;
      if (code === 'not_permitted') throw error;
      throw new Problem(code, { detail: part ? `${part}: ${detail}` : detail });
    }
  }

  private async contact(context: RequestContext, id: string): Promise<ContactProfile> {
    if (!context.can('core.contacts.read')) {
      throw new Problem('permission_denied', {
        detail: 'A preview for a contact needs `core.contacts.read` too.',
        members: { permission: 'core.contacts.read' },
      });
    }
    const contact = await this.contacts.find(context.organizationId, id);
    if (contact && contact.state !== 'erased') return contact.profile;
    const detail = 'There is no such contact.';
    throw Problem.validation([{ pointer: '/contact_id', code: 'reference_not_found', detail }]);
  }
}
