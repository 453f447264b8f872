import { Injectable } from '@nestjs/common';
import { Database } from '@customer-platform/database';
import type { RequestContext } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import type { ContactProfile } from '../contacts/contact.js';
import { ContactRefresh } from '../contacts/contact-refresh.js';
import { Tenants } from '../organizations/tenants.js';
import { RenderFailure } from '../rendering/render-failure.js';
import { UnsubscribeLinks } from '../unsubscribe/unsubscribe-links.js';
import { MessageRendering, type RenderedMessage } from './message-rendering.js';
import { smsSegments } from './sms-segments.js';
import { completeData } from './template-data.js';
import type { PreviewDto, PreviewResultDto } from './template.dto.js';
import { TemplatesService } from './templates.service.js';
import { TemplateVersions, type TemplateVersion } from './template-versions.js';

/** Mail programs cut what is longer, with everything after it. */
const CLIPPED_AT = 102 * 1024;

/** Shows a message as it would be sent to somebody, without sending it. */
@Injectable()
export class TemplatePreview {
  constructor(
    private readonly database: Database,
    private readonly templates: TemplatesService,
    private readonly versions: TemplateVersions,
    private readonly contacts: ContactRefresh,
    private readonly rendering: MessageRendering,
    private readonly links: UnsubscribeLinks,
    private readonly tenants: Tenants,
  ) {}

  /**
   * @throws Problem `validation_failed` (a required variable is missing), `permission_denied`, `reference_not_found`,
   * `render_failed`, `render_limit_exceeded`, `rate_limited`
   */
  async preview(context: RequestContext, id: string, dto: PreviewDto): Promise<PreviewResultDto> {
    this.tenants.learn(context.organization);
    const version = await this.version(context, id, dto.version);
    const contact = dto.contact_id === undefined ? undefined : await this.contact(context, dto.contact_id);
    const { errors } = completeData(version.variables, dto.data ?? {});
    if (errors.length > 0) throw Problem.validation(errors);
    const unsubscribeUrl = this.links.previewUrl();
    const message = await this.render(context.organizationId, version, dto, contact, unsubscribeUrl);
    return {
      parts: { ...message.parts },
      sms_segments: version.channel === 'sms' ? smsSegments(message.parts['text'] ?? '') : null,
      warnings: warningsOf(version, message, unsubscribeUrl),
    };
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
        event: null,
        unsubscribeUrl,
        purpose: 'preview',
      });
    } catch (error) {
      if (!(error instanceof RenderFailure)) throw error;
      const { code, detail, part } = error.reason;
      throw new Problem(code, { detail: part ? `${part}: ${detail}` : detail });
    }
  }

  private async version(
    context: RequestContext,
    id: string,
    wanted: number | undefined,
  ): Promise<TemplateVersion> {
    const template = await this.templates.get(context, id);
    const number = wanted ?? template.publishedVersion ?? template.version;
    const found = await this.database.inOrganization(context, (tx) => this.versions.find(tx, id, number));
    if (found) return found;
    const detail = `There is no version ${number}; the newest is ${template.version}.`;
    throw Problem.validation([{ pointer: '/version', code: 'out_of_range', detail }]);
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

function warningsOf(version: TemplateVersion, { parts }: RenderedMessage, unsubscribeUrl: string) {
  const warnings: PreviewResultDto['warnings'] = [];
  if (version.channel !== 'email') return warnings;
  const { html, text = '' } = parts;
  if (html !== undefined && Buffer.byteLength(html) > CLIPPED_AT) {
    warnings.push({ code: 'html_clipped', detail: 'Mail programs cut messages beyond 102 KiB.' });
  }
  if (![html ?? '', text].some((part) => part.includes(unsubscribeUrl))) {
    const detail = 'Marketing mail from this template gets an unsubscribe link at its end.';
    warnings.push({ code: 'unsubscribe_link_added', detail });
  }
  return warnings;
}
