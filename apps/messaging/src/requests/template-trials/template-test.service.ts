import { Injectable } from '@nestjs/common';
import type { Answer, RequestContext } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { SendAcceptance } from '../sends/send-acceptance.service.js';
import { completeData } from '../../vocabulary/templates/template-data.js';
import type { TestTemplateDto } from './template-trials.dto.js';
import { TemplatesService } from '../../content/templates/templates.service.js';
import { UserAddresses } from './user-addresses.js';

/** Sends a version of a template, a draft too, to the user who asks for it and to nobody else. */
@Injectable()
export class TemplateTest {
  constructor(
    private readonly templates: TemplatesService,
    private readonly addresses: UserAddresses,
    private readonly acceptance: SendAcceptance,
  ) {}

  /**
   * @throws Problem `user_required`, `not_found`, `resource_deleted`, `validation_failed`, `recipient_unreachable`,
   * `recipient_suppressed`, `channel_not_configured`, `sender_domain_unverified`, `rate_limited`,
   * `dependency_unavailable`
   */
  async send(context: RequestContext, id: string, dto: TestTemplateDto): Promise<Answer> {
    const { principal, actor } = context;
    if (principal.type !== 'user' || actor.impersonatorId !== undefined) {
      const detail =
        'A test goes to the user who asks for it: a key has no address, nor has who acts as another.';
      throw new Problem('user_required', { detail });
    }
    const { template, version } = await this.templates.version(context, id, dto.version);
    if (template.deletedAt) throw new Problem('resource_deleted');
    if (template.kind !== 'message')
      throw new Problem('invalid_state', { detail: `A ${template.kind} is not sent by itself.` });
    if (version.channel !== 'email') {
      const detail = `A user is known by an e-mail address alone; this template is of the channel ${version.channel}.`;
      throw new Problem('recipient_unreachable', { detail });
    }
    const { errors } = completeData(version.variables, dto.data ?? {});
    if (errors.length > 0) throw Problem.validation(errors);
    const address = await this.addresses.find(context.organizationId, principal.id);
    if (address === null) throw new Problem('recipient_unreachable');
    const { data, locale } = dto;
    return this.acceptance.acceptTest(context, version, {
      address,
      ...(data === undefined ? {} : { data }),
      ...(locale === undefined ? {} : { locale }),
    });
  }
}
